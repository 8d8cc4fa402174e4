// Before and after, row by row: what happens to every block under the cut, with texts on demand.
import { foldRows, type Item, itemOfRow, nextDiffering } from "../core/folding";
import { exact } from "../core/format";
import { fateAt, turnOfRow } from "../core/state";
import { makeBodies } from "./bodies";
import { h, setAttributes, setText } from "./dom";
import { drawColumns, drawCut, drawFold, drawRow } from "./faterow";
import { makeLabels } from "./labels";
import type { Actions, Picture, View } from "./picture";
import { makeScroller } from "./scroller";

const ROW = 24;
const PAUSE = 100;
let count = 0;

export interface Fates extends View {
  openBody(row: number): void;
}

export const makeFates = (actions: Actions): Fates => {
  const differing = h("span", { class: "ci-count" });
  const next = h("button", { type: "button", class: "ci-link" }, "next");
  const opened = new Set<number>();
  const expanded = new Set<number | "cut">();
  const base = `ci-item-${count++}`;
  let shown: Picture | undefined;
  let items: Item[] = [];
  let active = 0;
  let drawnAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const refresh = () => scroller.show(items.length);
  const labels = makeLabels(actions.requests, refresh);
  const bodies = makeBodies(actions.requests, refresh);

  const scroller = makeScroller({
    height: ROW,
    head: drawColumns(),
    keyOf: index => keyOf(items[index] as Item, expanded),
    draw(index) {
      const item = items[index] as Item;
      const line = drawItem(shown as Picture, item, index);
      line.id = `${base}-${index}`;
      line.classList.toggle("ci-active", index === active);
      const body = isOpen(item) && item.kind !== "fold" ? bodies.draw(shown as Picture, item) : null;
      if (body === null) return { node: line, tall: false };
      const node = h("div", { role: "presentation" }, line, body);
      return { node, tall: true };
    },
  });

  const isOpen = (item: Item): boolean =>
    item.kind === "fold" ? item.open : expanded.has(item.kind === "cut" ? "cut" : item.row);

  const drawItem = (picture: Picture, item: Item, index: number): HTMLElement => {
    if (item.kind === "fold") return drawFold(picture, item);
    if (item.kind === "cut") return drawCut(picture, isOpen(item));
    const above = items[index - 1];
    const { scene } = picture;
    const newTurn = above?.kind !== "row" || turnOfRow(scene, above.row) !== turnOfRow(scene, item.row);
    return drawRow(picture, item.row, labels.get(item.row), isOpen(item), newTurn);
  };

  const fold = () => {
    if (shown === undefined) return;
    const { scene, plan, place } = shown;
    const folding = foldRows(scene, plan, place, opened);
    items = folding.items;
    active = Math.min(active, items.length - 1);
    setText(differing, `${exact(folding.differing)} of ${exact(scene.blocks)} differ`);
    next.disabled = folding.differing === 0;
    setAttributes(grid, { "aria-rowcount": items.length, "aria-activedescendant": `${base}-${active}` });
    drawnAt = performance.now();
    refresh();
  };

  const toggle = (item: Item) => {
    const key = item.kind === "cut" ? "cut" : item.kind === "row" ? item.row : undefined;
    if (key !== undefined) expanded.delete(key) || expanded.add(key);
    else if (item.kind === "fold" && !item.open) opened.add(item.from);
    else if (item.kind === "fold")
      for (const row of [...opened]) item.from <= row && row < item.to && opened.delete(row);
    fold();
  };

  const activate = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    active = index;
    setAttributes(grid, { "aria-activedescendant": `${base}-${active}` });
    refresh();
    scroller.reveal(index);
    if (item.kind === "row" && shown?.row !== item.row) actions.select(item.row);
  };

  /** Opens the fold that hides a row and brings the row into sight. */
  const reveal = (row: number) => {
    const index = itemOfRow(items, row);
    const item = items[index];
    if (item?.kind === "fold") {
      opened.add(item.from);
      fold();
      return reveal(row);
    }
    if (index >= 0) {
      active = index;
      setAttributes(grid, { "aria-activedescendant": `${base}-${active}` });
      refresh();
      scroller.reveal(index);
    }
  };

  const goNext = () => {
    if (shown === undefined) return;
    const { scene, plan, place } = shown;
    const differs = (row: number) => {
      const { fate, tokens } = fateAt(scene, plan, row, place);
      return scene.fates[fate]?.id !== "verbatim" || tokens !== scene.blockTokens[row];
    };
    const index = nextDiffering(items, active, differs);
    if (index >= 0) activate(index);
  };

  const grid = scroller.node;
  setAttributes(grid, {
    role: "treegrid",
    tabindex: 0,
    "aria-label": "Before and after",
    "aria-colcount": 5,
  });
  grid.addEventListener("click", event => {
    const line = (event.target as Element).closest<HTMLElement>(".ci-row");
    if (line === null || line.id === "") return;
    const index = Number(line.id.slice(base.length + 1));
    const item = items[index] as Item;
    const wasActive = index === active && (item.kind !== "row" || shown?.row === item.row);
    activate(index);
    if (item.kind !== "row" || wasActive) toggle(item);
  });
  grid.addEventListener("keydown", event => {
    if (event.target !== grid) return;
    const item = items[active];
    if (item === undefined) return;
    if (event.key === "ArrowDown") activate(active + 1);
    else if (event.key === "ArrowUp") activate(active - 1);
    else if (event.key === "Home") activate(0);
    else if (event.key === "End") activate(items.length - 1);
    else if (event.key === "Enter" || event.key === " ") toggle(item);
    else if (event.key === "ArrowRight" && !isOpen(item)) toggle(item);
    else if (event.key === "ArrowLeft" && isOpen(item)) toggle(item);
    else if (event.key === "n") goNext();
    else return;
    event.preventDefault();
  });
  next.addEventListener("click", goNext);

  const node = h(
    "section",
    { class: "ci-panel ci-fates", "data-testid": "fates", "aria-label": "Before and after" },
    h("h3", {}, "Before → after", h("span", {}, differing, next)),
    grid,
  );

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      if (parts.has("scene")) {
        for (const set of [opened, expanded]) set.clear();
        labels.clear(picture.scene.blocks);
        active = 0;
      }
      if (parts.has("scene") || parts.has("plan")) bodies.clear();
      clearTimeout(timer);
      if (parts.has("scene") || parts.has("plan") || parts.has("size")) fold();
      else if (parts.has("place")) {
        // The list follows a moving hand ten times a second; the frame belongs to the handle.
        timer = setTimeout(fold, Math.max(0, drawnAt + PAUSE - performance.now()));
      } else if (parts.has("row")) refresh();
      if (parts.has("row") && picture.row >= 0 && !grid.contains(document.activeElement)) reveal(picture.row);
    },
    openBody(row) {
      expanded.add(row);
      fold();
      reveal(row);
    },
    dispose() {
      clearTimeout(timer);
      scroller.dispose();
    },
  };
};

const keyOf = (item: Item, expanded: ReadonlySet<number | "cut">): string => {
  if (item.kind === "fold") return `f${item.from}`;
  const key = item.kind === "cut" ? "cut" : item.row;
  return expanded.has(key) ? `${key} open` : `${key}`;
};
