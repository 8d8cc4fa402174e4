// A checked recorded summary: statements without earlier support are underlined, and listed below.

import { exact } from "../../model/format";
import type { GroundingReply } from "../../payloads/types";
import { h } from "../../ui/dom";

const MOST = 12;

/** Marks the text in a figure that shows it; Python found the places, so nothing is searched here. */
export const markCheckedSummary = (
  figure: HTMLElement,
  text: string,
  reply: GroundingReply | Error,
): void => {
  const pre = figure.querySelector("pre");
  if (pre !== null && "marks" in reply && reply.marks.length > 0) {
    pre.replaceChildren(...underline(text, reply.marks));
    const items = reply.marks.slice(0, MOST).map(({ sentence }) => h("li", {}, sentence));
    figure.append(
      h("ul", { class: "ci-doubts", "aria-label": "Unsupported", "data-testid": "grounding" }, ...items),
    );
  }
  figure.append(...describeRest(reply).map(words => h("p", { class: "ci-quiet" }, words)));
};

const underline = (text: string, marks: GroundingReply["marks"]): (Node | string)[] => {
  const parts: (Node | string)[] = [];
  let from = 0;
  for (const { start, end, sentence } of [...marks].sort((a, b) => a.start - b.start)) {
    if (start < from) continue;
    const words = h("u", { class: "ci-unfounded", title: sentence }, text.slice(start, end));
    parts.push(text.slice(from, start), words);
    from = end;
  }
  return [...parts, text.slice(from)];
};

/** Sentences about what the list of marks does not show. */
const describeRest = (reply: GroundingReply | Error): string[] => {
  if (reply instanceof Error) return [`Its names were not checked: ${reply.message}`];
  const { marks, hidden, read, whole } = reply;
  if (!read) return ["It has no text that could be checked."];
  if (!whole) return ["Not checked: this file does not hold all that it summarises."];
  if (marks.length + hidden === 0)
    return ["Everything the summary mentions occurs in the summarised messages."];
  const [more, again] = [marks.length - MOST, marks.length > 0 ? " more" : ""];
  return [
    ...(more > 0 ? [`and ${exact(more)} more, underlined`] : []),
    ...(hidden > 0 ? [`${exact(hidden)}${again} unsupported in what is left out here`] : []),
  ];
};
