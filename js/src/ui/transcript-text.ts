// A text of the transcript. It is data: set as text, shown in a box, and marked if it is truncated.
import { exact } from "../model/format";
import type { Body } from "../payloads/types";
import { makeCopy } from "./copy";
import { h } from "./dom";

export const showBody = (name: string, body: Body | null, gone: string): HTMLElement => {
  if (body === null)
    return h("figure", { class: "ci-text" }, h("figcaption", {}, name), h("p", { class: "ci-quiet" }, gone));
  const title = h(
    "figcaption",
    {},
    `${name} · ${exact(body.total)} characters `,
    makeCopy("copy", () => copyOf(body)),
  );
  const text = h("pre", { tabindex: 0, "aria-label": name });
  text.textContent = body.text === "" ? "(empty)" : body.text;
  const figure = h("figure", { class: "ci-text" }, title, text);
  if (leftOut(body) > 0) figure.append(h("p", { class: "ci-quiet" }, sayLeftOut(body)));
  return figure;
};

/** Characters of the text that were not sent. */
export const leftOut = (body: Body): number => Math.max(0, body.total - [...body.text].length);

export const sayLeftOut = (body: Body): string => `${exact(leftOut(body))} characters are left out here.`;

/** The text, and the message after copying it: how much was copied, if it is not all. */
export const copyOf = (body: Body): [string, string] => [
  body.text,
  leftOut(body) > 0 ? `copied the first ${exact([...body.text].length)}` : "copied",
];

/** Notes on a text, shown next to it; nothing if there are none. */
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

export const showWaiting = (what: string): HTMLElement => h("p", { class: "ci-quiet" }, `Loading ${what} …`);
