// How the fate of a fact looks: a pattern for the fate, a shape for the evidence, a word for both.
import type { FactFate, Tier } from "../payloads/replies";
import { h } from "./dom";

/** The patterns that the fates of blocks have, where they mean the same. */
const PATTERNS: Record<FactFate, string> = {
  verbatim: "verbatim",
  restated: "summarised",
  "pointed to": "pointer",
  weakened: "truncated",
  lost: "dropped",
};

export const drawFate = (fate: FactFate, tier: Tier, stood = true): HTMLElement[] => [
  h(
    "span",
    { class: `ci-outcome ci-by-${tier}${fate === "lost" && stood ? " ci-lost" : ""}` },
    h("i", { class: `ci-chip ci-is-${PATTERNS[fate]}`, "aria-hidden": "true" }),
    nameFate(fate, stood),
  ),
  h("span", { class: `ci-tier ci-by-${tier}` }, tier),
];

/** What could not be read before cannot be lost again. */
export const nameFate = (fate: FactFate, stood: boolean): string =>
  fate === "lost" && !stood ? "gone" : fate;

/** A turn by its number; one beside the main path of the session has none. */
export const nameTurn = (turn: number): string => (turn < 0 ? "there" : `turn ${turn + 1}`);
