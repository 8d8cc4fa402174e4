// The words and colours of what a compaction did to a fact.
import type { Outcome } from "../payloads/replies";
import { OUTCOMES } from "../payloads/types";

export type OutcomeTraits = (typeof OUTCOMES)[number];

/** By the outcome's name. */
export const TRAITS = Object.fromEntries(OUTCOMES.map(traits => [traits.name, traits])) as Record<
  Outcome,
  OutcomeTraits
>;
