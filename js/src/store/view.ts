// What the views draw, and what they may ask for. A view sees values only; the workbench owns host and state.

import type { Axis } from "../model/axis";
import type { Lanes } from "../model/bars";
import type { Cuts } from "../model/cuts";
import type { FactRowContent } from "../model/fact-row";
import type { Tracing } from "../model/facts";
import type { Lesson } from "../model/lesson";
import type { Plan, Scene } from "../model/plan";
import type { Policies } from "../model/policies";
import type { Run } from "../model/run-decode";
import type { TabId } from "../model/tabs";
import type { Choices, Scenario, Settings, Versus } from "../payloads/host";
import type { Setting, Work } from "../payloads/replies";
import type { Requests } from "../payloads/requests";
import type { SearchReply } from "../payloads/types";
import type { Palette } from "../ui/canvas/canvas-colours";
import type { Inquiry } from "./facts";
import type { Replay } from "./replay";

export interface Picture {
  scene: Scene;
  /** The plan that is looked at: the planned one, or what the file records. */
  plan: Plan;
  /** What edits make, whichever is looked at. */
  planned: Plan;
  /** What the file records right after this moment, null where it records nothing. */
  recorded: Plan | null;
  /** Whose after is shown: "plan", or "recorded:1" and the like. */
  look: string;
  cuts: Cuts;
  axis: Axis;
  lanes: Lanes;
  palette: Palette;
  settings: Settings;
  /** The pinned blocks; undefined where the host has no pins. */
  pins: readonly string[] | undefined;
  /** Where the handle stands; ahead of `plan.cut.place` until Python has answered. */
  place: number;
  /** The selected block, -1 for none. */
  row: number;
  /** An illegal place that the hand is over, -1 for none. */
  why: number;
  /** True when the plan answers the last change. */
  settled: boolean;
  dragging: boolean;
  /** The last replay, if any, and how it stands with it. */
  run: Run | null;
  replay: Replay;
  /** What happens from outside in the next replay; undefined where none can be asked for. */
  scenario: Scenario | undefined;
  /** Plan B, null for none; its cut is its own. */
  other: Plan | null;
  versus: Versus;
  /** Which tab of the dock is open. */
  tab: TabId;
  /** How much each tab holds, as it says beside its name. */
  counts: Partial<Record<TabId, string>>;
  /** The steps of this moment that the lanes show: first up to but not including end. */
  range: readonly [number, number];
  /** What was searched for and found, null while nothing is. */
  found: SearchReply | null;
  /** How it stands with a search that has not found anything yet: a sentence, "" for nothing. */
  finding: string;
  /** What is asked of facts, and what is known of them. */
  tracing: Tracing;
  /** What is chosen, null for nothing. */
  factRow: FactRowContent | null;
  /** What each policy would leave here, once somebody has asked. */
  policies: Policies;
  work: Work | null;
  /** What Teach shows of the plan; `plan` is the plan up to the lesson's step. */
  lesson: Lesson;
  /** The step of a lesson that is open, "" for none; `own` where it was opened here and not from Python. */
  step: { link: string; own: boolean };
  /** What undoing and redoing would change, "" for nothing. */
  past: { undo: string; redo: string };
  /** Why rules cannot be edited here, "" where they can. */
  needsKernel: string;
}

/**
 * The parts of a picture that may have changed since the last frame. "plan" is any answer from Python; "fates" only one
 * that decides otherwise of some block, which is what the costly views wait for.
 */
export type Part =
  | "scene"
  | "plan"
  | "look"
  | "fates"
  | "place"
  | "row"
  | "why"
  | "size"
  | "theme"
  | "settled"
  | "run"
  | "other"
  | "tab"
  | "range"
  | "found"
  | "tracing"
  | "work"
  | "lesson"
  | "past"
  | "policies";

