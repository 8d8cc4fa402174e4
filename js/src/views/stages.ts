// The stages of a policy: as one line under the gauge for the plan, as a small table for a compaction.
import { exact, short } from "../core/format";
import type { Stage } from "../core/wire";
import { h, setShown } from "./dom";
import type { View } from "./picture";

/** "snip 180k → 150k · auto, collapse: not needed, the target was met". */
export const makeStages = (): View => {
  const node = h("p", { class: "ci-stages", "data-testid": "stages", "aria-label": "Stages of the plan" });
  return {
    node,
    draw({ plan }, parts) {
      if (!parts.has("scene") && !parts.has("plan")) return;
      const stages = plan.stages ?? [];
      setShown(node, stages.length > 0);
      node.replaceChildren(h("span", {}, "stages"), ...gather(stages).map(tellStages));
    },
  };
};

/** Neighbours that did not run for the same reason are told together. */
const gather = (stages: readonly Stage[]): Stage[][] => {
  const groups: Stage[][] = [];
  for (const stage of stages) {
    const [first] = groups.at(-1) ?? [];
    const together = first !== undefined && !first.ran && !stage.ran && first.sentence === stage.sentence;
    if (together) groups.at(-1)?.push(stage);
    else groups.push([stage]);
  }
  return groups;
};

const tellStages = (group: Stage[]): HTMLElement => {
  const [{ before, after, ran, sentence }] = group as [Stage];
  const names = h("b", {}, group.map(({ name }) => name).join(", "));
  if (!ran) return h("span", { class: "ci-skipped" }, names, ` – ${clause(sentence)}`);
  const change =
    before === after ? `${short(before)}, ${clause(sentence)}` : `${short(before)} → ${short(after)}`;
  return h("span", { title: `${exact(before)} → ${exact(after)} tokens` }, names, ` ${change}`);
};

/** A sentence as part of another one. */
const clause = (sentence: string): string =>
  sentence === "" ? "the same" : sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");

export const tabulate = (stages: readonly Stage[]): HTMLElement =>
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
      ...stages.map(({ name, before, after, ran, sentence }) =>
        h(
          "tr",
          { class: ran ? undefined : "ci-skipped" },
          h("th", { scope: "row" }, name),
          h("td", { class: "ci-number" }, exact(before)),
          h("td", { class: "ci-number" }, ran ? exact(after) : ""),
          h("td", {}, ran ? sentence : `skipped. ${sentence}`),
        ),
      ),
    ),
  );
