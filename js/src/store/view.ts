// The data that views draw, and the actions they may call. A view sees values only; the workbench owns host and state.

import type { Axis, Range } from "../model/axis";
import type { Lanes } from "../model/bars";
import type { Cuts } from "../model/cuts";
import type { FactLaneContent } from "../model/fact-lane";
import type { Tracing } from "../model/facts";
import type { Lesson } from "../model/lesson";
import type { Plan, Scene } from "../model/plan";
import type { Policies } from "../model/policies";
import type { Run } from "../model/run-decode";
import type { TabId } from "../model/tabs";
import type { Choices, Scenario, Settings, Versus } from "../payloads/host";
import type { Setting, Work } from "../payloads/replies";
import type { Requests } from "../payloads/requests";
import type { BoundaryPayload, SearchReply, SelectionReply } from "../payloads/types";
import type { Palette } from "../ui/canvas/canvas-colours";
import type { FactsController } from "./facts";
import type { Replay } from "./replay";

export interface ViewState {
  scene: Scene;
  /** The shown plan: the planned one, or the recorded one. */
  plan: Plan;
  /** The edited plan, even if the recorded one is shown. */
  planned: Plan;
  /** The recorded state right after this point in time, or null. */
  recorded: Plan | null;
  /** The plan that is shown: "plan", or "recorded:1" and the like. */
  look: string;
  /** The valid cut points, and the position of the other handle: the beginning of what is compacted. */
  cuts: Cuts;
  axis: Axis;
  lanes: Lanes;
  palette: Palette;
  settings: Settings;
  /** The pinned blocks; undefined if the host has no pins. */
  pins: readonly string[] | undefined;
  /** The position of the handle; ahead of `plan.cut.place` until Python has answered. */
  place: number;
  /** The selected block, -1 for none. */
  row: number;
  /** An invalid cut point that the hand is over, -1 for none. */
  why: number;
  /** True when the plan answers the last change. */
  settled: boolean;
  dragging: boolean;
  /** The compaction with the most harm is still looked for: the screen opens on it, and says nothing of another. */
  opening: boolean;
  /** The last replay, if any, and its status. */
  run: Run | null;
  replay: Replay;
  /** External events of the next replay; undefined if none can be requested. */
  scenario: Scenario | undefined;
  /** Plan B, null for none; its cut is its own. */
  other: Plan | null;
  versus: Versus;
  /** The open tab of the dock. */
  tab: TabId;
  /** The count shown next to each tab's name. */
  counts: Partial<Record<TabId, string>>;
  /** The steps of this moment that the lanes show: first up to but not including end. */
  range: readonly [number, number];
  /** A compaction that the file has grown by, until it is looked at or dismissed. */
  arrived: BoundaryPayload | null;
  /** The step under the pointer and its fraction, -1 while it is not over the lanes. */
  pointer: number;
  /** The selected steps, and what Python says of them once it has been asked. */
  selection: Range | null;
  selected: SelectionReply | null;
  /** What was searched for and found, null while nothing is. */
  matches: SearchReply | null;
  /** Status of a search without results yet: a sentence, "" for nothing. */
  finding: string;
  /** What is asked of facts, and what is known of them. */
  tracing: Tracing;
  /** What is chosen, null for nothing. */
  factLane: FactLaneContent | null;
  /** The result of each policy here, once requested. */
  policies: Policies;
  work: Work | null;
  /** The state of Teach; `plan` is the plan up to the lesson's step. */
  lesson: Lesson;
  /** The changes that undo and redo would make, "" for nothing. */
  history: { undo: string; redo: string };
  /** The reason why rules cannot be edited here, "" if they can. */
  needsKernel: string;
}

/**
 * The parts of a view state that may have changed since the last frame. "plan" is any answer from Python; "fates" only
 * one that changes the outcome of a block, which the expensive views wait for.
 */
export const EVERYTHING = [
  ...(["scene", "plan", "look", "fates", "place", "row", "why", "size", "theme", "settled", "run"] as const),
  ...(["other", "tab", "range", "selection", "found", "tracing", "work", "lesson", "history"] as const),
  "policies",
] as const;

