// The list of policies with what each would leave, as far as it is known.
import type { PolicyGroup, PolicyResult } from "../payloads/types";

export interface Policies {
  groups: readonly PolicyGroup[];
  /** By the policy's name; one that is not there yet is still being planned. */
  results: ReadonlyMap<string, PolicyResult>;
  /** Why there is no list or no more results, "" while there is nothing to say. */
  sentence: string;
}

export const NO_POLICIES: Policies = { groups: [], results: new Map(), sentence: "" };
