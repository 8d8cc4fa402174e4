// One table: every key that acts wherever the focus is, what it says of itself in the help, and what it does.
// The keys of a focused control are in its panel (`cut-pill.ts`); `help-dialog.ts` lists them.

import { refOf } from "../model/block-refs";
import { heldOf } from "../model/compare";
import { nextLegal, previousLegal } from "../model/cuts";
import { rowOfDifference, rowOfTurn } from "../model/next-block";
import { pan, reveal, zoomAround } from "../model/range";
import { TABS, type TabId } from "../model/tabs";
import { middle } from "../panels/timeline/zoom";
import type { Host } from "../payloads/host";
import type { Actions, ViewState } from "../store/view";

/** The objects that a key may act on. */
export interface Reach {
  viewState: ViewState;
  actions: Actions;
  /** Steps through the hits of a search; false when there are none. */
  stepHits(way: 1 | -1): boolean;
  focusSearch(): void;
  /** The search of the facts, in their panel; it is opened. */
  focusFacts(): void;
  /** Who writes the summary, in its panel; it is opened. */
  focusSummary(): void;
  /** Actions of the lesson tab, which is opened first. */
  focusLesson(): void;
  /** Larger type, or as it was. */
  present(): void;
  focusCut(): void;
  focusStart(): void;
  /** The rules that could be added. */
  addRule(): void;
  openHelp(): void;
  goToRegion(way: 1 | -1): void;
}

export interface Key {
  /** `event.key` with "mod+" for ctrl or cmd, and "shift+" if the key alone would be ambiguous. */
  keys: readonly string[];
  shown: string;
  help: string;
  group: string;
  /** Only while the cut has the focus. */
  onCut?: boolean;
  /** Nothing without Python. */
  asks?: "python" | undefined;
  /** Otherwise the key means nothing here. */
  when?(viewState: ViewState): boolean;
  act(reach: Reach): void;
}

type Way = 1 | -1;

const turn =
  (way: Way) =>
  ({ viewState, actions }: Reach) => {
    const row = rowOfTurn(viewState.scene, viewState.row, way);
    if (row >= 0) actions.reveal(row);
  };

const moment =
  (way: Way) =>
  ({ viewState: { scene }, actions }: Reach) => {
    const { segments } = scene;
    const next = segments[segments.findIndex(({ current }) => current) + way];
    if (next !== undefined) actions.moveTo(next.at);
  };

const hit =
  (way: Way) =>
  ({ viewState, actions, stepHits }: Reach) => {
    if (stepHits(way)) return;
    const { scene, plan, place, other, row } = viewState;
    const next = rowOfDifference(scene, plan, place, other, row, way);
    if (next >= 0) actions.reveal(next);
  };

const pin = ({ viewState: { scene, row, pins }, actions }: Reach) => {
  if (pins === undefined || row < 0) return;
  const ref = refOf(scene, row);
  actions.setPins(pins.includes(ref) ? pins.filter(other => other !== ref) : [...pins, ref]);
};

const hold = ({ viewState, actions }: Reach) => {
  const { versus, plan } = viewState;
  const free = plan.cut.by !== "you";
  actions.compareWith(
    "policy" in versus || "recorded" in versus ? {} : free ? heldOf(viewState, "") : heldOf(viewState),
  );
};

const play =
  (way: Way) =>
  ({ viewState: { lesson }, actions }: Reach) => {
    actions.openTab("lesson");
    if (lesson.play !== null) actions.playTo(lesson.play.step + way);
    else actions.playTo(way > 0 ? 0 : Number.POSITIVE_INFINITY);
  };

const guess = ({ viewState: { lesson }, actions }: Reach) => {
  actions.openTab("lesson");
  actions.guess(lesson.guess?.shown === false ? "show" : "hide");
};

