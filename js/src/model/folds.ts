// Rows of the list of blocks: one per block, long runs of the same fate folded into one, the cuts between them.

import type { Range } from "./axis";
import { type Compared, compare } from "./compare";
import { type Plan, type Scene, turnOfRow } from "./plan";

export interface Row {
  kind: "row";
  row: number;
}

/** Rows `from` up to but not including `to`: equal on both sides, or of one turn and alike. */
export interface Fold {
  kind: "fold";
  from: number;
  to: number;
  same: boolean;
  open: boolean;
  /** Tokens on the left and on the right. */
  before: number;
  after: number;
  /** Rows per pair of fates: left × 256 + right. */
  fates: Map<number, number>;
}

/** The cut of a plan; `other` for plan B. */
export interface CutLine {
  kind: "cut";
  other: boolean;
}

export type Item = Row | Fold | CutLine;

const SHORTEST_FOLD = 3;
/** These outcomes say everything about a block: there is no text to compare. */
const PLAIN = new Set(["verbatim", "summarised", "dropped"]);
const PAIR = 256;

export interface Folding {
  items: Item[];
  /** Blocks that are not the same on both sides, and the tokens that the right has more. */
  differing: number;
  delta: number;
  compared: Compared;
}

/** Only rows from `start` up to but not including `stop`. A fold is open when it covers one of the `opened` rows, so that it stays open while its edges move with the cut. */
export const foldRows = (
  scene: Scene,
  plan: Plan,
  place: number,
  opened: ReadonlySet<number>,
  other: Plan | null = null,
  [start, stop]: Range = [0, scene.blocks],
): Folding => {
  const compared = compare(scene, plan, place, other);
  const plain = scene.fates.map(fate => PLAIN.has(fate.id));
  const cuts = [{ row: rowOfPlace(scene, place), line: { kind: "cut", other: false } as CutLine }];
  if (other !== null)
    cuts.push({ row: rowOfPlace(scene, other.cut.place), line: { kind: "cut", other: true } });
  const items: Item[] = [];
  let [differing, delta] = [0, 0];
  const cutAt = (row: number) => {
    for (const cut of cuts) if (cut.row === row) items.push(cut.line);
  };
  for (let from = start; from < stop; ) {
    cutAt(from);
    const limit = Math.min(stop, ...cuts.map(({ row }) => row).filter(row => row > from));
    const fold = measureRun(scene, compared, from, limit, plain);
    if (!fold.same) {
      differing += fold.to - from;
      delta += fold.after - fold.before;
    }
    const folds = fold.to - from >= SHORTEST_FOLD;
    fold.open = folds && covers(fold, opened);
    if (folds) items.push(fold);
    if (!folds || fold.open) for (let row = from; row < fold.to; row++) items.push({ kind: "row", row });
    from = fold.to;
  }
  if (stop === scene.blocks) cutAt(stop);
  return { items, differing, delta, compared };
};

const rowOfPlace = (scene: Scene, place: number): number => scene.entryStart[place] ?? scene.blocks;

const covers = ({ from, to }: Fold, rows: Iterable<number>): boolean => {
  for (const row of rows) if (from <= row && row < to) return true;
  return false;
};

/** The run that starts at `from`; a replaced block is a run of its own. */
const measureRun = (
  scene: Scene,
  compared: Compared,
  from: number,
  limit: number,
  plain: readonly boolean[],
): Fold => {
  const run: Fold = {
    ...{ kind: "fold", from, to: from, same: false, open: false, before: 0, after: 0, fates: new Map() },
  };
  let kind = "";
  for (let row = from; row < limit; row++) {
    const [left, right] = [compared.left(row), compared.right(row)];
    const same = left.fate === right.fate && left.tokens === right.tokens;
    const differs = left.fate !== right.fate && plain[left.fate] && plain[right.fate];
    const now = same ? "same" : differs ? kindOf(compared, left.fate * PAIR + right.fate) : "";
    if (row === from) [kind, run.same] = [now, same];
    else if (now !== kind || now === "") break;
    // Rows that differ are listed turn by turn, as an outline. Equal rows need no outline.
    else if (!same && turnOfRow(scene, row) !== turnOfRow(scene, from)) break;
    run.before += left.tokens;
    run.after += right.tokens;
    const pair = left.fate * PAIR + right.fate;
    run.fates.set(pair, (run.fates.get(pair) ?? 0) + 1);
    run.to = row + 1;
  }
  return run;
};

/** Groups rows that are gone, or that two plans decide alike. */
const kindOf = ({ two }: Compared, pair: number): string => (two ? String(pair) : "gone");

/** The fates of a fold with their numbers of rows, left and right, in the order of their codes. */
export const fatesOf = ({ fates }: Fold): { left: number; right: number; rows: number }[] =>
  [...fates]
    .sort(([a], [b]) => a - b)
    .map(([pair, rows]) => ({ left: Math.floor(pair / PAIR), right: pair % PAIR, rows }));

/** The item that shows `row`: its own, or the closed fold that hides it; -1 when there is neither. */
export const itemOfRow = (items: readonly Item[], row: number): number =>
  items.findIndex(item =>
    item.kind === "row"
      ? item.row === row
      : item.kind === "fold" && !item.open && item.from <= row && row < item.to,
  );

/** The position of an item in another folding: the item that covers its first row, or -1. */
export const findItem = (items: readonly Item[], item: Item | undefined): number => {
  if (item === undefined) return -1;
  if (item.kind === "cut")
    return items.findIndex(entry => entry.kind === "cut" && entry.other === item.other);
  const row = item.kind === "row" ? item.row : item.from;
  const fold =
    item.kind === "fold" ? items.findIndex(entry => entry.kind === "fold" && covers(entry, [row])) : -1;
  return fold < 0 ? itemOfRow(items, row) : fold;
};

/** The next item on one side of `index` that stands for something that differs, wrapping around; -1 for nothing. */
export const nextDiffering = (
  compared: Compared,
  items: readonly Item[],
  index: number,
  way: 1 | -1 = 1,
): number => {
  const count = items.length;
  for (let i = 1; i <= count; i++) {
    const at = (((index + i * way) % count) + count) % count;
    const item = items[at] as Item;
    if (item.kind === "row" && !compared.isSame(item.row)) return at;
    if (item.kind === "fold" && !item.open && !item.same) return at;
  }
  return -1;
};
