// The layout: which view stands where. Below the two lines for trouble there is either the bench or a blank.
import { h, setAttributes, setShown, setText } from "./dom";
import type { View } from "./picture";

export type Named = Record<
  | "header"
  | "gauge"
  | "stages"
  | "legend"
  | "overview"
  | "lanes"
  | "strip"
  | "handle"
  | "reason"
  | "fatekey"
  | "replay"
  | "rules"
  | "fates"
  | "block"
  | "recipe"
  | "notices",
  View
>;

export interface Bench {
  readonly root: HTMLElement;
  /** Shows the views, or in their place what is going on. */
  showViews(shown: boolean): void;
  /** A sentence about what went wrong, "" for nothing. */
  complain(sentence: string): void;
  /** A sentence about waiting, "" for nothing. */
  wait(sentence: string): void;
  setBusy(busy: boolean): void;
}

const LOADING = ["Reading the session", "Its tokens are being counted; the picture follows."] as const;

export const makeBench = (views: Named): Bench => {
  const { header, gauge, legend, overview, lanes, strip, handle, reason, fatekey, rules, fates, block } =
    views;
  const cut = h("div", { class: "ci-label" }, h("span", {}, "cut"));
  const bench = h(
    "div",
    { class: "ci-bench" },
    header.node,
    h("div", { class: "ci-sticky" }, gauge.node),
    views.stages.node,
    legend.node,
    overview.node,
    h(
      "section",
      { class: "ci-turns", "aria-label": "Turns" },
      lanes.node,
      h("div", { class: "ci-lined ci-cuts" }, cut, strip.node),
      h("div", { class: "ci-stage" }, handle.node),
    ),
    h("div", { class: "ci-under" }, reason.node, fatekey.node),
    views.replay.node,
    h("div", { class: "ci-panels" }, rules.node, fates.node, block.node),
    views.recipe.node,
    views.notices.node,
  );
  const failure = h("b", {}, "This session could not be shown");
  const problem = h("span", { "data-testid": "error" });
  const alert = h("div", { class: "ci-error", role: "alert", hidden: true }, failure, problem);
  const waiting = h("p", { class: "ci-waiting", role: "status" });
  const [title, sentence] = LOADING;
  const blank = h("div", { class: "ci-blank", role: "status" }, h("b", {}, title), h("p", {}, sentence));
  // JupyterLab takes keys before anything in a cell hears them, unless the cell asks it not to.
  const root = h("div", { class: "ci", "data-lm-suppress-shortcuts": "true" }, alert, waiting, blank, bench);
  let hasViews = false;

  const arrange = () => {
    const troubled = problem.textContent !== "";
    setShown(bench, hasViews);
    setShown(alert, troubled);
    setShown(failure, !hasViews);
    setShown(blank, !hasViews && !troubled);
  };
  arrange();

  return {
    root,
    showViews(shown) {
      hasViews = shown;
      arrange();
    },
    complain(words) {
      setText(problem, words);
      arrange();
    },
    wait: words => setText(waiting, words),
    setBusy: busy => setAttributes(root, { "aria-busy": busy ? "true" : undefined }),
  };
};
