// What Python says of writing a plan's summary: what would be sent, and how the writing stands.

/** Who writes it: nobody but the session's own words, a model, or the person. */
export type Writer = "extractive" | "model" | "pasted";

/** One request to a model: what it would read, as much of it as was sent here, with its secrets out. */
export interface Sent {
  kind: "initial" | "update" | "turn_prefix";
  tokens: number;
  cached: number;
  text: string;
  total: number;
}

/** A thing found in the text by its name, which shows nothing of it. */
export interface Found {
  name: string;
  hint: string;
  count: number;
}

export interface SendingReply {
  type: "sending";
  id: string;
  by: Writer;
  /** False where nothing can be written; the sentence says why. */
  ready: boolean;
  sentence: string;
  host: string;
  model: string;
  requests: Sent[];
  tokens: number;
  counter: string;
  counterNote: string;
  /** "at most $0.43", "" where no price is known. */
  price: string;
  priceNote: string;
  redacted: Found[];
  /** The names of those that are left in because the person said so. */
  kept: string[];
  personal: Found[];
  /** What else to know of this way to compact. */
  notes?: string[];
  /** What was looked at; only that is sent. */
  digest: string;
}

export interface WritingReply {
  type: "writing" | "summarise" | "unsummarise";
  id: string;
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
