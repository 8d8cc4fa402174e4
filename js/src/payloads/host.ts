// The interface of a state host: a Jupyter model, a test, a page. No DOM, no transport.

import type { Setting, Work } from "./replies";
import type { PlanPayload, RunPayload, ScenePayload } from "./types";

export type Settings = Readonly<Record<string, Setting>>;

/** Plan B: none, the recorded compaction, or another edit at the same point in time. */
export type Versus =
  | Record<string, never>
  | { recorded: true }
  | { policy: string; settings?: Settings; pins?: readonly string[]; cut?: string };

export type Scenario = RunPayload["scenario"]["values"];

/** The user's choices. "" lets the policy place the cut; "" as `at` is the session's end. */
export interface Choices {
  cut: string;
  /** The first entry that is compacted; "" compacts everything before the cut. A host without it has none to set. */
  since?: string;
  policy: string;
  settings: Settings;
  at: string;
  /** Blocks ("entry/index") that stay verbatim wherever the cut is; a host without pins has none to set. */
  pins?: readonly string[];
  /** Whether to replay the session under the policy; undefined if the host cannot replay. */
  replay?: boolean;
  /** What happens from outside in that replay: every field of a scenario, in Python's order. */
  scenario?: Scenario;
  /** Plan B; a host without comparisons has none. */
  versus?: Versus;
  /** The plan that is shown: "plan", or "recorded:1" for the result of the first recorded compaction. */
  look?: string;
  /** The open tab of the dock. */
  tab?: string;
  /** The block looked at ("entry/index"), "" for none. */
  block?: string;
  /** The dock's height in pixels, 0 for automatic, -1 if it is folded to its tabs. */
  dock?: number;
}

/** The traits on the model. The underscored ones are the wire's alone. */
export interface Traits extends Choices {
  /** Pixels of the element in a notebook; a host that fills its panel has none. */
  height?: number;
  /** Whether printable keys are shortcuts; true by default. */
  letter_keys?: boolean;
  _seq: number;
  _scene: ScenePayload | Record<string, never> | null;
  _scene_data: DataView | null;
  _plan: PlanPayload | Record<string, never> | null;
  _plan_data: DataView | null;
  _run?: RunPayload | Record<string, never> | null;
  _run_data?: DataView | null;
  /** The recorded state right after this point in time, drawn like a plan; {} for nothing. */
  _recorded?: PlanPayload | Record<string, never> | null;
  _recorded_data?: DataView | null;
  /** Plan B over the same scene, {} for none. */
  _other?: PlanPayload | Record<string, never> | null;
  _other_data?: DataView | null;
  /** Python's current work, {} for nothing. */
  _work?: Work | Record<string, never> | null;
  _error: string;
}

/** Has Python keep a trait that no answer follows. */
export const keep = <K extends keyof Traits>(host: Host, name: K, value: Traits[K]): void => {
  if (host.get(name) === value) return;
  host.set(name, value);
  host.save_changes();
};

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
  /** The message shown when no answer comes, for hosts without a notebook kernel. */
  readonly silence?: string;
  /** A link that opens this document at a block; absent if the document has none. */
  linkTo?(ref: string): string;
}
