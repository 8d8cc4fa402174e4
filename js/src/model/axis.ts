// Where things stand on the turn axis. The unit is the step; entries share their step's width by their blocks; a place
// is an edge. The axis covers a range of steps; what is outside has its x outside.
import type { Scene } from "./plan";

const WIDEST_STEP = 44;
/** From this many pixels per step each block has a bar of its own. */
const ROOM_FOR_BLOCKS = 40;
/** Below this many pixels per step only turns can be told apart. */
const ROOM_FOR_STEPS = 3;

/** Steps, the first up to but not including the end. */
export type Range = readonly [number, number];

export interface Axis {
  /** The room it was made for in CSS pixels, of which `width` is in use. */
  room: number;
  width: number;
  first: number;
  end: number;
  /** CSS pixels per step; below 1 several steps share a pixel. */
  step: number;
  level: "turn" | "step" | "block";
  /** Drawn columns: one per block, per step, or per pixel when there are more steps than pixels. */
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

export const makeAxis = (scene: Scene, room: number, [first, end]: Range = [0, scene.steps]): Axis => {
  const count = Math.max(0, end - first);
  const fitted = count === 0 ? 0 : room / count;
  // A short session does not fill a wide screen with wide bars; what was zoomed into does.
  const step = count === scene.steps ? Math.min(fitted, WIDEST_STEP) : fitted;
  const level = step >= ROOM_FOR_BLOCKS ? "block" : step >= ROOM_FOR_STEPS ? "step" : "turn";
  const width = count * step;
  const axis = { room, width, first, end, step, level } as const;
  const placeX = placeEntries(scene, axis);
  return { ...axis, placeX, ...makeBins(scene, axis, placeX), turns: bandTurns(scene, axis) };
};

type Frame = Pick<Axis, "room" | "width" | "first" | "end" | "step" | "level">;

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
  const { first, end, width, level } = axis;
  const rowOf = (step: number) => scene.stepRow[step] as number;
  const [from, to] = [rowOf(first) ?? 0, rowOf(end) ?? 0];
  if (level === "block") {
    const binRow = Int32Array.from({ length: to - from + 1 }, (_, bin) => from + bin);
    const binX = Float64Array.from(binRow, row => (row === to ? width : rowX(scene, placeX, row)));
    return { bins: to - from, binRow, binX };
  }
  const count = end - first;
  const bins = Math.min(count, Math.max(1, Math.floor(axis.room)));
  const edges = { length: bins + 1 };
  return {
    bins,
    binRow: Int32Array.from(edges, (_, bin) =>
      bin === bins ? to : rowOf(first + Math.ceil((bin * count) / bins)),
    ),
    binX: Float64Array.from(edges, (_, bin) => (bins === 0 ? 0 : (bin * width) / bins)),
  };
};

/** The left edge of a block: those of an entry share its width. */
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

/** The first index whose value is at least `value`; the length when there is none. */
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

/**
 * Lays labels of given widths side by side, each as near to its wish as its neighbours and the edges allow. They
 * stand in the order of their wishes, whatever the order they are given in.
 */
export const spreadLabels = (
  wishes: readonly number[],
  widths: readonly number[],
  room: number,
  gap: number,
): number[] => {
  const lefts: number[] = [];
  const order = wishes.map((_, i) => i).sort((a, b) => (wishes[a] as number) - (wishes[b] as number));
  let edge = 0;
  for (const i of order) {
    const left = Math.max(edge, (wishes[i] as number) - (widths[i] as number) / 2);
    lefts[i] = left;
    edge = left + (widths[i] as number) + gap;
  }
  let limit = room;
  for (const i of order.reverse()) {
    lefts[i] = Math.max(0, Math.min(lefts[i] as number, limit - (widths[i] as number)));
    limit = (lefts[i] as number) - gap;
  }
  return lefts;
};
