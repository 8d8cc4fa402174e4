// What Python sends of facts, word for word: the list, one fact's story, what was needed again, what a summary made up.
import type { Choices } from "./host";
import type { Named } from "./wire";

export const FATES = ["verbatim", "restated", "pointed to", "weakened", "lost"] as const;
/** From what stands as it was said to what does not stand at all. */
export type FactFate = (typeof FATES)[number];
/** Whose word it is: the file's own summary, a stand-in for one nobody has written, one that nobody can read. */
export type Tier = "recorded" | "planned" | "inferred";

/** What becomes of a fact at one compaction; `words` is how it is written there. */
interface Outcome {
  fate: FactFate;
  tier: Tier;
  words: string;
  /** False where it could not be read before either. */
  stood: boolean;
}

/** A fact in the list. Turns are 0-based; `row` is the last that says it, -1 outside this moment's context. */
export interface FactRow extends Outcome {
  number: number;
  kind: string;
  form: string;
  /** So many other files may be meant by what stands of its name. */
  others: number;
  /** How many blocks say it, and who. */
  said: number;
  by: string[];
  operations: string[];
  firstTurn: number;
  lastTurn: number;
  row: number;
}

export interface FactKind extends Named {
  total: number;
  fates: Partial<Record<FactFate, number>>;
}

/** Those that match, of which `rows` are from `from` on; `kinds` counts all, whatever is asked for. */
export interface FactsReply {
  type: "facts";
  id: string;
  place: number;
  query: string;
  kind: string;
  fate: string;
  from: number;
  total: number;
  rows: FactRow[];
  kinds: FactKind[];
  tier: Tier;
  /** By place: facts that only a summary could still carry, -1 where no cut may stand. With the first rows only. */
  risk?: { places: number[]; total: number } | null;
  /** Why there is nothing, "" where there is. */
  sentence: string;
}

export interface FactPlace {
  ref: string;
  row: number;
  turn: number;
  step: number;
  by: string;
  operation: string | null;
  label: string;
}

/** What a fact is asked for by: on another path of the session its number is another's. */
export type FactName = Pick<FactRow, "number" | "kind" | "form">;

/** A compaction that a fact went through; the plan itself comes last, with `step` -1. */
export interface FactLink extends Outcome {
  step: number;
  label: string;
}

export interface FactRegret {
  sentence: string;
  tokens: number;
  price: string;
  /** The block that needed it. */
  ref: string;
  turn: number;
  step: number;
}

/** An edit that would have kept it; `changes` are what a hand would set. */
export interface FactFix {
  means: "pin" | "cut" | "knob" | "carry";
  sentence: string;
  price: number;
  money: string;
  fate: FactFate;
  changes: Partial<Choices>;
  recipe: string;
}

export interface FactReply {
  type: "fact";
  id: string;
  number: number;
  place: number;
  kind: string;
  form: string;
  /** In the plan; "" for one that has not been said up to this moment. */
  fate: FactFate | "";
  tier: Tier | "";
  words: string;
  /** Other files that may be meant by what stands of its name. */
  others: string[];
  said: FactPlace[];
  /** All there are, of which `said` may be the first half and the last half of a part. */
  saidTotal: number;
  chain: FactLink[];
  why: string;
  regrets: FactRegret[];
  fixes: FactFix[];
  focus: string;
}

export interface RegretMark extends FactName {
  step: number;
  turn: number;
  /** The block that needed it. */
  ref: string;
  sentence: string;
  tokens: number;
}

/** Everything that a recorded compaction took away and that was paid for again. */
export interface RegretReply {
  type: "regret";
  id: string;
  marks: RegretMark[];
  tokens: number;
  price: string;
  sentence: string;
}

/** Words of a recorded summary that nothing it summarises says; `start` and `end` are in the text of its body. */
export interface GroundingReply {
  type: "grounding";
  id: string;
  row: number;
  marks: { line: number; start: number; end: number; words: string; what: string; sentence: string }[];
  /** How many more are behind what a body shows. */
  hidden: number;
  /** False where the summary cannot be read. */
  read: boolean;
}
