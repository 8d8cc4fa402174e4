// Positions on the turn axis. The unit is the step; entries share their step's width by their blocks; a place
// is an edge. The axis covers a range of steps; what is outside has its x outside.
import type { Scene } from "./plan";

/** From this many pixels per step each block has a bar of its own. */
const ROOM_FOR_BLOCKS = 40;
/** No bar is narrower than this; below it steps are drawn by turn. */
const NARROWEST = 4;

/** Steps, the first up to but not including the end. */
export type Range = readonly [number, number];

export interface Axis {
  /** In CSS pixels. */
  width: number;
  first: number;
  end: number;
  /** CSS pixels per step; below 1 several steps share a pixel. */
  step: number;
  level: "turn" | "step" | "block";
  /** Drawn columns: one per block, per step, or per turn; of a turn that is wide, of short blocks, as many as fit. */
  bins: number;
  /** The left edge of every bin, and the right edge of the last. */
  binX: Float64Array;
  /** First block row of every bin, and the row after the last. */
  binRow: Int32Array;
  /** The x of every place, non-decreasing. */
  placeX: Float64Array;
  /** The band of each turn: its 0-based number and its edges. */
  turns: { turn: number; x: number; end: number }[];
}

export const makeAxis = (scene: Scene, width: number, [first, end]: Range = [0, scene.steps]): Axis => {
  const count = Math.max(0, end - first);
  const step = count === 0 ? 0 : width / count;
  const level = step >= ROOM_FOR_BLOCKS ? "block" : step >= NARROWEST ? "step" : "turn";
  const axis = { width: count * step, first, end, step, level } as const;
  const placeX = placeEntries(scene, axis);
  return { ...axis, placeX, ...makeBins(scene, axis, placeX), turns: bandTurns(scene, axis) };
};

type Frame = Pick<Axis, "width" | "first" | "end" | "step" | "level">;

const placeEntries = (scene: Scene, { first, step }: Frame): Float64Array => {
  const { entries, entryStep, entryStart } = scene;
  const placeX = new Float64Array(entries + 1);
  for (let entry = 0; entry < entries; ) {
    const at = entryStep[entry] as number;
    let next = entry;
    let weight = 0;
    while (next < entries && entryStep[next] === at) weight += weigh(entryStart, next++);
    for (let before = 0; entry < next; before += weigh(entryStart, entry++)) {
      placeX[entry] = (at - first + before / weight) * step;
    }
  }
  placeX[entries] = (scene.steps - first) * step;
  return placeX;
};

const weigh = (start: Int32Array, entry: number): number =>
  Math.max(1, (start[entry + 1] as number) - (start[entry] as number));

const makeBins = (scene: Scene, axis: Frame, placeX: Float64Array) => {
  const { first, end, width, step, level } = axis;
  const rowOf = (step: number) => scene.stepRow[step] as number;
  if (level === "block") {
    const binRow = Int32Array.from(joinBlocks(scene, axis, placeX));
    const binX = Float64Array.from(binRow, row => (row === rowOf(end) ? width : rowX(scene, placeX, row)));
    return { bins: binRow.length - 1, binRow, binX };
  }
  const steps =
    level === "turn" ? joinTurns(scene, axis) : Array.from({ length: end - first + 1 }, (_, i) => first + i);
  return {
    bins: Math.max(0, steps.length - 1),
    binRow: Int32Array.from(steps, at => rowOf(at) ?? 0),
    binX: Float64Array.from(steps, at => (at - first) * step),
  };
};

/** The first row of each bin, and the row after the last: blocks too narrow for a bar share one within their step. */
const joinBlocks = (scene: Scene, { first, end }: Frame, placeX: Float64Array): number[] => {
  const rows: number[] = [];
  for (let step = first; step < end; step++) {
    const last = scene.stepRow[step + 1] as number;
    let left = Number.NEGATIVE_INFINITY;
    const right = last < scene.blocks ? rowX(scene, placeX, last) : (placeX[scene.entries] as number);
    for (let row = scene.stepRow[step] as number; row < last; row++) {
      const x = rowX(scene, placeX, row);
      if (x - left < NARROWEST || (left > Number.NEGATIVE_INFINITY && right - x < NARROWEST)) continue;
      rows.push(row);
      left = x;
    }
  }
  return [...rows, scene.stepRow[end] as number];
};

