// Before and after, row by row: what happens to every block under the cut, with texts on demand.
import { foldRows, type Item, itemOfRow, nextDiffering, rowOfItem } from "../core/folding";
import { exact } from "../core/format";
import { turnOfRow } from "../core/state";
import { makeBodies } from "./bodies";
import { h, makeId, setAttributes, setText } from "./dom";
import { drawColumns, drawCut, drawFold, drawRow } from "./faterow";
import { makeLabels } from "./labels";
import type { Actions, Picture, View } from "./picture";
import { makeScroller } from "./scroller";

const ROW = 24;
const PAUSE = 100;

export interface Fates extends View {
  openBody(row: number): void;
}

export const makeFates = (actions: Actions): Fates => {
  const differing = h("span");
  const next = h("button", { type: "button", class: "ci-link" }, "next");
  const base = makeId("item");
  /** Rows whose folds are open, and rows (or the cut) whose texts are. */
  const unfolded = new Set<number>();
  const expanded = new Set<number | "cut">();
  let shown: Picture | undefined;
  let items: Item[] = [];
  let active = 0;
  let drawnAt = 0;
  /** The policy and settings that the texts in hand were made under. */
  let answered = "";
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
      const line = drawLine(shown as Picture, item, index);
      line.id = `${base}-${index}`;
      line.classList.toggle("ci-active", index === active);
      if (item.kind === "fold" || !isOpen(item, expanded)) return { node: line, tall: false };
      const body = bodies.draw(shown as Picture, item);
      return { node: h("div", { role: "presentation" }, line, body), tall: true };
    },
    drawn(first, end) {
      const exists = first <= active && active < end;
      setAttributes(grid, { "aria-activedescendant": exists ? `${base}-${active}` : undefined });
    },
  });
  const grid = scroller.node;
  setAttributes(grid, {
    role: "treegrid",
    tabindex: 0,
    "aria-label": "Before and after",
    "aria-colcount": 5,
  });

  const drawLine = (picture: Picture, item: Item, index: number): HTMLElement => {
    if (item.kind === "fold") return drawFold(picture, item);
    if (item.kind === "cut") return drawCut(picture, isOpen(item, expanded));
    const above = items[index - 1];
    const turn = turnOfRow(picture.scene, item.row);
    const newTurn = above?.kind !== "row" || turnOfRow(picture.scene, above.row) !== turn;
    return drawRow(picture, item.row, labels.get(item.row), isOpen(item, expanded), newTurn);
  };

  const fold = () => {
    if (shown === undefined) return;
    const { scene, plan, place } = shown;
    const held = scroller.hold();
    const heldRow = rowOfItem(held && items[held.index]);
    const activeRow = rowOfItem(items[active]);
    const folding = foldRows(scene, plan, place, unfolded);
    items = folding.items;
    mark(activeRow < 0 ? Math.min(active, items.length - 1) : itemOfRow(items, activeRow));
    setText(differing, `${exact(folding.differing)} of ${exact(scene.blocks)} differ`);
    next.disabled = folding.differing === 0;
    setAttributes(grid, { "aria-rowcount": items.length });
    drawnAt = performance.now();
    const anchor = held && heldRow >= 0 ? { ...held, index: itemOfRow(items, heldRow) } : undefined;
    scroller.show(items.length, anchor);
  };

  const mark = (index: number) => {
    active = Math.max(0, index);
  };

  const toggle = (item: Item) => {
    if (item.kind === "fold") {
      if (!item.open) unfolded.add(item.from);
      else for (let row = item.from; row < item.to; row++) unfolded.delete(row);
    } else {
      const key = item.kind === "cut" ? "cut" : item.row;
      if (!expanded.delete(key)) expanded.add(key);
    }
    fold();
  };

  const activate = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    mark(index);
    refresh();
    scroller.reveal(index);
    if (item.kind === "row" && shown?.row !== item.row) actions.select(item.row);
  };

  /** Brings a row into sight, out of the fold that hides it. */
  const reveal = (row: number) => {
    if (items[itemOfRow(items, row)]?.kind === "fold") {
      unfolded.add(row);
      fold();
    }
    mark(itemOfRow(items, row));
    refresh();
    scroller.reveal(active);
  };

  const goNext = () => {
    if (shown === undefined) return;
    const { scene, plan, place } = shown;
    activate(nextDiffering(scene, plan, place, items, active));
  };

  grid.addEventListener("click", event => {
    const line = (event.target as Element).closest<HTMLElement>(".ci-row");
    if (line === null || line.id === "") return;
    const index = Number(line.id.slice(base.length + 1));
    const item = items[index] as Item;
    const again = item.kind !== "row" || shown?.row === item.row;
    activate(index);
    if (again) toggle(item);
  });
  grid.addEventListener("keydown", event => {
    const item = items[active];
    if (event.target !== grid || item === undefined) return;
    const act = KEYS[event.key];
    if (act === undefined) return;
    event.preventDefault();
    if (act === "next") goNext();
    else if (act === "toggle" || act === (isOpen(item, expanded) ? "close" : "open")) toggle(item);
    else if (typeof act === "number") activate(Math.max(0, Math.min(items.length - 1, active + act)));
  });
  next.addEventListener("click", goNext);

  const node = h(
    "section",
    { class: "ci-panel ci-fates", "data-testid": "fates", "aria-label": "Before and after" },
    h("h3", {}, "Before → after", h("span", { class: "ci-count" }, differing, next)),
    grid,
  );

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      if (parts.has("scene")) {
        for (const set of [unfolded, expanded]) set.clear();
        labels.clear(picture.scene.blocks);
        items = [];
      }
      const asked = picture.plan.policy + JSON.stringify(picture.settings);
      if (parts.has("scene") || parts.has("fates") || asked !== answered) bodies.clear();
      answered = asked;
      if (parts.has("scene") || parts.has("fates") || parts.has("size")) fold();
      else if (parts.has("place")) {
        // The list follows a moving hand ten times a second; the frame belongs to the handle.
        clearTimeout(timer);
        timer = setTimeout(fold, Math.max(0, drawnAt + PAUSE - performance.now()));
      } else if (parts.has("row")) refresh();
      if (parts.has("row") && picture.row >= 0 && document.activeElement !== grid) reveal(picture.row);
    },
    openBody(row) {
      expanded.add(row);
      fold();
      reveal(row);
      scroller.reveal(active, true);
    },
    dispose() {
      clearTimeout(timer);
      scroller.dispose();
    },
  };
};

const KEYS: Record<string, number | "toggle" | "open" | "close" | "next"> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
  Enter: "toggle",
  " ": "toggle",
  ArrowRight: "open",
  ArrowLeft: "close",
  n: "next",
};

const isOpen = (item: Item, expanded: ReadonlySet<number | "cut">): boolean =>
  item.kind === "fold" ? item.open : expanded.has(item.kind === "cut" ? "cut" : item.row);

const keyOf = (item: Item, expanded: ReadonlySet<number | "cut">): string => {
  if (item.kind === "fold") return `f${item.from}`;
  const key = item.kind === "cut" ? "cut" : item.row;
  return expanded.has(key) ? `${key} open` : `${key}`;
};
