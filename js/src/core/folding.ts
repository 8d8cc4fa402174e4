// Rows of the before/after list: one per block, long runs of the same fate folded into one, the cut between them.
import { fateAt, type Plan, type Scene } from "./state";

export interface Row {
  kind: "row";
  row: number;
}

/** Rows `from` up to but not including `to`, all with `fate`; `same` when nothing about them changes. */
export interface Fold {
  kind: "fold";
  from: number;
  to: number;
  fate: number;
  same: boolean;
  open: boolean;
  before: number;
  after: number;
}

export interface CutLine {
  kind: "cut";
}

export type Item = Row | Fold | CutLine;

const SHORTEST_FOLD = 3;
const FOLDED = new Set(["verbatim", "summarised", "dropped"]);

export interface Folding {
  items: Item[];
  differing: number;
}

/** `opened` holds the first rows of the folds that are open. */
export const foldRows = (scene: Scene, plan: Plan, place: number, opened: ReadonlySet<number>): Folding => {
  const folds = scene.fates.map(fate => FOLDED.has(fate.id));
  const cutRow = scene.entryStart[place] ?? scene.blocks;
  const items: Item[] = [];
  let differing = 0;
  for (let from = 0; from < scene.blocks; ) {
    if (from === cutRow) items.push({ kind: "cut" });
    const fold = measureRun(scene, plan, place, from, from < cutRow ? cutRow : scene.blocks);
    if (!fold.same) differing += fold.to - fold.from;
    const long = fold.to - from >= SHORTEST_FOLD && folds[fold.fate] === true;
    fold.open = opened.has(from);
    if (long) items.push(fold);
    if (!long || fold.open) for (let row = from; row < fold.to; row++) items.push({ kind: "row", row });
    from = fold.to;
  }
  if (cutRow >= scene.blocks) items.push({ kind: "cut" });
  return { items, differing };
};

const measureRun = (scene: Scene, plan: Plan, place: number, from: number, limit: number): Fold => {
  const first = look(scene, plan, place, from);
  const run: Fold = {
    kind: "fold",
    from,
    to: from,
    fate: first.fate,
    same: first.same,
    open: false,
    before: 0,
    after: 0,
  };
  for (
    let now = first;
    now.fate === run.fate && now.same === run.same;
    now = look(scene, plan, place, run.to)
  ) {
    run.before += now.before;
    run.after += now.after;
    run.to++;
    if (run.to >= limit) break;
  }
  return run;
};

const look = (scene: Scene, plan: Plan, place: number, row: number) => {
  const { fate, tokens } = fateAt(scene, plan, row, place);
  const before = scene.blockTokens[row] as number;
  return { fate, before, after: tokens, same: scene.fates[fate]?.id === "verbatim" && tokens === before };
};

/** The item that shows `row`: its own, or the closed fold that hides it; -1 when there is neither. */
export const itemOfRow = (items: readonly Item[], row: number): number =>
  items.findIndex(item =>
    item.kind === "row"
      ? item.row === row
      : item.kind === "fold" && !item.open && item.from <= row && row < item.to,
  );

/** The next item after `index` that stands for something that differs, wrapping around; -1 when nothing does. */
export const nextDiffering = (
  items: readonly Item[],
  index: number,
  differs: (row: number) => boolean,
): number => {
  for (let i = 1; i <= items.length; i++) {
    const at = (index + i) % items.length;
    const item = items[at] as Item;
    if (item.kind === "row" ? differs(item.row) : item.kind === "fold" && !item.open && !item.same) return at;
  }
  return -1;
};
