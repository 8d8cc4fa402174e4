// Look-ups in the places to cut: which are legal, the next one, the nearest one, and why not. Python decided all of it.
import type { Scene } from "./plan";

export interface Cuts {
  /** The last place, "end". */
  end: number;
  /** The beginning of what is compacted: no cut is valid up to it, unless it is 0. */
  since: number;
  /** The nearest valid cut point at or before each place, or -1. */
  atOrBefore: Int32Array;
  /** The nearest valid cut point at or after each place, or -1. */
  atOrAfter: Int32Array;
  placeOf: ReadonlyMap<string, number>;
}

export const END = "end";

export const makeCuts = (scene: Scene): Cuts => {
  const end = scene.entries;
  const atOrBefore = new Int32Array(end + 1);
  const atOrAfter = new Int32Array(end + 1);
  for (let place = 0, last = -1; place <= end; place++) {
    if (scene.placeLegal[place]) last = place;
    atOrBefore[place] = last;
  }
  for (let place = end, next = -1; place >= 0; place--) {
    if (scene.placeLegal[place]) next = place;
    atOrAfter[place] = next;
  }
  const placeOf = new Map(scene.entryIds.map((id, place) => [id, place]));
  placeOf.set(END, end);
  return { end, since: 0, atOrBefore, atOrAfter, placeOf };
};

/** The nearest valid cut point at or before a place and behind the beginning, or -1. */
const before = ({ atOrBefore, since }: Cuts, place: number): number => {
  const cut = atOrBefore[place] ?? -1;
  return cut > since ? cut : -1;
};

const after = ({ atOrAfter, since }: Cuts, place: number): number =>
  atOrAfter[Math.max(place, since + 1)] ?? -1;

export const idOf = (scene: Scene, place: number): string => scene.entryIds[place] ?? END;

/** The next valid cut point after `place`, or `place` itself when it is the last. */
export const nextLegal = (cuts: Cuts, place: number): number =>
  place >= cuts.end ? place : or(after(cuts, place + 1), place);

export const previousLegal = (cuts: Cuts, place: number): number =>
  place <= 0 ? place : or(before(cuts, place - 1), place);

export const firstLegal = (cuts: Cuts, place: number): number => or(after(cuts, 0), place);

export const lastLegal = (cuts: Cuts, place: number): number => or(before(cuts, cuts.end), place);

/** The next place before `end` at which what is compacted may begin; or `from` itself. */
export const nextStart = ({ placeStarts }: Scene, from: number, way: 1 | -1, end: number): number => {
  for (let place = from + way; place >= 0 && place < end; place += way)
    if (placeStarts[place] === 1) return place;
  return from;
};

/** The same for the place nearest to `place`, by its position. */
export const nearestStart = (
  scene: Scene,
  place: number,
  end: number,
  positions: ArrayLike<number>,
): number => {
  const at = positions[place] as number;
  const before = nextStart(scene, Math.min(place, end - 1) + 1, -1, end);
  const after = nextStart(scene, place - 1, 1, end);
  if (after < place) return before;
  return at - (positions[before] as number) <= (positions[after] as number) - at ? before : after;
};

/** The first valid cut point of the next turn that has one. */
export const nextTurn = (scene: Scene, cuts: Cuts, place: number): number => {
  const turn = turnOfPlace(scene, place);
  for (let next = nextLegal(cuts, place); ; next = nextLegal(cuts, next)) {
    if (turnOfPlace(scene, next) !== turn || nextLegal(cuts, next) === next) return next;
  }
};

/** The first valid cut point of this turn, or of the previous turn if the cut is already there. */
export const previousTurn = (scene: Scene, cuts: Cuts, place: number): number => {
  let cut = previousLegal(cuts, place);
  const turn = turnOfPlace(scene, cut);
  for (;;) {
    const earlier = previousLegal(cuts, cut);
    if (earlier === cut || turnOfPlace(scene, earlier) !== turn) return cut;
    cut = earlier;
  }
};

/** The valid cut point whose position is nearest to that of `place`; the older of two equally near. */
export const nearestLegal = (cuts: Cuts, place: number, positions: ArrayLike<number>): number => {
  const older = before(cuts, place);
  const newer = after(cuts, place);
  if (older < 0 || newer < 0) return Math.max(older, newer);
  const at = positions[place] as number;
  return at - (positions[older] as number) <= (positions[newer] as number) - at ? older : newer;
};

export const isLegal = (scene: Scene, place: number): boolean => scene.placeLegal[place] === 1;

/** The reason why `place` is not a valid cut point, as a sentence; "" if it is valid. */
export const whyNot = (scene: Scene, place: number): string => {
  if (isLegal(scene, place)) return "";
  return scene.reasons[scene.placeReason[place] as number]?.sentence ?? "The cut cannot be placed here.";
};

/** The turn a cut at `place` would open; the "end" counts to the last turn. 0-based, -1 without entries. */
export const turnOfPlace = (scene: Scene, place: number): number =>
  scene.entryTurn[Math.min(place, scene.entries - 1)] ?? -1;

/** The pairs of a call and its output that a cut at `place` would tear apart, as Python paired them. */
export const splitPairs = (scene: Scene, place: number): [number, number][] => {
  const first = scene.entryStart[place] ?? scene.blocks;
  const pairs: [number, number][] = [];
  for (let row = first; row < scene.blocks; row++) {
    const call = scene.blockPair[row] as number;
    if (call >= 0 && call < first) pairs.push([call, row]);
  }
  return pairs;
};

const or = (value: number, otherwise: number) => (value < 0 ? otherwise : value);
