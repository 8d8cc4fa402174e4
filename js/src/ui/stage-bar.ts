// The stages of a policy: as a bar and its key under the gauge for the plan, as a small table for a compaction.
import { exact, short } from "../model/format";
import type { StagePayload } from "../payloads/types";
import { h, setShown } from "./dom";
import { classOf, swatch } from "./stage-looks";

/** "input 180k · snip → 150k · auto, collapse: not needed, the target was met · output 150k". */
export const makeStages = () => {
  const bar = h("div", { class: "ci-taken", "aria-hidden": "true" });
  const key = h("p", { class: "ci-stages", "data-testid": "stages", "aria-label": "Stages of the plan" });
  const node = h("div", { class: "ci-staged" }, bar, key);
  return {
    node,
    draw({ plan }: { plan: { stages: readonly StagePayload[] } }, parts: ReadonlySet<string>) {
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

/** Neighbours that did not run for the same reason are listed together. */
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
