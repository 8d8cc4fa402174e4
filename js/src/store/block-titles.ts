// Titles of blocks, asked for in pages as they come into sight and kept.

import type { BlockTitle } from "../model/block-titles";
import type { Requests } from "../payloads/requests";

const PAGE = 64;

export const makeBlockTitles = (requests: Requests, arrived: () => void) => {
  let titles = new Map<number, BlockTitle>();
  let requested = new Set<number>();
  let rows = 0;

  const ask = async (page: number) => {
    const currentTitles = titles;
    requested.add(page);
    try {
      const reply = await requests.ask("rows", { from: page * PAGE, to: Math.min(rows, (page + 1) * PAGE) });
      if (currentTitles !== titles) return;
      reply.rows.forEach((label, i) => {
        titles.set(reply.from + i, label);
      });
      arrived();
    } catch {
      // The row keeps its section and its numbers; the page is asked for again when it is next in sight.
      if (currentTitles === titles) requested.delete(page);
    }
  };

  return {
    get(row: number): BlockTitle | undefined {
      const label = titles.get(row);
      const page = Math.floor(row / PAGE);
      if (label === undefined && !requested.has(page)) void ask(page);
      return label;
    },
    /** Forgets everything; there are `count` rows now. */
    clear(count: number) {
      titles = new Map();
      requested = new Set();
      rows = count;
    },
  };
};