export type Part = (typeof EVERYTHING)[number] | "arrived";

/** Whether one of some parts has changed. */
export const hasAny = (parts: ReadonlySet<Part>, ...names: readonly Part[]): boolean =>
  names.some(name => parts.has(name));

export interface View {
  readonly node: HTMLElement;
  draw(viewState: ViewState, parts: ReadonlySet<Part>): void;
  dispose?(): void;
}

export interface SelectionController {
  /** Selects steps; null selects nothing. */
  select(range: Range | null): void;
  /** Shows the selected steps alone, or the steps that were shown before. */
  zoom(): void;
  /** Asks again if the plan or the session is no longer the one that was asked about. */
  follow(): void;
}

export interface Actions {
  readonly requests: Requests;
  /** Has a sentence read out once a gesture has ended. */
  announce(words: string): void;
  readonly facts: FactsController;
  /** Plans every policy here, once per point in time and pins; results arrive in `viewState.policies`. */
  askPolicies(): void;
  /** Moves the cut with the hand or a key; Python hears of it at most ten times a second. */
  slideCut(place: number, dragging: boolean): void;
  /** Moves the beginning of what is compacted, in the same way; the cut is then the user's too. */
  slideStart(since: number, dragging: boolean): void;
  /** Compacts from one place up to another: a cut alone from 0, everything from a place on up to the end. */
  compactRange(since: number, cut: number): void;
  /** Draws once what a drag will draw, so that its first frame finds everything measured and compiled. */
  takeCut(): void;
  /** Ends a drag. */
  dropCut(): void;
  /** Cancels a drag: restores the cut, or the policy's choice if the cut was the policy's. */
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
  /** Opens on a recorded compaction, which is no edit; without one the screen stays on what it shows. */
  openOn(mark?: BoundaryPayload): void;
  /** Shows the compaction that the file has grown by, or only takes its banner away. */
  takeArrived(shows: boolean): void;
  choosePolicy(name: string): void;
  setKnob(key: string, value: Setting): void;
  resetKnob(key: string): void;
  setPins(pins: readonly string[]): void;
  /** Asks Python to live the session again under the policy, or puts the replay away. */
  askReplay(isAsked: boolean): void;
  /** Goes to a sub-agent's last entry and replays it alone; "" for the whole session again. */
  replayStage(end: string): void;
  /** Replays with these fields of the scenario in place of those there are. */
  changeScenario(part: Scenario): void;
  compareWith(versus: Versus): void;
  /** Exchanges plans A and B; does nothing if B is not the plan of a policy. */
  swapPlans(): void;
  /** Shows the steps from `first` up to but not including `end`; all of them for 0 and Infinity. */
  brush(first: number, end: number): void;
  readonly selection: SelectionController;
  /** Searches the whole session; "" forgets what was found. */
  search(query: string): void;
  /** Opens a block wherever it is: moves to `at` first when the moment is another. */
  goTo(ref: string, at?: string): void;
  /** Selects a block and brings it into sight: into the lanes' range, and into a panel that is open. */
  reveal(row: number): void;
  /** Copies an address of a block, or the Python that opens it. */
  copyLink(row: number): void;
  /** Makes several choices as one undo step; `message` reports it, with an undo button. */
  edit(choices: Partial<Choices>, message: string, undoable?: boolean): void;
  undo(): void;
  redo(): void;
  /** Opens a tab of the dock. */
  openTab(tab: TabId): void;
  /** Opens the form by which a summary is written. */
  writeSummary(): void;
  /** Says how much a tab holds, "" for nothing. */
  countTab(tab: TabId, words: string): void;
  /** Shows under the lanes which blocks name the chosen thing; null for none. */
  showFactLane(factLane: FactLaneContent | null): void;
  /** Plays the policy up to this number of rules; all of them end the lesson. */
  playTo(steps: number): void;
  /** Hides the policy's cut, then shows it next to the guessed one, then removes the guess. */
  guess(act: "hide" | "show" | "end"): void;
  /** Asks what a cut at an invalid cut point would break; -1 forgets it. */
  breakAt(place: number): void;
  /** Stops what Python is busy with: all of it, or what is named. */
  stop(what?: "summary"): void;
}
