// Content of a panel before the workbench is ready, or instead of it.
import type { TranslationBundle } from "@jupyterlab/translation";
import { h } from "../ui/dom";

export interface Way {
  readonly label: string;
  readonly go: () => void;
}

export const showOpening = (node: HTMLElement, name: string, trans: TranslationBundle): void => {
  const sentence = h("p", {}, name);
  show(
    node,
    h(
      "div",
      { class: "ci-blank ci-late", role: "status" },
      h("b", {}, trans.__("Opening the session")),
      sentence,
    ),
  );
};

/** The sentence's parts after a dash, such as each reader's objection, are listed below it. */
export const showFailure = (
  node: HTMLElement,
  name: string,
  sentence: string,
  ways: readonly Way[],
  trans: TranslationBundle,
): void => {
  const buttons = ways.map(({ label, go }) => {
    const button = h("button", { class: "ci-button" }, label);
    button.addEventListener("click", go);
    return button;
  });
  const [what = "", ...why] = sentence.split(/ — |; /);
  const reasons = why.map(reason => h("li", {}, reason));
  show(
    node,
    h(
      "div",
      { class: "ci-blank", role: "alert" },
      h("b", {}, trans.__("%1 could not be opened", name)),
      h("p", { "data-testid": "failure" }, what),
      ...(reasons.length > 0 ? [h("ul", { class: "ci-small" }, ...reasons)] : []),
      h("p", { class: "ci-ways" }, ...buttons),
    ),
  );
};

const show = (node: HTMLElement, blank: HTMLElement): void => {
  node.replaceChildren(h("div", { class: "ci ci-empty" }, blank));
};
