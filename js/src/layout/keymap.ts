// One table: every key of the workbench, what it says of itself in the help, and what it does.

import { refOf } from "../model/block-refs";
import { heldOf } from "../model/compare";
import { nextLegal, previousLegal } from "../model/cuts";
import { rowOfDifference, rowOfTurn } from "../model/next-block";
import { reveal, zoomAround } from "../model/range";
import { TABS, type TabId } from "../model/tabs";
import { middle } from "../panels/timeline/zoom";
import type { Host } from "../payloads/host";
import type { Actions, Picture } from "../store/view";

/** What a key works on. */
export interface Reach {
  picture: Picture;
  actions: Actions;
  /** Steps through the hits of a search; false when there are none. */
  stepHits(way: 1 | -1): boolean;
  focusSearch(): void;
  /** The search of the facts, in their panel; it is opened. */
  focusFacts(): void;
  /** Who writes the summary, in its panel; it is opened. */
  focusSummary(): void;
  /** What there is to do in a lesson, in its tab; it is opened. */
  focusLesson(): void;
  /** Larger type, or as it was. */
  present(): void;
  focusCut(): void;
  /** The rules that could be added. */
  addRule(): void;
  openHelp(): void;
  goToRegion(way: 1 | -1): void;
}

type Asked = "python" | "lesson";

export interface Key {
  /** `event.key` with "mod+" for ctrl or cmd, and "shift+" where the key alone would not tell. */
  keys: readonly string[];
  shown: string;
  help: string;
  group: string;
  /** Only where the cut has the focus. */
  onCut?: boolean;
  /** Nothing without Python, or without the lessons that a page may hold. */
  asks?: Asked | undefined;
  act(reach: Reach): void;
}

type Way = 1 | -1;

const turn =
  (way: Way) =>
  ({ picture, actions }: Reach) => {
    const row = rowOfTurn(picture.scene, picture.row, way);
    if (row >= 0) actions.reveal(row);
  };

const moment =
  (way: Way) =>
  ({ picture: { scene }, actions }: Reach) => {
    const { segments } = scene;
    const next = segments[segments.findIndex(({ current }) => current) + way];
    if (next !== undefined) actions.moveTo(next.at);
  };

const hit =
  (way: Way) =>
  ({ picture, actions, stepHits }: Reach) => {
    if (stepHits(way)) return;
    const { scene, plan, place, other, row } = picture;
    const next = rowOfDifference(scene, plan, place, other, row, way);
    if (next >= 0) actions.reveal(next);
  };

const pin = ({ picture: { scene, row, pins }, actions }: Reach) => {
  if (pins === undefined || row < 0) return;
  const ref = refOf(scene, row);
  actions.setPins(pins.includes(ref) ? pins.filter(other => other !== ref) : [...pins, ref]);
};

const hold = ({ picture, actions }: Reach) => {
  const { versus, plan } = picture;
  const free = plan.cut.by !== "you";
  actions.compareWith(
    "policy" in versus || "recorded" in versus ? {} : free ? heldOf(picture, "") : heldOf(picture),
  );
};

const play =
  (way: Way) =>
  ({ picture, actions }: Reach) => {
    actions.openTab("lesson");
    const taken = picture.lesson.play?.step ?? (way > 0 ? 0 : Number.POSITIVE_INFINITY);
    actions.playTo(picture.lesson.play === null && way > 0 ? 0 : taken + way);
  };

const guess = ({ picture: { lesson }, actions }: Reach) => {
  actions.openTab("lesson");
  actions.guess(lesson.guess?.shown === false ? "show" : "hide");
};

