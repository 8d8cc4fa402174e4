// Look-ups in the places to cut: which are legal, the next one, the nearest one, and why not. Python decided all of it.
import type { Scene } from "./plan";

export interface Cuts {
  /** The last place, "end". */
  end: number;
  /** The nearest legal place at or before each place, -1 where there is none. */
  atOrBefore: Int32Array;
  /** The nearest legal place at or after each place, -1 where there is none. */
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
  return { end, atOrBefore, atOrAfter, placeOf };
};

export const idOf = (scene: Scene, place: number): string => scene.entryIds[place] ?? END;

/** The next legal place after `place`, or `place` itself when it is the last. */
export const nextLegal = (cuts: Cuts, place: number): number =>
  place >= cuts.end ? place : or(cuts.atOrAfter[place + 1], place);

export const previousLegal = (cuts: Cuts, place: number): number =>
  place <= 0 ? place : or(cuts.atOrBefore[place - 1], place);

export const firstLegal = (cuts: Cuts, place: number): number => or(cuts.atOrAfter[0], place);

export const lastLegal = (cuts: Cuts, place: number): number => or(cuts.atOrBefore[cuts.end], place);

/** The first legal place of the next turn that has one. */
export const nextTurn = (scene: Scene, cuts: Cuts, place: number): number => {
  const turn = turnOfPlace(scene, place);
  for (let next = nextLegal(cuts, place); ; next = nextLegal(cuts, next)) {
    if (turnOfPlace(scene, next) !== turn || nextLegal(cuts, next) === next) return next;
  }
};

/** The first legal place of this turn, or of the one before when the cut stands there already. */
export const previousTurn = (scene: Scene, cuts: Cuts, place: number): number => {
  let found = previousLegal(cuts, place);
  const turn = turnOfPlace(scene, found);
  for (;;) {
    const earlier = previousLegal(cuts, found);
    if (earlier === found || turnOfPlace(scene, earlier) !== turn) return found;
    found = earlier;
  }
};

/** The legal place whose position is nearest to that of `place`; the older of two equally near. */
export const nearestLegal = (cuts: Cuts, place: number, positions: ArrayLike<number>): number => {
  const left = cuts.atOrBefore[place] as number;
  const right = cuts.atOrAfter[place] as number;
  if (left < 0 || right < 0) return Math.max(left, right);
  const at = positions[place] as number;
  return at - (positions[left] as number) <= (positions[right] as number) - at ? left : right;
};

export const isLegal = (scene: Scene, place: number): boolean => scene.placeLegal[place] === 1;

/** Why there is no cut at `place`, as a sentence; "" where it is legal. */
export const whyNot = (scene: Scene, place: number): string => {
  if (isLegal(scene, place)) return "";
  return (
    scene.reasons[scene.placeReason[place] as number]?.sentence ?? "Python gave no reason for this place."
  );
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

const or = (found: number | undefined, otherwise: number) =>
  found === undefined || found < 0 ? otherwise : found;