export const EVERYTHING: readonly Part[] = [
  ...([
    "scene",
    "plan",
    "look",
    "fates",
    "place",
    "row",
    "why",
    "size",
    "theme",
    "settled",
    "run",
    "other",
  ] as const),
  ...(["tab", "range", "found", "tracing", "work", "lesson", "past", "policies"] as const),
];

export interface View {
  readonly node: HTMLElement;
  draw(picture: Picture, parts: ReadonlySet<Part>): void;
  dispose?(): void;
}

export interface Actions {
  readonly requests: Requests;
  /** Has a sentence read out once a gesture has ended. */
  announce(words: string): void;
  readonly facts: Inquiry;
  /** Has every policy planned here, once for a moment and its pins; `picture.policies` has what comes in. */
  askPolicies(): void;
  /** Moves the cut with the hand or a key; Python hears of it at most ten times a second. */
  slideCut(place: number, dragging: boolean): void;
  /** Draws once what a drag will draw, so that its first frame finds everything measured and compiled. */
  takeCut(): void;
  /** Ends a drag. */
  dropCut(): void;
  /** Takes a drag back: the cut stands where it stood, by the policy's choice where it was the policy's. */
  cancelCut(place: number, free: boolean): void;
  /** Lets the policy place the cut again. */
  freeCut(): void;
  /** Says why there is no cut at a place; -1 when the hand has left it. */
  sayWhy(place: number): void;
  select(row: number): void;
  /** Opens the text of a block in the list. */
  openBody(row: number): void;
  moveTo(at: string): void;
  /** Shows the plan, or what the file records; that of another moment, right before it, moves there. */
  lookAt(look: string, at?: string): void;
  choosePolicy(name: string): void;
  setKnob(key: string, value: Setting): void;
  resetKnob(key: string): void;
  setPins(pins: readonly string[]): void;
  /** Asks Python to live the session again under the policy, or puts the replay away. */
  askReplay(asked: boolean): void;
  /** Goes to a sub-agent's last entry and replays it alone; "" for the whole session again. */
  replayStage(end: string): void;
  /** Replays with these fields of the scenario in place of those there are. */
  changeScenario(part: Scenario): void;
  compareWith(versus: Versus): void;
  /** Plan B becomes plan A, and A becomes B as it stands; nothing where B is no plan of a policy. */
  swapPlans(): void;
  /** Shows the steps from `first` up to but not including `end`; all of them for 0 and Infinity. */
  brush(first: number, end: number): void;
  /** Searches the whole session; "" forgets what was found. `keys` are what each key says of itself. */
  search(query: string, keys?: readonly string[]): void;
  /** Opens a block wherever it is: moves to `at` first when the moment is another. */
  goTo(ref: string, at?: string): void;
  /** Selects a block and brings it into sight: into the lanes' range, and into a panel that is open. */
  reveal(row: number): void;
  /** Copies an address of a block, or the Python that opens it. */
  copyLink(row: number): void;
  /** Several choices at once, as one step of the past; `said` tells what was done, with a button that undoes it. */
  edit(choices: Partial<Choices>, said: string, undoable?: boolean): void;
  undo(): void;
  redo(): void;
  /** Opens a tab of the dock. */
  openTab(tab: TabId): void;
  /** Opens the form by which a summary is written. */
  writeSummary(): void;
  /** Says how much a tab holds, "" for nothing. */
  countTab(tab: TabId, words: string): void;
  /** Shows under the lanes which blocks name the chosen thing; null for none. */
  showFactRow(factRow: FactRowContent | null): void;
  /** Opens a step of a lesson by its link, "" for none; its picture is set by who shows it. */
  openStep(link: string): void;
  /** Plays the policy up to so many rules; all of them end the lesson. */
  playTo(taken: number): void;
  /** Hides the policy's cut, then shows it beside the guessed one, then puts the guess away. */
  guess(act: "hide" | "show" | "end"): void;
  /** Asks what a cut at an illegal place would break; -1 forgets it. */
  breakAt(place: number): void;
  /** Stops what Python is busy with: all of it, or what is named. */
  stop(what?: "summary"): void;
}
