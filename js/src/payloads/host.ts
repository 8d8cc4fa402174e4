// What the views need of whatever carries their state: a Jupyter model, a test, a page. No DOM, no transport.

import type { Setting, Work } from "./replies";
import type { PlanPayload, RunPayload, ScenePayload } from "./types";

export type Settings = Readonly<Record<string, Setting>>;

/** What plan B is: nothing, what the file records, or another edit of the same moment. */
export type Versus =
  | Record<string, never>
  | { recorded: true }
  | { policy: string; settings?: Settings; pins?: readonly string[]; cut?: string };

export type Scenario = RunPayload["scenario"]["values"];

/** What the person decides. "" lets the policy place the cut; "" as `at` is the session's end. */
export interface Choices {
  cut: string;
  policy: string;
  settings: Settings;
  at: string;
  /** Blocks ("entry/index") that stay verbatim wherever the cut is; a host without pins has none to set. */
  pins?: readonly string[];
  /** The session is to be lived again under the policy; a host that cannot do that has no such wish. */
  replay?: boolean;
  /** What happens from outside in that replay: every field of a scenario, in Python's order. */
  scenario?: Scenario;
  /** Plan B; a host without comparisons has none. */
  versus?: Versus;
  /** Whose after is shown: "plan", or "recorded:1" for what the first recorded compaction left. */
  look?: string;
  /** Which tab of the dock is open. */
  tab?: string;
  /** The block looked at ("entry/index"), "" for none. */
  block?: string;
  /** Pixels of the dock, 0 for as many as there are, -1 where it is folded to its tabs. */
  dock?: number;
}

/** The traits on the model. The underscored ones are the wire's alone. */
export interface Traits extends Choices {
  /** Pixels of the element in a notebook; a host that fills its panel has none. */
  height?: number;
  /** The lesson's step that is open, such as "2.3"; "" for none. */
  lesson?: string;
  /** Whether printable keys are shortcuts; so where it is not told. */
  letter_keys?: boolean;
  _seq: number;
  _scene: ScenePayload | Record<string, never> | null;
  _scene_data: DataView | null;
  _plan: PlanPayload | Record<string, never> | null;
  _plan_data: DataView | null;
  _run?: RunPayload | Record<string, never> | null;
  _run_data?: DataView | null;
  /** What the file records right after this moment, drawn like a plan; {} for nothing. */
  _recorded?: PlanPayload | Record<string, never> | null;
  _recorded_data?: DataView | null;
  /** Plan B over the same scene, {} for none. */
  _other?: PlanPayload | Record<string, never> | null;
  _other_data?: DataView | null;
  /** What Python is busy with, {} for nothing. */
  _work?: Work | Record<string, never> | null;
  _error: string;
}

/** The part of anywidget's model that the views use. */
export interface Host {
  get<K extends keyof Traits>(name: K): Traits[K];
  set<K extends keyof Traits>(name: K, value: Traits[K]): void;
  on(event: string, listener: (message: unknown) => void): void;
  off(event: string, listener: (message: unknown) => void): void;
  save_changes(): void;
  send(message: unknown): void;
  /** Why rules cannot be edited here ("This page has no kernel …"); absent where Python answers. */
  readonly needsKernel?: string;
  /** A page without a kernel holds the session's lessons. */
  readonly hasLessons?: boolean;
  /** What to say when no answer comes, where it is no notebook's kernel that is asked. */
  readonly silence?: string;
  /** An address that opens this document at a block; absent where a document has none. */
  linkTo?(ref: string): string;
}
