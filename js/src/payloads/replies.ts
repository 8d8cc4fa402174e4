// Replies that types.ts does not contain, and names for parts of those.
import type { FactRow, Knob } from "./types";

export type Setting = Knob["value"];

/** The outcome of a fact after a compaction. */
export type Outcome = FactRow["outcome"];
/** Identifies a fact; on another path of the session its number belongs to another fact. */
export type FactName = Pick<FactRow, "number" | "kind" | "form">;

/** The writer of a summary: an extract of the session's own words, a model, or the user. */
export type Writer = "extractive" | "model" | "pasted";

/** Slow work: `done` is its share from 0 to 1, null if unknown; a stop is sent as {type: "stop"}. */
export interface Work {
  what: string;
  done: number | null;
  stoppable: boolean;
}

/** The path of the saved plan. */
export interface SaveReply {
  name: string;
  path: string;
}

/** A plan saved next to the session, and a short description. */
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
  /** The plan on the screen is the one it was written for; `cut` and `turn` give the cut of that plan. */
  here: boolean;
  cut: string;
  turn: number;
  models: string[];
  model: string;
  limit: number;
}
