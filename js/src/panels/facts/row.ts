// How a fact looks in the list.

import { plural } from "../../model/format";
import type { FactRow } from "../../payloads/types";
import { h } from "../../ui/dom";
import { drawFate } from "../../ui/fate";

/** Of a path the last name tells most, and gives way last; one longer than this is cut like any text. */
const TAIL = 40;

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
