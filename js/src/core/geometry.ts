// Where things stand on the turn axis. The unit is the step; entries share their step's width; a place is an edge.
import type { Scene } from "./state";

const WIDEST_STEP = 44;

export interface Axis {
  /** CSS pixels in use: `steps` times `step`. */
  width: number;
  /** CSS pixels per step; below 1 several steps share a pixel. */
  step: number;
  /** Drawn columns: one per step, or one per pixel when there are more steps than pixels. */
  bins: number;
  /** The x of every place, non-decreasing. */
  placeX: Float64Array;
  /** First block row of every bin, and the number of blocks at the end. */
  binRow: Int32Array;
  /** The band of each turn: its 0-based number and its edges. */
  turns: { turn: number; x: number; end: number }[];
}

export const makeAxis = (scene: Scene, available: number): Axis => {
  const { steps, entries, entryStep } = scene;
  const step = steps === 0 ? 0 : Math.min(available / steps, WIDEST_STEP);
  const bins = Math.min(steps, Math.max(1, Math.floor(available)));
  const placeX = new Float64Array(entries + 1);
  for (let entry = 0; entry < entries; ) {
    const at = entryStep[entry] as number;
    let next = entry + 1;
    while (next < entries && entryStep[next] === at) next++;
    for (let i = entry; i < next; i++) placeX[i] = (at + (i - entry) / (next - entry)) * step;
    entry = next;
  }
  placeX[entries] = steps * step;
  const binRow = Int32Array.from({ length: bins + 1 }, (_, bin) =>
    bin === bins ? scene.blocks : (scene.stepRow[firstStep(bin, bins, steps)] as number),
  );
  return { width: steps * step, step, bins, placeX, binRow, turns: bandTurns(scene, step) };
};

const bandTurns = (scene: Scene, step: number) => {
  const bands: Axis["turns"] = [];
  for (let entry = 0; entry < scene.entries; entry++) {
    const turn = scene.entryTurn[entry] as number;
    const last = bands.at(-1);
    if (last !== undefined && last.turn === turn) continue;
    const x = (scene.entryStep[entry] as number) * step;
    if (last !== undefined) last.end = x;
    bands.push({ turn, x, end: scene.steps * step });
  }
  return bands;
};

export const binOfStep = (step: number, bins: number, steps: number): number =>
  steps <= bins ? step : Math.floor((step * bins) / steps);

const firstStep = (bin: number, bins: number, steps: number): number => Math.ceil((bin * steps) / bins);

/** The bin a cut at `place` falls into; `bins` for the end. */
export const binOfPlace = (scene: Scene, axis: Axis, place: number): number =>
  place >= scene.entries ? axis.bins : binOfStep(scene.entryStep[place] as number, axis.bins, scene.steps);

/** The step under `x`, clamped to the axis; -1 when there are none. */
export const stepAt = (scene: Scene, axis: Axis, x: number): number =>
  Math.min(scene.steps - 1, Math.max(0, Math.floor(x / axis.step || 0)));

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

/** Lays labels of given widths side by side, each as near to its wish as its neighbours and the edges allow. */
export const spreadLabels = (
  wishes: readonly number[],
  widths: readonly number[],
  room: number,
  gap: number,
): number[] => {
  const lefts: number[] = [];
  let edge = 0;
  wishes.forEach((wish, i) => {
    lefts[i] = Math.max(edge, wish - (widths[i] as number) / 2);
    edge = lefts[i] + (widths[i] as number) + gap;
  });
  let limit = room;
  for (let i = lefts.length - 1; i >= 0; i--) {
    lefts[i] = Math.max(0, Math.min(lefts[i] as number, limit - (widths[i] as number)));
    limit = (lefts[i] as number) - gap;
  }
  return lefts;
};
