// The frame: the position of each view. Below the error lines is either the workbench or a blank.
import type { Screen } from "../store/store";
import type { Actions, View } from "../store/view";
import { h, setAttributes, setShown, setText } from "../ui/dom";
import { showTitles } from "../ui/tooltip";
import type { Dock } from "./dock";
import { makeProgress } from "./progress";

type Place = "header" | "gauge" | "overview" | "timeline" | "sentence" | "recipe";
export type Placed = Record<Place, View>;

export interface Frame extends Screen {
  /** A short sentence about what has just been done; gone after a while, or with "". */
  say(words: string, undo?: () => void): void;
  /** Has a sentence read out, after what is being read; at most one a second. */
  announce(words: string): void;
}

const LOADING = ["Reading the session", "Its tokens are being counted; the picture follows."] as const;
const A_WHILE = 4000;
/** Between two announcements. */
const BREATH = 1000;

export const makeFrame = (views: Placed, dock: Dock, actions: Actions, help: HTMLElement): Frame => {
  const progress = makeProgress(actions);
  const bench = h(
    "div",
    { class: "ci-bench" },
    views.header.node,
    views.gauge.node,
    views.overview.node,
    views.timeline.node,
    views.sentence.node,
    dock.node,
    views.recipe.node,
  );
  const failure = h("b", {}, "This session could not be shown");
  const problem = h("span", { "data-testid": "error" });
  const alert = h("div", { class: "ci-error", role: "alert", hidden: true }, failure, problem);
  const waiting = h("p", { class: "ci-waiting" });
  const status = h("p", { class: "ci-said", "data-testid": "said" });
  // The one live region: whatever is read out unasked is read out here.
  const announcement = h("p", {
    class: "ci-spoken",
    role: "status",
    "aria-live": "polite",
    "data-testid": "spoken",
  });
  const [title, sentence] = LOADING;
  const blank = h("div", { class: "ci-blank" }, h("b", {}, title), h("p", {}, sentence));
  const root = h(
    "div",
    { class: "ci mathjax_ignore tex2jax_ignore", tabindex: -1, lang: "en" },
    ...[progress.node, alert, waiting, blank, bench, status, announcement, help],
  );
  showTitles(root);
  let hasViews = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let speaking: ReturnType<typeof setTimeout> | undefined;
  let spokenAt = Number.NEGATIVE_INFINITY;

  const announce = (words: string) => {
    // What was to be said has been overtaken by what there is to say now.
    clearTimeout(speaking);
    const speak = () => {
      spokenAt = performance.now();
      setText(announcement, words);
    };
    const wait = spokenAt + BREATH - performance.now();
    if (wait <= 0) speak();
    else speaking = setTimeout(speak, wait);
  };

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
    announce,
    wait(words) {
      setText(waiting, words);
      if (words !== "") announce(words);
    },
    setBusy: busy => setAttributes(root, { "aria-busy": busy ? "true" : undefined }),
    showWork: work => progress.show(work),
    say(words, undo) {
      setText(status, words);
      clearTimeout(timer);
      if (words === "") return;
      announce(words);
      timer = setTimeout(() => setText(status, ""), undo === undefined ? A_WHILE : 2 * A_WHILE);
      if (undo === undefined) return;
      status.append(
        " ",
        h("button", { class: "ci-link", "data-testid": "said-undo", onclick: undo }, "Undo"),
      );
    },
  };
};
