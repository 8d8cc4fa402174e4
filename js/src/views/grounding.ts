// A recorded summary as it was checked: what it names and nothing before it does is underlined, and told below.
import type { GroundingReply } from "../core/factwire";
import { h } from "./dom";

const MOST = 12;

/** Marks the text in a figure that shows it; Python found the places, so nothing is searched here. */
export const markUnfounded = (figure: HTMLElement, text: string, { marks, read }: GroundingReply): void => {
  const pre = figure.querySelector("pre");
  if (pre === null || !read) return;
  const parts: (Node | string)[] = [];
  let from = 0;
  for (const { start, end, sentence } of [...marks].sort((a, b) => a.start - b.start)) {
    if (start < from) continue;
    parts.push(
      text.slice(from, start),
      h("u", { class: "ci-unfounded", title: sentence }, text.slice(start, end)),
    );
    from = end;
  }
  if (marks.length > 0) pre.replaceChildren(...parts, text.slice(from));
  const more = marks.length - MOST;
  const told = marks.slice(0, MOST).map(({ sentence }) => h("li", {}, sentence));
  figure.append(
    marks.length === 0
      ? h("p", { class: "ci-quiet" }, "What it names is all named by what it summarises.")
      : h("ul", { class: "ci-doubts", "aria-label": "Without ground", "data-testid": "grounding" }, ...told),
    ...(more > 0 ? [h("p", { class: "ci-quiet" }, `and ${more} more`)] : []),
  );
};
