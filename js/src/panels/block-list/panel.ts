// Before and after, or plan A and plan B, row by row: what happens to every block, with texts on demand.

import { refOf, rowOf } from "../../model/block-refs";
import {
  type CutLine,
  type Folding,
  findItem,
  foldRows,
  type Item,
  itemOfRow,
  nextDiffering,
  type Row,
} from "../../model/folds";
import { exact } from "../../model/format";
import { type Scene, turnOfRow } from "../../model/plan";
import { rowsIn, sayTurns } from "../../model/range";
import { makeBlockTitles } from "../../store/block-titles";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, makeId, setAttributes, setShown, setText } from "../../ui/dom";
import { makeScroller } from "../../ui/list/virtual-list";
import { makeFateHead } from "./heading";
import { drawCut, drawFold, drawRow, tellItem } from "./row";
import { makeBodies } from "./texts";

const ROW = 24;
const PAUSE = 100;

export interface BlockList extends View {
  openBody(row: number): void;
}

export const makeBlockList = (actions: Actions): BlockList => {
  const head = makeFateHead(
    way => step(way),
    () => showList(),
  );
  const base = makeId("item");
  /** Rows whose folds are open, and rows (or cuts) whose texts are. */
  const unfolded = new Set<number>();
  const expanded = new Set<Key>();
  let shown: ViewState | undefined;
  let scene: Scene | undefined;
  let folding: Folding | undefined;
  let items: Item[] = [];
  let active = 0;
  let drawnAt = 0;
  /** The policy and settings that the texts in hand were made under. */
  let answered = "";
  /** The block last chosen, by name. */
  let chosen = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Another one when what the rows are drawn from is another. */
  let epoch = 0;

  const refresh = () => scroller.show(items.length);
  const labels = makeBlockTitles(actions.requests, refresh);
  const bodies = makeBodies(actions.requests, refresh);
  const scroller = makeScroller({
    height: ROW,
    head: head.columns,
    active: () => (shown === undefined || shown.row < 0 ? -1 : active),
    keyOf: index => keyOf(items[index] as Item, expanded),
    draw(index) {
      const item = items[index] as Item;
      const line = drawLine(shown as ViewState, item, index);
      if (item.kind === "fold" || !isOpen(item, expanded)) return { node: line, tall: false };
      const body = bodies.draw(shown as ViewState, item);
      return { node: h("div", { role: "presentation" }, line, body), tall: true };
    },
    describe(index) {
      const item = items[index] as Item;
      return `${epoch} ${tellItem(shown as ViewState, (folding as Folding).compared, item)} ${tellMore(item, index)}`;
    },
    place(node, index) {
      const line = node.classList.contains("ci-row") ? node : (node.firstElementChild as HTMLElement);
      setAttributes(line, { id: `${base}-${index}` });
      line.classList.toggle("ci-active", index === active);
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
  });

  const drawLine = (viewState: ViewState, item: Item, index: number): HTMLElement => {
    const sight = { viewState, compared: (folding as Folding).compared };
    if (item.kind === "fold") return drawFold(sight, item);
    if (item.kind === "cut") return drawCut(sight, item, isOpen(item, expanded));
    return drawRow(sight, item.row, labels.get(item.row), isOpen(item, expanded), isNewTurn(item, index));
  };

  const isNewTurn = (item: Row, index: number): boolean => {
    const { scene } = shown as ViewState;
    const above = items[index - 1];
    return above?.kind !== "row" || turnOfRow(scene, above.row) !== turnOfRow(scene, item.row);
  };

  /** The content of a line next to its figures. */
  const tellMore = (item: Item, index: number): string => {
    const open = isOpen(item, expanded);
    const texts = open && item.kind !== "fold" ? bodies.arrived() : "";
    if (item.kind !== "row") return `${open} ${texts} ${texts !== "" && shown?.dragging}`;
    return `${open} ${texts} ${isNewTurn(item, index)} ${labels.get(item.row) !== undefined}`;
  };

  const fold = () => {
    if (shown === undefined) return;
    const { scene, plan, place, other, selection } = shown;
    const scrollAnchor = scroller.hold();
    const [heldItem, activeItem] = [scrollAnchor && items[scrollAnchor.index], items[active]];
    folding = foldRows(scene, plan, place, unfolded, other, rowsIn(scene, selection));
    items = folding.items;
    mark(activeItem === undefined ? Math.min(active, items.length - 1) : findItem(items, activeItem));
    head.count(scene, folding, selection === null ? "" : sayTurns(scene, selection));
    setAttributes(grid, { "aria-rowcount": items.length });
    drawnAt = performance.now();
    // A cut that moves takes nothing along.
    const index = heldItem?.kind === "cut" ? -1 : findItem(items, heldItem);
    const anchor = scrollAnchor && index >= 0 ? { ...scrollAnchor, index } : undefined;
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
      const key = nameOf(item);
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

  const step = (way: 1 | -1) => {
    if (folding !== undefined) activate(nextDiffering(folding.compared, items, active, way));
  };

  /** Shows the story of the chosen fact instead of the list if there is no room for both; true if it does. */
  const showStory = (item: Item): boolean => {
    if (item.kind !== "row") return false;
    node.dataset.story = "";
    if (grid.offsetParent !== null) return false;
    head.back.focus();
    return true;
  };

  const showList = () => {
    delete node.dataset.story;
    scroller.reveal(active);
    grid.focus();
  };

  listen(grid, "click", event => {
    const line = (event.target as Element).closest<HTMLElement>(".ci-row");
    if (line === null || line.id === "") return;
    const index = Number(line.id.slice(base.length + 1));
    const item = items[index] as Item;
    const again = item.kind !== "row" || shown?.row === item.row;
    activate(index);
    if (!showStory(item) && again) toggle(item);
  });
  listen(grid, "keydown", event => {
    const item = items[active];
    if (event.target !== grid || item === undefined) return;
    const act = KEYS[event.key];
    if (act === undefined) return;
    event.preventDefault();
    if (act === "next") step(1);
    else if (act === "previous") step(-1);
    else if (event.key === "Enter" && showStory(item)) return;
    else if (act === "toggle" || act === (isOpen(item, expanded) ? "close" : "open")) toggle(item);
    else if (typeof act === "number") activate(Math.max(0, Math.min(items.length - 1, active + act)));
  });
  const foot = h("p", { class: "ci-quiet ci-blocks-foot", "data-testid": "blocks-foot" });
  const node = h(
    "section",
    { class: "ci-panel ci-fates", "data-testid": "fates", "aria-label": "Blocks" },
    head.heading,
    grid,
    foot,
  );

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      if (parts.has("scene")) {
        for (const set of [unfolded, expanded]) moveRows(set as Set<Key>, scene, viewState.scene);
        scene = viewState.scene;
        labels.clear(viewState.scene.blocks);
        actions.countTab("blocks", exact(viewState.scene.blocks));
        const { words, told: title } = viewState.scene.foot;
        setText(foot, words);
        // A paragraph has no name of its own; with a role it is read with its exact figures.
        setAttributes(foot, { title: title, role: "note", "aria-label": title });
        items = [];
      }
      const { policy, summary } = viewState.plan;
      const request = policy + JSON.stringify([viewState.settings, summary]);
      const renewed = request !== answered;
      const news = hasAny(parts, "scene", "fates", "other");
      if (news || renewed) bodies.clear();
      if (hasAny(parts, "scene", "other")) epoch++;
      answered = request;
      if (hasAny(parts, "scene", "other")) node.classList.toggle("ci-two", head.name(viewState, grid));
      if (news || renewed || parts.has("size")) fold();
      else if (hasAny(parts, "place", "selection")) {
        // The list follows a moving hand ten times a second, within a frame: after it, it would be laid out twice.
        clearTimeout(timer);
        const wait = drawnAt + PAUSE - performance.now();
        if (wait <= 0) fold();
        else timer = setTimeout(fold, wait);
      } else if (parts.has("row")) refresh();
      if (parts.has("selection")) {
        delete node.dataset.story;
        // This is the sum of all blocks; the head has the sum of the selected blocks.
        setShown(foot, viewState.selection === null);
      }
      const ref = viewState.row < 0 ? "" : refOf(viewState.scene, viewState.row);
      // A session that grows moves no list under the eyes of who reads it.
      const asksFor = parts.has("row") && ref !== "" && (ref !== chosen || !parts.has("scene"));
      if (asksFor && document.activeElement !== grid) {
        reveal(viewState.row);
        if (ref !== chosen) node.dataset.story = "";
      }
      if (ref === "") delete node.dataset.story;
      chosen = ref;
    },
    openBody(row) {
      delete node.dataset.story;
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

const KEYS: Record<string, number | "toggle" | "open" | "close" | "next" | "previous"> = {
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
  N: "previous",
};

type Key = number | "cut" | "cut b";

/** By what a text that is open is remembered. */
const nameOf = (item: Row | CutLine): Key => (item.kind === "row" ? item.row : item.other ? "cut b" : "cut");

/** Open rows stay open after the session grew or was counted again: blocks are matched by name. */
const moveRows = (keys: Set<Key>, before: Scene | undefined, now: Scene) => {
  const old = [...keys];
  keys.clear();
  for (const key of old) {
    const row = typeof key === "number" && before !== undefined ? rowOf(now, refOf(before, key)) : -1;
    if (typeof key === "string") keys.add(key);
    else if (row >= 0) keys.add(row);
  }
};

const isOpen = (item: Item, expanded: ReadonlySet<Key>): boolean =>
  item.kind === "fold" ? item.open : expanded.has(nameOf(item));

const keyOf = (item: Item, expanded: ReadonlySet<Key>): string => {
  if (item.kind === "fold") return `f${item.from}`;
  const key = nameOf(item);
  return expanded.has(key) ? `${key} open` : `${key}`;
};
