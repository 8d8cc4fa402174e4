// What is sent beside the payloads that types.ts has, and names for parts of those.
import type { FactRow, Knob } from "./types";

export type Setting = Knob["value"];

/** What a compaction did to a fact. */
export type Outcome = FactRow["outcome"];
/** What a fact is asked for by: on another path of the session its number is another's. */
export type FactName = Pick<FactRow, "number" | "kind" | "form">;

/** Who writes a summary: nobody but the session's own words, a model, or the person. */
export type Writer = "extractive" | "model" | "pasted";

/** What takes long: `done` is its share from 0 to 1, null where nobody knows; a stop is sent as {type: "stop"}. */
export interface Work {
  what: string;
  done: number | null;
  stoppable: boolean;
}

/** Where the plan was saved. */
export interface SaveReply {
  name: string;
  path: string;
}

/** A plan that was saved beside the session, and what it is in a few words. */
export interface PlanFile {
  name: string;
  words: string;
}

export interface PlansReply {
  plans: PlanFile[];
}

export interface WritingReply {
  state: "none" | "writing" | "done" | "failed" | "stopped";
  by: string;
  sentence: string;
  /** Characters `from` up to at most 20,000 more, of `total`. */
  text: string;
  from: number;
  total: number;
  share: number | null;
  tries: number;
  tokens: number;
  usage: string;
  price: string;
  findings: string[];
  /** The plan on the screen is the one it was written for; `cut` and `turn` say where that one cuts. */
  here: boolean;
  cut: string;
  turn: number;
  models: string[];
  model: string;
  limit: number;
}