/** The first step of each bin, and the end: a turn each, narrow ones joined, wide ones in parts. */
const joinTurns = (scene: Scene, { first, end, step }: Frame): number[] => {
  const steps: number[] = [first];
  const per = Math.ceil(NARROWEST / step);
  let from = first;
  for (const [at, next] of turnsOf(scene, first, end)) {
    // The previous blocks may be too narrow for a bar of their own.
    if (at - from >= per) {
      steps.push(at);
      from = at;
    }
    const [begin, parts] = [from, Math.floor((next - from) / per)];
    for (let part = 1; part < parts; part++) {
      from = begin + Math.round((part * (next - begin)) / parts);
      steps.push(from);
    }
  }
  if (steps.length > 1 && end - (steps.at(-1) as number) < per) steps.pop();
  return end > first ? [...steps, end] : [];
};

/** First step and end of each turn in sight. */
const turnsOf = (scene: Scene, first: number, end: number): [number, number][] => {
  const turns: [number, number][] = [];
  let turn = -1;
  for (let entry = lowerBound(scene.entryStep, first); entry < scene.entries; entry++) {
    const at = scene.entryStep[entry] as number;
    if (at >= end) break;
    if (scene.entryTurn[entry] === turn) continue;
    turn = scene.entryTurn[entry] as number;
    const last = turns.at(-1);
    if (last !== undefined && last[0] === at) continue;
    if (last !== undefined) last[1] = at;
    turns.push([at, end]);
  }
  return turns;
};

/** The left edge of a block; the blocks of an entry share its width. */
const rowX = (scene: Scene, placeX: Float64Array, row: number): number => {
  const entry = scene.blockEntry[row] as number;
  const start = scene.entryStart[entry] as number;
  const left = placeX[entry] as number;
  return left + ((row - start) / weigh(scene.entryStart, entry)) * ((placeX[entry + 1] as number) - left);
};

/** The middle of what stands for a block: of its own bar, or of the bin it is in. */
export const middleOf = (scene: Scene, axis: Axis, row: number): number => {
  const bin = lowerBound(axis.binRow, row + 1) - 1;
  if (bin < 0 || bin >= axis.bins) return rowX(scene, axis.placeX, row);
  return ((axis.binX[bin] as number) + (axis.binX[bin + 1] as number)) / 2;
};

export const stepOfRow = (scene: Scene, row: number): number =>
  scene.entryStep[scene.blockEntry[row] as number] as number;

const bandTurns = (scene: Scene, { first, end, step, width }: Frame) => {
  const bands: Axis["turns"] = [];
  for (let entry = lowerBound(scene.entryStep, first); entry < scene.entries; entry++) {
    const at = scene.entryStep[entry] as number;
    if (at >= end) break;
    const turn = scene.entryTurn[entry] as number;
    const last = bands.at(-1);
    if (last !== undefined && last.turn === turn) continue;
    const x = (at - first) * step;
    if (last !== undefined) last.end = x;
    bands.push({ turn, x, end: width });
  }
  return bands;
};

/** The bin a cut at `place` falls into; -1 before the range, `bins` after it. */
export const binOfPlace = (scene: Scene, axis: Axis, place: number): number => {
  const row = place >= scene.entries ? scene.blocks : (scene.entryStart[place] as number);
  return Math.min(lowerBound(axis.binRow, row + 1) - 1, axis.bins);
};

/** The step under `x`, clamped to the axis; -1 when there are none. */
export const stepAt = ({ first, end, step }: Axis, x: number): number =>
  Math.min(end - 1, Math.max(first, first + Math.floor(x / step || 0)));

/** The place whose edge is nearest to `x`. */
export const placeAt = (axis: Axis, x: number): number => {
  const { placeX } = axis;
  const right = lowerBound(placeX, x);
  if (right === 0) return 0;
  if (right >= placeX.length) return placeX.length - 1;
  return x - (placeX[right - 1] as number) < (placeX[right] as number) - x ? right - 1 : right;
};

/** The first index with a value of at least `value`, or the length. */
export const lowerBound = (sorted: ArrayLike<number>, value: number): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};

interface Label {
  x: number;
  width: number;
  /** True if the label ends at its line; otherwise it is centred below it. */
  end: boolean;
}

/**
 * Lays labels below their lines, each as near to its own as those to the right of it and the edges allow. Input and
 * output are in the order of their lines.
 */
export const lineUp = (labels: readonly Label[], room: number, gap: number): number[] => {
  let limit = room;
  return labels
    .map(({ x, width, end }) => ({ width, preferred: x - (end ? width : width / 2) }))
    .reverse()
    .map(({ width, preferred }) => {
      const left = Math.max(0, Math.min(limit - width, preferred));
      limit = left - gap;
      return left;
    })
    .reverse();
};
