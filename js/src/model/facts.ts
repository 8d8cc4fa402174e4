// What is asked of facts and what is known of them so far: values for the views, and look-ups in Python's counts.

import type { FactName, Outcome } from "../payloads/replies";
import type { FactKind, FactRow, FactsReply, RegretReply, StoryReply } from "../payloads/types";

/** What the list is asked for; "" for any. */
export interface Wish {
  query: string;
  kind: string;
  outcome: string;
}

export interface Tracing {
  wish: Wish;
  /** The last answer about the list; null before the first. */
  list: FactsReply | null;
  /** The rows of the list that are here, by their place in it. */
  rows: ReadonlyMap<number, FactRow>;
  /** How it stands with the list while it does not answer the wish: a sentence, "" for nothing. */
  note: string;
  /** The list waits for no answer, and yet has none. */
  failed: boolean;
  /** The fact that is open. */
  chosen: FactName | null;
  /** The row of what became of it that is told; "" leaves that to Python. */
  pick: string;
  story: StoryReply | null;
  storyNote: string;
  regret: RegretReply | null;
}

export const NO_TRACING: Tracing = {
  wish: { query: "", kind: "", outcome: "" },
  list: null,
  rows: new Map(),
  note: "",
  failed: false,
  chosen: null,
  pick: "",
  story: null,
  storyNote: "",
  regret: null,
};

/** Whether it is the one that is open. */
export const isChosen = ({ chosen }: Tracing, { number, form }: FactName): boolean =>
  chosen?.number === number && chosen.form === form;

/** True once the list is what was asked for. */
export const isAnswered = ({ list, wish }: Tracing): boolean =>
  list !== null && list.query === wish.query && list.kind === wish.kind && list.outcome === wish.outcome;

/** How many facts of a kind ("" for any) have an outcome ("" for any), as Python counted them. */
export const countFacts = (kinds: readonly FactKind[], kind: string, outcome: string): number =>
  kinds
    .filter(({ id }) => kind === "" || id === kind)
    .reduce(
      (sum, { total, outcomes }) => sum + (outcome === "" ? total : (outcomes[outcome as Outcome] ?? 0)),
      0,
    );
