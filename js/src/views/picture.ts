// What the views draw, and what they may ask for. A view sees values only; the workbench owns host and state.
import type { Lanes } from "../core/bars";
import type { Cuts } from "../core/cuts";
import type { Axis } from "../core/geometry";
import type { Settings } from "../core/host";
import type { Replay } from "../core/life";
import type { Requests } from "../core/requests";
import type { Run } from "../core/run";
import type { Plan, Scene } from "../core/state";
import type { Setting } from "../core/wire";
import type { Palette } from "./palette";

export interface Picture {
  scene: Scene;
  plan: Plan;
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
}

/**
 * The parts of a picture that may have changed since the last frame. "plan" is any answer from Python; "fates" only one
 * that decides otherwise of some block, which is what the costly views wait for.
 */
export type Part =
  | "scene"
  | "plan"
  | "fates"
  | "place"
  | "row"
  | "why"
  | "size"
  | "theme"
  | "settled"
  | "run";

export interface View {
  readonly node: HTMLElement;
  draw(picture: Picture, parts: ReadonlySet<Part>): void;
  dispose?(): void;
}

export interface Actions {
  readonly requests: Requests;
  /** Moves the cut with the hand or a key; Python hears of it at most ten times a second. */
  slideCut(place: number, dragging: boolean): void;
  /** Ends a drag. */
  dropCut(): void;
  /** Lets the policy place the cut again. */
  freeCut(): void;
  /** Says why there is no cut at a place; -1 when the hand has left it. */
  sayWhy(place: number): void;
  select(row: number): void;
  /** Opens the text of a block in the list. */
  openBody(row: number): void;
  moveTo(at: string): void;
  choosePolicy(name: string): void;
  setKnob(key: string, value: Setting): void;
  resetKnob(key: string): void;
  setPins(pins: readonly string[]): void;
  /** Asks Python to live the session again under the policy, or puts the replay away. */
  askReplay(asked: boolean): void;
}
