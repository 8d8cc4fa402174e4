// Search over what a page holds: the texts of its one moment, and the turns that they begin. Python does it elsewhere.

import { refOf } from "../model/block-refs";
import { type Scene, turnOfRow } from "../model/plan";
import type { SearchHit, SearchReply } from "../payloads/types";
import type { PageContent } from "./data";

/** Hits that are given; characters of a preview before the first match, and in all; rows of the list, and of a group. */
const [MOST, BEFORE, PREVIEW, ROWS, FAIR] = [200, 18, 180, 12, 3];

/** Special characters of a pattern, and characters that a line cannot show. */
const [SYNTAX, BLANK] = [/[\^$\\.*+?()[\]{}|/]/g, /[\s\p{C}]/gu];

/** Every block whose text or name holds the words, whatever the case of their letters; `total` counts all. */
export const searchPage = (
  content: PageContent,
  scene: Scene,
  at: string,
  query: string,
  keys: readonly string[],
): SearchReply => {
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
    const [label, preview] = content.rows[row] ?? ["", ""];
    const shown = isNamed ? { preview, spans: [] } : cutAround(body[0], first, pattern);
    hits.push({ ref: refOf(scene, row), row, at, turn: turnOfRow(scene, row), label, ...shown });
  }
  const turns = hits.filter(({ row, turn }) => row === firstOfTurn(scene, turn));
  const pressed = words === "" ? [] : [...keys.keys()].filter(at => keys[at]?.match(pattern));
  const few = [turns.length, pressed.length].map(count => Math.min(count, FAIR));
  const blocks = Math.min(hits.length, ROWS - few.reduce((sum, count) => sum + count));
  return { query, hits, total, facts: [], turns, keys: pressed, rows: [0, blocks, ...few] };
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
