// A lesson as Python builds it (inspector/workbench/lessons/exercise.py): every chart, every answer and its feedback.

/** Place of the cut (or -1), tokens sent, tokens kept, tokens of the summary, and a letter for each block: the
 * first of its retention; "" if exactly the blocks before the cut are summarised. */
export type State = readonly [
  place: number,
  after: number,
  remaining: number,
  summary: number,
  fates: string,
];

export interface Chart {
  columns: number;
  /** The number of each turn and its first column. */
  turns: readonly (readonly [number, number])[];
  lanes: readonly string[];
  /** Column, lane and tokens of each block. */
  blocks: readonly (readonly [number, number, number])[];
  /** A digit for each place: 0 for an invalid one, 1 between turns, 2 inside a turn. */
  cuts: string;
  /** The block with the user's rule, -1 for none. */
  mark: number;
  before: number;
  fixed: number;
  counter: string;
}

export interface Option {
  key: string;
  label: string;
  right: boolean;
  says: number;
  state: State | null;
}

export interface Exercise {
  ask: "choice" | "cut" | "place" | "policy" | "pin" | "set";
  question: string;
  options: readonly Option[];
  says: readonly string[];
  start: number;
  solution: number;
  chart: number;
  state: State;
  hint: string;
  blind: boolean;
  texts: readonly (readonly [string, string])[];
  seed: number;
}

export type Kind = "predict" | "do" | "reveal" | "check";

export interface Step {
  kind: Kind;
  title: string;
  text: readonly string[];
  chart?: number;
  state?: State;
  /** The lanes show what a plan does only after the answer. */
  hidden?: boolean;
  exercise?: Exercise;
  variants?: readonly Exercise[];
}

export interface Lesson {
  name: string;
  number: number;
  title: string;
  goal: string;
  focus: "lanes" | "rules" | "facts";
  version: string;
  steps: readonly Step[];
  charts: readonly Chart[];
}

/** The entry of a lesson in the list. */
export type Title = Pick<Lesson, "name" | "number" | "title" | "goal" | "version"> & { questions: number };

/** Addresses that a page links to, or "". */
export interface Links {
  contents: string;
  next: string;
  workbench: string;
}

export const NO_LINKS: Links = { contents: "", next: "", workbench: "" };