/** The place next door whether or not a cut may stand there; an illegal one tells what it would break. */
const nudge =
  (way: Way) =>
  ({ picture, actions }: Reach) => {
    const { scene, cuts, lesson, place } = picture;
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
  ({ picture, actions }: Reach) =>
    actions.brush(...zoomAround(picture.range, picture.scene.steps, middle(picture), factor));

/** Moves the range to where a place is. */
const showPlace = ({ picture: { scene, range }, actions }: Reach, place: number) => {
  const seen = reveal(range, scene.steps, scene.entryStep[Math.min(place, scene.entries - 1)] ?? 0);
  if (seen !== range) actions.brush(...seen);
};

const slide = (way: Way) => (reach: Reach) => {
  const { cuts, place } = reach.picture;
  reach.focusCut();
  const next = (way > 0 ? nextLegal : previousLegal)(cuts, place);
  if (next !== place) reach.actions.slideCut(next, false);
  showPlace(reach, next);
};

const takeCut = (reach: Reach) => {
  showPlace(reach, reach.picture.place);
  reach.focusCut();
};

const ASKS: Partial<Record<TabId, Asked>> = { facts: "python", replay: "python", lesson: "lesson" };

type Entry = Omit<Key, "shown" | "group"> & Partial<Pick<Key, "shown">>;

/** A key is shown as it is called, unless it says otherwise. */
const inGroup = (group: string, entries: readonly Entry[]): Key[] =>
  entries.map(entry => ({ shown: entry.keys[0] as string, group, ...entry }));

export const KEYS: readonly Key[] = [
  ...inGroup("Look", [
    { keys: ["j"], help: "next turn", act: turn(1) },
    { keys: ["k"], help: "turn before", act: turn(-1) },
    { keys: ["]"], asks: "python", help: "to the next recorded compaction", act: moment(1) },
    { keys: ["["], asks: "python", help: "to the recorded compaction before", act: moment(-1) },
    { keys: ["/"], help: "search the whole session", act: reach => reach.focusSearch() },
    { keys: ["f"], asks: "python", help: "find a fact: where did it go?", act: reach => reach.focusFacts() },
    { keys: ["n"], help: "next hit, or next difference", act: hit(1) },
    { keys: ["N"], help: "the one before", act: hit(-1) },
    {
      ...{ keys: ["Enter"], help: "open the block's text" },
      act: ({ picture: { row }, actions }) => row >= 0 && actions.openBody(row),
    },
    {
      ...{ keys: ["y"], help: "copy a link to the block" },
      act: ({ picture: { row }, actions }) => actions.copyLink(row),
    },
    { keys: ["+", "="], help: "nearer: fewer steps, wider (or ctrl and the wheel)", act: zoom(0.5) },
    { keys: ["-"], shown: "−", help: "farther", act: zoom(2) },
    { keys: ["0"], help: "all steps", act: ({ actions }) => actions.brush(0, Number.POSITIVE_INFINITY) },
  ]),
  ...inGroup("Plan", [
    { keys: ["c"], help: "take the cut", act: takeCut },
    { keys: ["ArrowRight"], shown: "→", help: "move the cut on", act: slide(1) },
    { keys: ["ArrowLeft"], shown: "←", help: "move the cut back", act: slide(-1) },
    {
      ...{ keys: ["a"], asks: "python", help: "add a rule" },
      act(reach) {
        reach.actions.openTab("rules");
        reach.addRule();
      },
    },
    { keys: ["p"], asks: "python", help: "pin the block, or unpin it", act: pin },
    { keys: ["s"], asks: "python", help: "write the summary", act: reach => reach.focusSummary() },
    { keys: ["b"], help: "hold this plan as B, or let B go", act: hold },
    { keys: ["z", "mod+z"], help: "undo", act: ({ actions }) => actions.undo() },
    { keys: ["Z", "mod+Z", "mod+y"], help: "redo", act: ({ actions }) => actions.redo() },
  ]),
  ...inGroup("Teach", [
    {
      ...{ keys: ["l"], asks: "lesson", help: "to the lesson: answer, check, next" },
      act: reach => reach.focusLesson(),
    },
    { keys: ["."], asks: "lesson", help: "play the next rule", act: play(1) },
    { keys: [","], asks: "lesson", help: "one rule back", act: play(-1) },
    { keys: ["g"], asks: "lesson", help: "guess the cut, then show it", act: guess },
    {
      ...{ keys: ["shift+ArrowRight"], shown: "⇧→", asks: "lesson", onCut: true },
      ...{ help: "try the next place, legal or not", act: nudge(1) },
    },
    {
      ...{ keys: ["shift+ArrowLeft"], shown: "⇧←", asks: "lesson", onCut: true },
      ...{ help: "try the place before", act: nudge(-1) },
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
    { keys: ["shift+F6"], shown: "⇧F6", help: "the part before", act: reach => reach.goToRegion(-1) },
    { keys: ["P"], help: "larger type for a room, or as it was", act: reach => reach.present() },
    { keys: ["?"], help: "these keys", act: reach => reach.openHelp() },
  ]),
];

/** Those that do something where Python is, or in a page without it. */
export const listKeys = ({ needsKernel, hasLessons }: Host): readonly Key[] =>
  KEYS.filter(
    ({ asks }) => needsKernel === undefined || asks === undefined || (asks === "lesson" && hasLessons),
  );

/** How the table writes a key press. */
export const nameKey = (event: KeyboardEvent): string => {
  const shift = event.shiftKey && /^(Arrow|F6)/.test(event.key) ? "shift+" : "";
  const mod = event.ctrlKey || event.metaKey ? "mod+" : "";
  const key = mod !== "" && event.shiftKey ? event.key.toUpperCase() : event.key;
  return `${mod}${shift}${key}`;
};
