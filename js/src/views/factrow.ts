// How a fact and what becomes of it look: a pattern for the fate, a shape for the evidence, a word for both.

import { plural } from "../core/format";
import type { FactRow } from "../core/payloads";
import type { FactFate, Tier } from "../core/wire";
import { h } from "./dom";

/** The patterns that the fates of blocks have, where they mean the same. */
const PATTERNS: Record<FactFate, string> = {
  verbatim: "verbatim",
  restated: "summarised",
  "pointed to": "pointer",
  weakened: "truncated",
  lost: "dropped",
};
/** Of a path the last name tells most, and gives way last; one longer than this is cut like any text. */
const TAIL = 40;

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

/** A row of the list; one that has not come yet holds its place. */
export const drawFact = (row: FactRow | undefined): HTMLElement[] => {
  if (row === undefined) return [h("span", {}), h("span", { class: "ci-quiet" }, "…")];
  const { kind, form, fate, tier, stood, lastTurn } = row;
  return [
    h("span", { class: "ci-quiet" }, kind),
    drawForm(kind, form),
    ...drawFate(fate, tier, stood),
    h("span", { class: "ci-number" }, String(lastTurn + 1)),
  ];
};

/** What a row has no room for. */
export const tellFact = ({
  form,
  said,
  by,
  operations,
  firstTurn,
  lastTurn,
  words,
  others,
}: FactRow): string =>
  [
    form,
    [
      `said in ${plural(said, "block")} by ${by.join(", ")}`,
      firstTurn === lastTurn ? `turn ${lastTurn + 1}` : `turns ${firstTurn + 1}–${lastTurn + 1}`,
      ...operations,
    ].join(" · "),
    ...(words === "" || words === form ? [] : [`stands as ${words}`]),
    ...(others > 0 ? [`may also mean ${plural(others, "other file")}`] : []),
  ].join("\n");

const drawForm = (kind: string, form: string): HTMLElement => {
  const slash = kind === "file" ? form.lastIndexOf("/") : -1;
  const split = slash > 0 && form.length - slash <= TAIL;
  const parts = split ? [form.slice(0, slash), form.slice(slash)] : [form];
  return h("span", { class: "ci-form" }, ...parts.map(part => h("span", {}, part)));
};
