// One event of a replay in full: what happened, what it did to the context, and the stages that did it.
import { exact, plural } from "../../model/format";
import { compactionOf, type Run, type Spot, stateAt } from "../../model/run";
import type { RunEvent } from "../../payloads/types";
import { h } from "../../ui/dom";
import { tabulate } from "../../ui/stages";
import { sayChange } from "./events";

/** `look` plans at the moment of the event in the session itself. */
export const tellMoment = (run: Run, spot: Spot, look: (at: string) => void): HTMLElement[] => {
  const event = run.events[spot.event];
  if (event === undefined) {
    const none = run.events.length === 0 ? "Nothing happened in this replay." : "No event at this step.";
    return [h("p", { class: "ci-quiet" }, none)];
  }
  const compaction = compactionOf(run, spot.event);
  const change = sayChange(event, exact);
  const name = event.name === "" ? [] : [h("span", { class: "ci-quiet" }, `named ${event.name}`)];
  const parts: HTMLElement[] = [
    h("p", { class: "ci-title" }, h("b", {}, event.label), " ", ...name),
    h("p", {}, event.sentence),
  ];
  if (change !== "") parts.push(h("p", { class: "ci-number ci-change" }, `${change} tokens`));
  parts.push(tellDetails(run, event));
  if (compaction !== undefined) {
    parts.push(h("p", { class: "ci-quiet" }, compaction.sentence));
    if (compaction.stages.length > 0) parts.push(tabulate(compaction.stages));
  }
  if (event.at !== "") {
    const button = h(
      "button",
      { class: "ci-button", "data-testid": "look", title: `Plan at turn ${event.turn + 1}` },
      "Look at this moment",
    );
    button.addEventListener("click", () => look(event.at));
    parts.push(button);
  }
  return parts;
};

/** Who was asked, what belongs together, and whatever else is audited of an event. */
const tellDetails = (run: Run, { step, provider, model, correlation, data }: RunEvent): HTMLElement => {
  const { retention, ...rest } = data;
  const offers = stateAt(run, step)?.actions?.join(" · ");
  const facts = Object.entries({
    ...{ provider, model, correlation },
    ...rest,
    ...(retention ? { "reasoning by turn": sayRetention(retention as Record<string, object>) } : {}),
    ...(offers ? { "the user may": offers } : {}),
  });
  const told = facts.filter(([, value]) => value !== "" && value !== null);
  return h(
    "dl",
    { class: "ci-details", "data-testid": "event-details" },
    ...told.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, sayValue(value))]),
  );
};

/** "turn 1: 1 summarised; turn 2: 1 verbatim". */
const sayRetention = (turns: Record<string, object>): string =>
  Object.entries(turns)
    .map(([turn, fates]) => {
      const parts = Object.entries(fates).filter(([, blocks]) => blocks > 0);
      return `turn ${Number(turn) + 1}: ${parts.map(([fate, blocks]) => `${blocks} ${fate}`).join(", ")}`;
    })
    .join("; ");

const sayValue = (value: unknown): string => {
  if (typeof value === "number") return exact(Math.round(1000 * value) / 1000);
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** What the replay found wrong, and how it stands beside the recorded compactions; each with its step to go to. */
export const tellFindings = (run: Run, go: (step: number) => void): HTMLElement[] => {
  const tell = (step: number, ...words: (Node | string)[]) => {
    const where = h("button", { class: "ci-link" }, `turn ${(run.turn[step] ?? 0) + 1}`);
    where.addEventListener("click", () => go(step));
    return h("li", {}, where, " ", ...words);
  };
  const found = run.findings.map(({ kind, step, sentence }) =>
    tell(step, h("b", { class: "ci-bad" }, kind), " ", sentence),
  );
  const more = run.counts.findings - found.length;
  if (more > 0) found.push(h("li", {}, `${plural(more, "finding")} more in run.findings`));
  const beside = run.against.map(({ step, sentence }) => tell(step, h("b", {}, "◆"), " ", sentence));
  return [...found, ...beside];
};
