// What a replay says of itself around its picture: how it ended, what it took, and the key to lines, marks and states.
import { exact, short } from "../../model/format";
import { type Run, reachOf } from "../../model/run";
import { h, toneChip } from "../../ui/dom";

export const sayStatus = (run: Run): string =>
  run.steps === 0 ? "There is no step to replay." : `${run.policyTitle}: ${run.statusSentence}`;

/** How many events there are; and, where Python sent only the first of them, how many are here. */
export const sayCount = (run: Run): string => {
  const all = run.counts.events;
  return all > run.events.length
    ? `${exact(run.events.length)} here, ${exact(all)} in run.events`
    : exact(all);
};

/** The height of the picture, and the limits that are too far up to be drawn in it. */
export const sayScale = (run: Run): string => {
  const { top, beyond } = reachOf(run);
  return [`to ${short(top)}`, ...beyond.map(({ label, tokens }) => `${label} ${short(tokens)}`)].join(", ");
};

export const fillFacts = (node: HTMLElement, run: Run) =>
  node.replaceChildren(
    ...run.summary.map(([name, value]) => h("div", {}, h("div", { class: "ci-key" }, name), value)),
  );

/** The key: what is whose line, what is whose mark, and the states that occur. */
export const fillKey = (node: HTMLElement, run: Run) => {
  const used = new Set(run.state.subarray(0, run.lived));
  node.replaceChildren(
    h("span", {}, h("i", { class: "ci-line ci-recorded", "aria-hidden": "true" }), "recorded, ◆ compaction"),
    h("span", {}, h("i", { class: "ci-line", "aria-hidden": "true" }), "replayed, ▼ compaction"),
    ...(run.compactions.some(({ adopted }) => !adopted) ? [h("span", {}, "▽ not adopted")] : []),
    ...run.states.flatMap(({ label, mark, tone }, state) =>
      used.has(state) ? [h("span", {}, toneChip(tone), h("b", {}, mark), ` ${label}`)] : [],
    ),
    h("span", { class: "ci-note" }, "← → step · Page ↑ ↓ turn · , and . event"),
  );
};
