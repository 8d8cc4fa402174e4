// What is asked of facts and what is known of them so far: values for the views, and look-ups in Python's counts.

import type { FactName, Outcome } from "../payloads/replies";
import type { FactKind, FactRow, FactsReply, RegretReply, StoryReply } from "../payloads/types";

/** The filter of the list; "" for any. */
export interface FactFilter {
  query: string;
  kind: string;
  outcome: string;
  /** Only facts that a block in these rows states; null for all. */
  rows: readonly [number, number] | null;
}

export interface Tracing {
  filter: FactFilter;
  /** The last answer about the list; null before the first. */
  list: FactsReply | null;
  /** The rows of the list that are here, by their place in it. */
  rows: ReadonlyMap<number, FactRow>;
  /** Status of the list while it does not answer the filter: a sentence, "" for nothing. */
  note: string;
  /** The list waits for no answer, and yet has none. */
  failed: boolean;
  /** The fact that is open. */
  chosen: FactName | null;
  /** The chosen row of the fact's history; "" lets Python choose. */
  pick: string;
  story: StoryReply | null;
  storyNote: string;
  regret: RegretReply | null;
}

export const NO_TRACING: Tracing = {
  filter: { query: "", kind: "", outcome: "", rows: null },
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
export const isAnswered = ({ list, filter }: Tracing): boolean =>
  list !== null &&
  list.query === filter.query &&
  list.kind === filter.kind &&
  list.outcome === filter.outcome;

/** How many facts of a kind ("" for any) have an outcome ("" for any), as Python counted them. */
export const countFacts = (kinds: readonly FactKind[], kind: string, outcome: string): number =>
  kinds
    .filter(({ id }) => kind === "" || id === kind)
    .reduce(
      (sum, { total, outcomes }) => sum + (outcome === "" ? total : (outcomes[outcome as Outcome] ?? 0)),
      0,
    );
