// A shortened block: its text with what is gone struck out and what is new underlined. Python found the pieces.
import { exact } from "../model/format";
import { makeCopy } from "./copy";
import { h, listen } from "./dom";

export type Pieces = readonly (readonly ["same" | "gone" | "new", string])[];

const TAGS = { same: "span", gone: "del", new: "ins" } as const;
/** Of a longer piece only the ends are shown until someone asks. */
const LONG = { same: 600, gone: 480, new: 2400 } as const;
const END = 180;

export const showDiff = (name: string, pieces: Pieces): HTMLElement => {
  const text = h("pre", { tabindex: 0, "aria-label": name, "data-testid": "textdiff" });
  text.append(...pieces.flatMap(([kind, words]) => drawPiece(kind, words)));
  const lengths = `${exact(countOf(joinPieces(pieces, "new")))} → ${exact(countOf(joinPieces(pieces, "gone")))} characters`;
  return h(
    "figure",
    { class: "ci-text ci-diff" },
    h(
      "figcaption",
      {},
      `${name} · ${lengths} `,
      makeCopy("copy before", () => [joinPieces(pieces, "new"), "copied"]),
      " ",
      makeCopy("copy after", () => [joinPieces(pieces, "gone"), "copied"]),
    ),
    text,
  );
};

/** The text without the pieces of one kind: without the new ones what was, without the gone ones what is. */
export const joinPieces = (pieces: Pieces, without: "gone" | "new"): string =>
  pieces.map(([kind, text]) => (kind === without ? "" : text)).join("");

const drawPiece = (kind: keyof typeof TAGS, words: string): HTMLElement[] => {
  const node = h(TAGS[kind], {}, words);
  if (words.length <= LONG[kind]) return [node];
  // A pair of code units is one character, which no cut may go through.
  const [head, tail] = [cutAt(words, END), cutAt(words, words.length - END)];
  const hidden = countOf(words.slice(head, tail));
  const what = kind === "same" ? "the same" : kind;
  const more = h("button", { class: "ci-link ci-elided" }, `⋯ ${exact(hidden)} characters ${what} ⋯`);
  listen(more, "click", () => {
    node.textContent = words;
    node.closest("pre")?.focus();
  });
  node.replaceChildren(words.slice(0, head), more, words.slice(tail));
  return [node];
};

/** Characters as Python counts them. */
const countOf = (text: string): number => [...text].length;

const cutAt = (text: string, at: number): number => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
};