/** The adjacent place, valid or not; an invalid one shows what it would break. */
const nudge =
  (way: Way) =>
  ({ viewState, actions }: Reach) => {
    const { scene, cuts, lesson, place } = viewState;
    const from = lesson.broken?.place ?? place;
    const next = Math.max(0, Math.min(cuts.end, from + way));
    actions.openTab("lesson");
    if (scene.placeLegal[next] !== 1) return actions.breakAt(next);
    actions.breakAt(-1);
    actions.slideCut(next, false);
  };

/** As the buttons do, wherever the focus is. */
const zoom =
  (factor: number) =>
  ({ viewState, actions }: Reach) =>
    actions.brush(...zoomAround(viewState.range, viewState.scene.steps, middle(viewState), factor));

const shift =
  (way: Way) =>
  ({ viewState: { range, scene }, actions }: Reach) =>
    actions.brush(...pan(range, scene.steps, way * Math.max(1, Math.round((range[1] - range[0]) / 6))));

const isSelected = ({ selection }: ViewState): boolean => selection !== null;

/** Moves the range so that it contains a place. */
const showPlace = ({ viewState: { scene, range }, actions }: Reach, place: number) => {
  const nextRange = reveal(range, scene.steps, scene.entryStep[Math.min(place, scene.entries - 1)] ?? 0);
  if (nextRange !== range) actions.brush(...nextRange);
};

const slide = (way: Way) => (reach: Reach) => {
  const { cuts, place } = reach.viewState;
  reach.focusCut();
  const next = (way > 0 ? nextLegal : previousLegal)(cuts, place);
  if (next !== place) reach.actions.slideCut(next, false);
  showPlace(reach, next);
};

const takeCut = (reach: Reach) => {
  showPlace(reach, reach.viewState.place);
  reach.focusCut();
};

const takeStart = (reach: Reach) => {
  showPlace(reach, reach.viewState.cuts.since);
  reach.focusStart();
};

const ASKS: Partial<Record<TabId, "python">> = { replay: "python", lesson: "python" };

type Entry = Omit<Key, "shown" | "group"> & Partial<Pick<Key, "shown">>;

/** A key is shown as it is called, unless it says otherwise. */
const inGroup = (group: string, entries: readonly Entry[]): Key[] =>
  entries.map(entry => ({ shown: entry.keys[0] as string, group, ...entry }));

