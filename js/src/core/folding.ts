// Rows of the before/after list: one per block, long runs of the same fate folded into one, the cut between them.
import { fateAt, type Plan, type Scene, turnOfRow } from "./state";

export interface Row {
  kind: "row";
  row: number;
}

/** Rows `from` up to but not including `to`: all unchanged (`same`), or of one turn and all gone, however. */
export interface Fold {
  kind: "fold";
  from: number;
  to: number;
  same: boolean;
  open: boolean;
  before: number;
  after: number;
  /** Rows per fate code. */
  fates: Map<number, number>;
}

export interface CutLine {
  kind: "cut";
}

export type Item = Row | Fold | CutLine;

const SHORTEST_FOLD = 3;
const GONE = new Set(["summarised", "dropped"]);

export interface Folding {
  items: Item[];
  differing: number;
}

/** A fold is open when it covers one of the `opened` rows, so that it stays open while its edges move with the cut. */
export const foldRows = (scene: Scene, plan: Plan, place: number, opened: ReadonlySet<number>): Folding => {
  const gone = scene.fates.map(fate => GONE.has(fate.id));
  const cutRow = scene.entryStart[place] ?? scene.blocks;
  const items: Item[] = [];
  let differing = 0;
  for (let from = 0; from < scene.blocks; ) {
    if (from === cutRow) items.push({ kind: "cut" });
    const fold = measureRun(scene, plan, place, from, from < cutRow ? cutRow : scene.blocks, gone);
    if (!fold.same) differing += fold.to - from;
    const folds = fold.to - from >= SHORTEST_FOLD;
    fold.open = folds && covers(fold, opened);
    if (folds) items.push(fold);
    if (!folds || fold.open) for (let row = from; row < fold.to; row++) items.push({ kind: "row", row });
    from = fold.to;
  }
  if (cutRow >= scene.blocks) items.push({ kind: "cut" });
  return { items, differing };
};

const covers = ({ from, to }: Fold, rows: ReadonlySet<number>): boolean => {
  for (const row of rows) if (from <= row && row < to) return true;
  return false;
};

/** The run that starts at `from`; a block that is neither unchanged nor gone is a run of its own. */
const measureRun = (
  scene: Scene,
  plan: Plan,
  place: number,
  from: number,
  limit: number,
  gone: readonly boolean[],
): Fold => {
  const run: Fold = {
    kind: "fold",
    from,
    to: from,
    same: false,
    open: false,
    before: 0,
    after: 0,
    fates: new Map(),
  };
  let kind = "";
  for (let row = from; row < limit; row++) {
    const { fate, tokens } = fateAt(scene, plan, row, place);
    const before = scene.blockTokens[row] as number;
    const same = isSame(scene, plan, place, row);
    const now = same ? "same" : gone[fate] ? "gone" : "single";
    if (row === from) [kind, run.same] = [now, same];
    else if (now !== kind || now === "single") break;
    // What is gone is told turn by turn: an outline of the older part. What stays needs no outline.
    else if (now === "gone" && turnOfRow(scene, row) !== turnOfRow(scene, from)) break;
    run.before += before;
    run.after += tokens;
    run.fates.set(fate, (run.fates.get(fate) ?? 0) + 1);
    run.to = row + 1;
  }
  return run;
};

/** The item that shows `row`: its own, or the closed fold that hides it; -1 when there is neither. */
export const itemOfRow = (items: readonly Item[], row: number): number =>
  items.findIndex(item =>
    item.kind === "row"
      ? item.row === row
      : item.kind === "fold" && !item.open && item.from <= row && row < item.to,
  );

/** The first row that an item stands for, by which it is found again in another folding; -1 for the cut. */
export const rowOfItem = (item: Item | undefined): number =>
  item?.kind === "row" ? item.row : item?.kind === "fold" ? item.from : -1;

/** The next item after `index` that stands for something that differs, wrapping around; -1 when nothing does. */
export const nextDiffering = (
  scene: Scene,
  plan: Plan,
  place: number,
  items: readonly Item[],
  index: number,
) => {
  for (let i = 1; i <= items.length; i++) {
    const at = (index + i) % items.length;
    const item = items[at] as Item;
    if (item.kind === "row" && !isSame(scene, plan, place, item.row)) return at;
    if (item.kind === "fold" && !item.open && !item.same) return at;
  }
  return -1;
};

/** True for a block that stands after the cut as it stood before. */
export const isSame = (scene: Scene, plan: Plan, place: number, row: number): boolean => {
  const { fate, tokens } = fateAt(scene, plan, row, place);
  return scene.fates[fate]?.id === "verbatim" && tokens === scene.blockTokens[row];
};
