// A list of any length of which only the rows in sight exist. Rows may differ in height and are measured once drawn.
import { type Heights, stackHeights, totalHeight, visibleItems } from "../core/heights";
import { h } from "./dom";

const MARGIN = 4;

export interface Scroller {
  readonly node: HTMLElement;
  /** Shows `count` items; with an anchor, the item at its index stands where it says. */
  show(count: number, anchor?: Anchor): void;
  /** The item at the upper edge; undefined at the very top, where nothing needs holding. */
  hold(): Anchor | undefined;
  /** Scrolls an item into sight; `high` puts it near the top, with room for what opens below it. */
  reveal(index: number, high?: boolean): void;
  dispose(): void;
}

/** An item and how many pixels of it are above the upper edge. */
export interface Anchor {
  index: number;
  hidden: number;
}

export interface Source {
  height: number;
  /** Stays above the items. */
  head?: HTMLElement;
  /** What the items are together; rows unless told otherwise. */
  role?: string;
  /** Names an item across changes, so that its measured height is kept. */
  keyOf(index: number): string;
  /** Draws an item; an item that may be taller than the rest is marked so that it is measured. */
  draw(index: number): { node: HTMLElement; tall: boolean };
  /** Hears which items exist now: `first` up to but not including `end`. */
  drawn(first: number, end: number): void;
}

export const makeScroller = (source: Source): Scroller => {
  const rows = h("div", { class: "ci-window", role: source.role ?? "rowgroup" });
  const space = h("div", { class: "ci-space", role: "presentation" }, rows);
  const node = h("div", { class: "ci-scroll" }, ...(source.head === undefined ? [] : [source.head]), space);
  const measured = new Map<string, number>();
  let heights: Heights = stackHeights(0, () => 0);
  let count = 0;
  let frame = 0;

  const stack = () => {
    heights = stackHeights(count, index => measured.get(source.keyOf(index)) ?? source.height);
    space.style.height = `${totalHeight(heights)}px`;
  };

  const render = () => {
    const [first, end] = visibleItems(
      heights,
      node.scrollTop,
      node.scrollTop + (node.clientHeight || 600),
      MARGIN,
    );
    const drawn = Array.from({ length: end - first }, (_, i) => source.draw(first + i));
    rows.replaceChildren(...drawn.map(item => item.node));
    rows.style.transform = `translateY(${heights.tops[first] ?? 0}px)`;
    let moved = false;
    drawn.forEach((item, i) => {
      if (!item.tall) return;
      const key = source.keyOf(first + i);
      const height = item.node.offsetHeight || source.height;
      moved ||= measured.get(key) !== height;
      measured.set(key, height);
    });
    if (moved) stack();
    source.drawn(first, end);
  };

  const onScroll = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(render);
  };
  node.addEventListener("scroll", onScroll, { passive: true });

  return {
    node,
    show(next, anchor) {
      count = next;
      stack();
      if (anchor !== undefined) node.scrollTop = (heights.tops[anchor.index] ?? 0) + anchor.hidden;
      render();
    },
    hold() {
      if (node.scrollTop === 0) return undefined;
      const [index] = visibleItems(heights, node.scrollTop, node.scrollTop + 1, 0);
      return { index, hidden: node.scrollTop - (heights.tops[index] ?? 0) };
    },
    reveal(index, high = false) {
      const top = heights.tops[index] ?? 0;
      const bottom = heights.tops[index + 1] ?? top;
      const view = node.clientHeight - (source.head?.offsetHeight ?? 0);
      if (!high && top >= node.scrollTop && bottom <= node.scrollTop + view) return;
      node.scrollTop = Math.max(0, top - (high ? source.height : view / 3));
      render();
    },
    dispose: () => cancelAnimationFrame(frame),
  };
};
