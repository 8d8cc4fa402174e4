// The visible steps: the effect of zoom, pan and keys, and their position on the overview.

import { lowerBound, type Range } from "./axis";
import { exact, plural } from "./format";
import type { Scene } from "./plan";

/** The smallest number of visible steps. */
const FEWEST = 2;
const PAGE = 10;

export const showsAll = ([first, end]: Range, steps: number): boolean => first <= 0 && end >= steps;

/** Whole steps within the session, as many as asked for and at least a few. */
const fit = (first: number, count: number, steps: number, fewest = FEWEST): Range => {
  const size = Math.min(steps, Math.max(fewest, Math.round(count)));
  const from = Math.max(0, Math.min(Math.round(first), steps - size));
  return [from, from + size];
};

/** A `factor` below 1 zooms in. The point at `at`, a step and its fraction, keeps its position on the screen. */
export const zoomAround = ([first, end]: Range, steps: number, at: number, factor: number): Range => {
  const count = end - first;
  // Even a small turn of the wheel changes something.
  const target = factor < 1 ? Math.min(count - 1, count * factor) : Math.max(count + 1, count * factor);
  const size = Math.min(steps, Math.max(FEWEST, Math.round(target)));
  return fit(at - ((at - first) * size) / Math.max(1, count), size, steps);
};

export const pan = ([first, end]: Range, steps: number, by: number): Range =>
  fit(first + by, end - first, steps);

/** The range between two steps in either order, both included. */
export const between = (a: number, b: number, steps: number, fewest = FEWEST): Range =>
  fit(Math.min(a, b), Math.abs(a - b) + 1, steps, fewest);

/** Moves one edge; the other stays. */
export const resize = ([first, end]: Range, steps: number, edge: "first" | "end", step: number): Range => {
  if (edge === "end") return fit(first, Math.min(steps, step) - first, steps);
  const from = Math.max(0, Math.min(step, end - FEWEST));
  return fit(from, end - from, steps);
};

/** The same range if it shows a step, else moved just far enough, with some room around it. */
export const reveal = (range: Range, steps: number, step: number): Range => {
  const [first, end] = range;
  if (first <= step && step < end) return range;
  const margin = Math.min(4, Math.floor((end - first - 1) / 2));
  return pan(range, steps, step < first ? step - margin - first : step + margin + 1 - end);
};

/** The range after a key, undefined for a key that means nothing here. */
export const pressKey = (range: Range, steps: number, key: string, shift: boolean): Range | undefined => {
  const [first, end] = range;
  const count = end - first;
  const stride = Math.max(1, Math.round(count / 20));
  const move = (by: number) => (shift ? resize(range, steps, "end", end + by) : pan(range, steps, by));
  switch (key) {
    case "ArrowRight":
    case "ArrowUp":
      return move(stride);
    case "ArrowLeft":
    case "ArrowDown":
      return move(-stride);
    case "PageDown":
      return move(Math.max(stride * PAGE, 1));
    case "PageUp":
      return move(-Math.max(stride * PAGE, 1));
    case "Home":
      return shift ? resize(range, steps, "first", 0) : pan(range, steps, -steps);
    case "End":
      return shift ? resize(range, steps, "end", steps) : pan(range, steps, steps);
    case "+":
    case "=":
      return zoomAround(range, steps, (first + end) / 2, 0.5);
    case "-":
      return zoomAround(range, steps, (first + end) / 2, 2);
    case "Escape":
    case "0":
      return [0, steps];
    default:
      return undefined;
  }
};

/** "steps 13–40 of 114, turns 32–35". */
export const sayRange = (scene: Scene, [first, end]: Range): string => {
  if (scene.steps === 0) return "nothing";
  if (showsAll([first, end], scene.steps)) return `all ${plural(scene.steps, "step")}`;
  return `${name("step", first + 1, end)} of ${exact(scene.steps)}, ${sayTurns(scene, [first, end])}`;
};

/** Whether the lanes show the selected steps and no others. */
export const isZoomed = ({ selection, range }: { selection: Range | null; range: Range }): boolean =>
  selection?.[0] === range[0] && selection[1] === range[1];

/** "turns 32–35". */
export const sayTurns = (scene: Scene, [first, end]: Range): string => {
  const turn = (step: number) => (scene.entryTurn[lowerBound(scene.entryStep, step)] ?? 0) + 1;
  return name("turn", turn(first), turn(end - 1));
};

/** The rows of the blocks in a range of steps: first up to but not including end; all of them without a range. */
export const rowsIn = ({ stepRow, blocks }: Scene, range: Range | null): Range =>
  range === null ? [0, blocks] : [stepRow[range[0]] ?? 0, stepRow[range[1]] ?? blocks];

/** Tokens of each section in a range of steps. */
export const sectionsIn = (scene: Scene, range: Range): number[] => {
  const sums = scene.sections.map(() => 0);
  const [from, to] = rowsIn(scene, range);
  for (let row = from; row < to; row++) {
    const section = scene.blockSection[row] as number;
    sums[section] = (sums[section] as number) + (scene.blockTokens[row] as number);
  }
  return sums;
};

const name = (noun: string, a: number, b: number) => (a === b ? `${noun} ${a}` : `${noun}s ${a}–${b}`);

/** The overview steps of a range, the last included; undefined if this point in time is not on the overview. */
export const onOverview = (scene: Scene, [first, end]: Range): Range | undefined => {
  const [a, b] = [scene.stepOverview[first] ?? -1, scene.stepOverview[end - 1] ?? -1];
  return a < 0 || b < 0 ? undefined : [a, b + 1];
};

/** The step at an overview step, or the nearest later one; clamped. */
export const fromOverview = ({ stepOverview, steps }: Scene, overviewStep: number): number =>
  Math.max(0, Math.min(steps - 1, lowerBound(stepOverview, Math.floor(overviewStep))));
