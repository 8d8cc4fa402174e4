// Titles of blocks, asked for in pages as they come into sight and kept.

import type { BlockTitle } from "../model/block-titles";
import type { Requests } from "../payloads/requests";

const PAGE = 64;

export interface BlockTitles {
  get(row: number): BlockTitle | undefined;
  /** Forgets everything; there are `rows` rows now. */
  clear(rows: number): void;
}

export const makeBlockTitles = (requests: Requests, arrived: () => void): BlockTitles => {
  let known = new Map<number, BlockTitle>();
  let asked = new Set<number>();
  let rows = 0;

  const ask = async (page: number) => {
    const mine = known;
    asked.add(page);
    try {
      const reply = await requests.ask("rows", { from: page * PAGE, to: Math.min(rows, (page + 1) * PAGE) });
      if (mine !== known) return;
      reply.rows.forEach((label, i) => {
        known.set(reply.from + i, label);
      });
      arrived();
    } catch {
      // The row keeps its section and its numbers; the page is asked for again when it is next in sight.
      if (mine === known) asked.delete(page);
    }
  };

  return {
    get(row) {
      const label = known.get(row);
      const page = Math.floor(row / PAGE);
      if (label === undefined && !asked.has(page)) void ask(page);
      return label;
    },
    clear(count) {
      known = new Map();
      asked = new Set();
      rows = count;
    },
  };
};
