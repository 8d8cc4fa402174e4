// What stands in a panel before there is a workbench, or in its place.
import { h } from "../views/dom";

export interface Way {
  readonly label: string;
  readonly go: () => void;
}

export const showOpening = (node: HTMLElement, name: string): void => {
  const sentence = h("p", {}, name);
  show(
    node,
    h("div", { class: "ci-blank ci-late", role: "status" }, h("b", {}, "Opening the session"), sentence),
  );
};

export const showFailure = (
  node: HTMLElement,
  name: string,
  sentence: string,
  ways: readonly Way[],
): void => {
  const buttons = ways.map(({ label, go }) => {
    const button = h("button", { type: "button", class: "ci-button" }, label);
    button.addEventListener("click", go);
    return button;
  });
  const title = h("b", {}, `${name} could not be opened`);
  const reason = h("p", { "data-testid": "failure" }, sentence);
  show(
    node,
    h("div", { class: "ci-blank", role: "alert" }, title, reason, h("p", { class: "ci-ways" }, ...buttons)),
  );
};

const show = (node: HTMLElement, blank: HTMLElement): void => {
  node.replaceChildren(h("div", { class: "ci ci-empty" }, blank));
};
