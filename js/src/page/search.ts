// Search over what a page holds: the facts and texts of its one moment, and its turns. Python does it elsewhere.

import { refOf } from "../model/block-refs";
import { type Scene, turnOfRow } from "../model/plan";
import type { FactHit, SearchHit, SearchReply } from "../payloads/types";
import type { PageContent } from "./data";

/** Hits that are given; characters of a preview before the first match, and in all. */
const [MOST, BEFORE, PREVIEW] = [200, 18, 180];

/** Special characters of a pattern, and characters that a line cannot show. */
const [SYNTAX, BLANK] = [/[\^$\\.*+?()[\]{}|/]/g, /[\s\p{C}]/gu];

/** A turn by its number: "turn 12", "12". */
const NUMBER = /^(?:turn )?(\d{1,6})$/i;

/** Every block whose text or name holds the words, whatever the case of their letters; `total` counts all. */
export const searchPage = (
  content: PageContent,
  scene: Scene,
  at: string,
  query: string,
  facts: FactHit[],
): SearchReply => {
  const describe = (row: number, shown?: { preview: string; spans: number[] }): SearchHit => {
    const [label, preview] = content.rows[row] ?? ["", ""];
    const turn = turnOfRow(scene, row);
    return { ref: refOf(scene, row), row, at, turn, label, ...(shown ?? { preview, spans: [] }) };
  };
  const words = query.trim();
  const pattern = new RegExp(words.replace(SYNTAX, "\\$&"), "giu");
  const hits: SearchHit[] = [];
  let total = 0;
  for (const [row, body] of words === "" ? [] : content.bodies.entries()) {
    const first = body[0].search(pattern);
    const isNamed = refOf(scene, row) === words;
    if (first < 0 && !isNamed) continue;
    total++;
    if (hits.length === MOST) continue;
    hits.push(describe(row, isNamed ? undefined : cutAround(body[0], first, pattern)));
  }
  const number = NUMBER.exec(words);
  const begun = number === null ? -1 : firstOfTurn(scene, Number(number[1]) - 1);
  const turns =
    begun >= 0 ? [describe(begun)] : hits.filter(({ row, turn }) => row === firstOfTurn(scene, turn));
  return { query, hits, total, facts, turns };
};

/** One line of the text around its first match, and the positions of the matched words. */
const cutAround = (text: string, first: number, pattern: RegExp) => {
  const start = Math.max(0, first - BEFORE);
  const line = `${start > 0 ? "…" : ""}${text.slice(start, start + PREVIEW).replace(BLANK, " ")}`;
  const spans = [...line.matchAll(pattern)].flatMap(match => [match.index, match.index + match[0].length]);
  return { preview: start + PREVIEW < text.length ? `${line}…` : line, spans };
};

/** The first block of a turn, -1 if this point in time begins in its middle. */
const firstOfTurn = (scene: Scene, turn: number): number => {
  const entry = scene.entryTurn.indexOf(turn);
  return entry < 0 ? -1 : (scene.entryStart[entry] as number);
};
