// The stages of a policy: as a bar and its key under the gauge for the plan, as a small table for a compaction.
import { exact, short } from "../core/format";
import type { StagePayload } from "../core/payloads";
import { h, setShown } from "./dom";
import type { View } from "./picture";

/** "input 180k · snip → 150k · auto, collapse: not needed, the target was met · output 150k". */
export const makeStages = (): View => {
  const bar = h("div", { class: "ci-taken", "aria-hidden": "true" });
  const key = h("p", { class: "ci-stages", "data-testid": "stages", "aria-label": "Stages of the plan" });
  const node = h("div", { class: "ci-staged" }, bar, key);
  return {
    node,
    draw({ plan }, parts) {
      if (!parts.has("scene") && !parts.has("plan")) return;
      const stages = plan.stages;
      const [first, last] = [stages[0], stages.at(-1)];
      setShown(node, first !== undefined);
      if (first === undefined || last === undefined) return key.replaceChildren();
      bar.replaceChildren(...drawTaken(stages, first.before, last.after));
      key.replaceChildren(
        h("span", {}, "stages"),
        tellEnd("input", first.before),
        ...gather(stages).map(tellStages),
        tellEnd("output", last.after),
      );
    },
  };
};

/** What is left, and before it what every stage took; the later the stage, the nearer to what is left. */
const drawTaken = (stages: readonly StagePayload[], before: number, after: number): HTMLElement[] => {
  const parts = stages
    .map(({ look, before, after }) => ({ look, tokens: before - after }))
    .filter(({ tokens }) => tokens > 0)
    .reverse();
  return [{ look: "output", tokens: after }, ...parts].map(({ look, tokens }) =>
    h("i", { class: classOf(look), style: `width: ${(100 * tokens) / Math.max(1, before)}%` }),
  );
};

const tellEnd = (name: string, tokens: number): HTMLElement =>
  h("span", { title: `${exact(tokens)} tokens` }, swatch(name), h("b", {}, name), ` ${short(tokens)}`);

/** A stage's own colour and pattern; the name beside it says the same. */
const swatch = (look: string | undefined, ran = true): HTMLElement =>
  h("i", { class: `ci-chip ${classOf(look)}${ran ? "" : " ci-idle"}`, "aria-hidden": "true" });

const classOf = (look = "stage1"): string => `ci-look-${look.replace(/[^a-z0-9]/g, "")}`;

/** Neighbours that did not run for the same reason are told together. */
const gather = (stages: readonly StagePayload[]): StagePayload[][] => {
  const groups: StagePayload[][] = [];
  for (const stage of stages) {
    const [first] = groups.at(-1) ?? [];
    const together = first !== undefined && !first.ran && !stage.ran && first.sentence === stage.sentence;
    if (together) groups.at(-1)?.push(stage);
    else groups.push([stage]);
  }
  return groups;
};

const tellStages = (group: StagePayload[]): HTMLElement => {
  const [{ before, after, ran, sentence }] = group as [StagePayload];
  const names = group.flatMap(({ look, name }, i) => [
    i > 0 ? ", " : "",
    swatch(look, ran),
    h("b", {}, name),
  ]);
  if (!ran) return h("span", { class: "ci-skipped" }, ...names, ` – ${clause(sentence)}`);
  const change = before === after ? `– ${clause(sentence)}` : `→ ${short(after)}`;
  return h("span", { title: `${exact(before)} → ${exact(after)} tokens` }, ...names, ` ${change}`);
};

/** A sentence as part of another one. */
const clause = (sentence: string): string =>
  sentence === "" ? "the same" : sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");

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
