// A text of the transcript. It is data: set as text, shown in a box, and said to be cut where it is.
import { exact } from "../core/format";
import type { Body } from "../core/wire";
import { h } from "./dom";

export const showBody = (name: string, body: Body | null, gone: string): HTMLElement => {
  const title = h("figcaption", {}, body === null ? name : `${name} · ${exact(body.total)} characters`);
  if (body === null) return h("figure", { class: "ci-text" }, title, h("p", { class: "ci-quiet" }, gone));
  const shown = [...body.text].length;
  const text = h("pre", { tabindex: 0, "aria-label": name });
  text.textContent = body.text === "" ? "(empty)" : body.text;
  const figure = h("figure", { class: "ci-text" }, title, text);
  if (shown < body.total) {
    figure.append(
      h("p", { class: "ci-quiet" }, `${exact(body.total - shown)} characters are left out here.`),
    );
  }
  return figure;
};

/** What to know of a text, beside it; nothing where there is nothing to know. */
export const showFacts = (facts: readonly (readonly [string, string])[]): HTMLElement[] =>
  facts.length === 0
    ? []
    : [
        h(
          "dl",
          { class: "ci-known", "data-testid": "known" },
          ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
        ),
      ];

export const showProblem = (sentence: string): HTMLElement =>
  h("p", { class: "ci-bad", role: "alert" }, sentence);

export const showWaiting = (what: string): HTMLElement =>
  h("p", { class: "ci-quiet" }, `Asking Python for ${what} …`);
