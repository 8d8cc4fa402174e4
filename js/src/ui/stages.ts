// How the stages of a policy look, wherever they are listed.
import { exact } from "../model/format";
import type { StagePayload } from "../payloads/types";
import { h } from "./dom";

/** A stage's own colour and pattern; the name beside it says the same. */
export const swatch = (look: string | undefined, ran = true): HTMLElement =>
  h("i", { class: `ci-chip ${classOf(look)}${ran ? "" : " ci-idle"}`, "aria-hidden": "true" });

export const classOf = (look = "stage1"): string => `ci-look-${look.replace(/[^a-z0-9]/g, "")}`;

export const tabulate = (stages: readonly StagePayload[]): HTMLElement =>
  h(
    "table",
    { class: "ci-table", "data-testid": "stage-table" },
    h("caption", {}, "Stages"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "stage"),
        h("th", { scope: "col", class: "ci-number" }, "tokens in"),
        h("th", { scope: "col", class: "ci-number" }, "out"),
        h("th", { scope: "col" }, "note"),
      ),
    ),
    h(
      "tbody",
      {},
      ...stages.map(({ name, before, after, ran, sentence, look }) =>
        h(
          "tr",
          { class: ran ? undefined : "ci-skipped" },
          h("th", { scope: "row" }, swatch(look, ran), name),
          h("td", { class: "ci-number" }, exact(before)),
          h("td", { class: "ci-number" }, ran ? exact(after) : ""),
          h("td", {}, ran ? sentence : `skipped. ${sentence}`),
        ),
      ),
    ),
  );