export const KEYS: readonly Key[] = [
  ...inGroup("Look", [
    { keys: ["j"], help: "next turn", act: turn(1) },
    { keys: ["k"], help: "previous turn", act: turn(-1) },
    { keys: ["]"], asks: "python", help: "next recorded compaction", act: moment(1) },
    { keys: ["["], asks: "python", help: "previous recorded compaction", act: moment(-1) },
    {
      ...{ keys: ["v"], asks: "python", help: "show the new compaction" },
      when: ({ arrived }) => arrived !== null,
      act: ({ actions }) => actions.takeArrived(true),
    },
    { keys: ["/"], help: "search the whole session", act: reach => reach.focusSearch() },
    { keys: ["f"], help: "find a fact: where did it go?", act: reach => reach.focusFacts() },
    { keys: ["n"], help: "next hit, or next difference", act: hit(1) },
    { keys: ["N"], help: "previous hit, or previous difference", act: hit(-1) },
    {
      ...{ keys: ["Enter"], help: "open the block's text" },
      act: ({ viewState: { row }, actions }) => row >= 0 && actions.openBody(row),
    },
    {
      ...{ keys: ["y"], help: "copy a link to the block" },
      act: ({ viewState: { row }, actions }) => actions.copyLink(row),
    },
    { keys: ["+", "="], help: "zoom in (or Ctrl and the wheel)", act: zoom(0.5) },
    { keys: ["-"], shown: "−", help: "zoom out", act: zoom(2) },
    { keys: ["w", "W"], shown: "w", help: "zoom in", act: zoom(0.5) },
    { keys: ["s", "S"], shown: "s", help: "zoom out", act: zoom(2) },
    { keys: ["a", "A"], shown: "a", help: "earlier steps", act: shift(-1) },
    { keys: ["d", "D"], shown: "d", help: "later steps", act: shift(1) },
    {
      ...{ keys: ["e"], help: "zoom to the selection or back", when: isSelected },
      act: ({ actions }) => actions.selection.zoom(),
    },
    {
      ...{ keys: ["Escape"], shown: "Esc", help: "clear the selection", when: isSelected },
      act: ({ actions }) => actions.selection.select(null),
    },
    { keys: ["0"], help: "all steps", act: ({ actions }) => actions.brush(0, Number.POSITIVE_INFINITY) },
  ]),
  ...inGroup("Plan", [
    { keys: ["c"], help: "focus the cut", act: takeCut },
    { keys: ["C"], asks: "python", help: "focus the start of what is compacted", act: takeStart },
    { keys: ["ArrowRight"], shown: "→", help: "next valid cut point", act: slide(1) },
    { keys: ["ArrowLeft"], shown: "←", help: "previous valid cut point", act: slide(-1) },
    {
      ...{ keys: ["r"], asks: "python", help: "add a rule" },
      act(reach) {
        reach.actions.openTab("rules");
        reach.addRule();
      },
    },
    { keys: ["p"], asks: "python", help: "pin the block, or unpin it", act: pin },
    { keys: ["u"], asks: "python", help: "write the summary", act: reach => reach.focusSummary() },
    { keys: ["b"], help: "keep this plan as plan B, or remove plan B", act: hold },
    { keys: ["z", "mod+z"], help: "undo", act: ({ actions }) => actions.undo() },
    { keys: ["Z", "mod+Z", "mod+y"], help: "redo", act: ({ actions }) => actions.redo() },
  ]),
  ...inGroup("Teach", [
    {
      ...{ keys: ["l"], asks: "python", help: "open the lesson" },
      act: reach => reach.focusLesson(),
    },
    { keys: ["."], asks: "python", help: "next rule", act: play(1) },
    { keys: [","], asks: "python", help: "previous rule", act: play(-1) },
    { keys: ["g"], asks: "python", help: "guess the cut, then show it", act: guess },
    {
      ...{ keys: ["shift+ArrowRight"], shown: "⇧→", asks: "python", onCut: true },
      ...{ help: "try the next place, valid or not", act: nudge(1) },
    },
    {
      ...{ keys: ["shift+ArrowLeft"], shown: "⇧←", asks: "python", onCut: true },
      ...{ help: "try the previous place, valid or not", act: nudge(-1) },
    },
  ]),
  ...inGroup(
    "Tabs",
    TABS.map(({ id, title }, at) => ({
      ...{ keys: [`${at + 1}`], help: title, asks: ASKS[id] },
      act: ({ actions }: Reach) => actions.openTab(id),
    })),
  ),
  ...inGroup("Workbench", [
    { keys: ["F6"], help: "next part of the screen", act: reach => reach.goToRegion(1) },
    {
      keys: ["shift+F6"],
      shown: "⇧F6",
      help: "previous part of the screen",
      act: reach => reach.goToRegion(-1),
    },
    { keys: ["P"], help: "presentation mode on or off", act: reach => reach.present() },
    { keys: ["?"], help: "show all keys", act: reach => reach.openHelp() },
  ]),
];

/** Those that do something where Python is, or in a page without it. */
export const listKeys = ({ needsKernel }: Host): readonly Key[] =>
  KEYS.filter(({ asks }) => needsKernel === undefined || asks === undefined);

/** How the table writes a key press. */
export const nameKey = (event: KeyboardEvent): string => {
  const shift = event.shiftKey && /^(Arrow|F6)/.test(event.key) ? "shift+" : "";
  const mod = event.ctrlKey || event.metaKey ? "mod+" : "";
  const key = mod !== "" && event.shiftKey ? event.key.toUpperCase() : event.key;
  return `${mod}${shift}${key}`;
};
