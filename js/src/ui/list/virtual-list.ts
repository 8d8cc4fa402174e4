// A list of any length of which only the rows in sight exist. Rows may differ in height and are measured once drawn.

import { h, listen, putChildren } from "../dom";
import { type Heights, stackHeights, totalHeight, visibleItems } from "./heights";

const MARGIN = 4;

export interface Scroller {
  readonly node: HTMLElement;
  /** Shows `count` items; with an anchor, the item at its index keeps its position. */
  show(count: number, anchor?: Anchor): void;
  /** The item at the upper edge; undefined at the very top, which needs no anchor. */
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
  /** The name of the items; "rows" by default. */
  role?: string;
  /** Names an item across changes, so that its measured height is kept. */
  keyOf(index: number): string;
  /** Draws an item; an item that may be taller than the rest is marked so that it is measured. */
  draw(index: number): Drawn;
  /** All that an item shows, in a few signs: while they stay the same, what was drawn of it stays too. Undefined: it does not. */
  describe?(index: number): string | undefined;
  /** Gives an item, old or new, what depends on its place in the list. */
  place?(node: HTMLElement, index: number): void;
  /** The item that stays in sight in a list that becomes lower, -1 for none. */
  active?(): number;
  /** Hears which items exist now: `first` up to but not including `end`. */
  drawn(first: number, end: number): void;
}

interface Drawn {
  node: HTMLElement;
  tall: boolean;
}

export const makeScroller = (source: Source): Scroller => {
  const rows = h("div", { class: "ci-window", role: source.role ?? "rowgroup" });
  const space = h("div", { class: "ci-space", role: "presentation" }, rows);
  const node = h("div", { class: "ci-scroll" }, ...(source.head === undefined ? [] : [source.head]), space);
  const measured = new Map<string, number>();
  let drawn = new Map<string, Drawn & { label: string | undefined }>();
  let heights: Heights = stackHeights(0, () => 0);
  let count = 0;
  let frame = 0;
  // What is seen of the list, read when it changes: to ask for it while something waits to be laid out costs a layout.
  let top = 0;
  let height = 0;
  /** The list is not visible, as in a closed tab: it is drawn when it is visible again. */
  let hidden = false;
  /** The items that exist. */
  let shown: readonly [number, number] = [0, 0];

  const look = () => {
    top = node.scrollTop;
    height = node.clientHeight;
  };

  const find = (margin: number) => visibleItems(heights, top, top + (height || 600), margin);

  const scrollTo = (offset: number) => {
    if (Math.abs(offset - top) < 0.5) return;
    node.scrollTop = offset;
    top = node.scrollTop;
  };

  const stack = () => {
    heights = stackHeights(count, index => measured.get(source.keyOf(index)) ?? source.height);
    space.style.height = `${totalHeight(heights)}px`;
  };

  const hold = (): Anchor | undefined => {
    if (top === 0) return undefined;
    const [index] = visibleItems(heights, top, top + 1, 0);
    return { index, hidden: top - (heights.tops[index] ?? 0) };
  };

  const render = () => {
    const [first, end] = find(MARGIN);
    shown = [first, end];
    const now: typeof drawn = new Map();
    for (let index = first; index < end; index++) {
      const [key, label] = [source.keyOf(index), source.describe?.(index)];
      const old = drawn.get(key);
      const item = label !== undefined && old?.label === label ? old : { ...source.draw(index), label };
      source.place?.(item.node, index);
      now.set(key, item);
    }
    drawn = now;
    putChildren(
      rows,
      [...now.values()].map(({ node }) => node),
    );
    rows.style.transform = `translateY(${heights.tops[first] ?? 0}px)`;
    let moved = false;
    for (const [key, { node: item, tall }] of now) {
      if (!tall) continue;
      const measure = item.offsetHeight || source.height;
      moved ||= measured.get(key) !== measure;
      measured.set(key, measure);
    }
    if (moved) {
      // Items taller than estimated do not move the visible text.
      const anchor = hold();
      stack();
      if (anchor !== undefined) scrollTo((heights.tops[anchor.index] ?? 0) + anchor.hidden);
    }
    source.drawn(first, end);
  };

  const onScroll = () => {
    look();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const [first, end] = find(0);
      if (first < shown[0] || end > shown[1]) render();
    });
  };
  listen(node, "scroll", onScroll, { passive: true });
  const reveal = (index: number, high = false) => {
    look();
    const upper = heights.tops[index] ?? 0;
    const lower = heights.tops[index + 1] ?? upper;
    const view = node.clientHeight - (source.head?.offsetHeight ?? 0);
    if (!high && upper >= top && lower <= top + view) return;
    scrollTo(Math.max(0, upper - (high ? source.height : view / 3)));
    render();
  };
  const resized = new ResizeObserver(() => {
    const before = height;
    look();
    hidden = height === 0;
    if (hidden) return;
    if (count > 0) render();
    const active = source.active?.() ?? -1;
    if (height < before && active >= 0) reveal(active);
  });
  resized.observe(node);

  return {
    node,
    show(next, anchor) {
      if (height === 0 && !hidden) look();
      count = next;
      stack();
      top = Math.min(top, Math.max(0, totalHeight(heights) - height) + source.height);
      if (hidden) return;
      if (anchor !== undefined) scrollTo((heights.tops[anchor.index] ?? 0) + anchor.hidden);
      render();
    },
    hold,
    reveal,
    dispose() {
      cancelAnimationFrame(frame);
      resized.disconnect();
    },
  };
};
