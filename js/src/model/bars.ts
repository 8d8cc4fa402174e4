// How high the bars of the lanes are. One square-root scale for all lanes: areas stay comparable, small ones visible.
import { type Axis, binOfPlace, makeAxis } from "./axis";
import type { Plan, Scene } from "./plan";

const BUDGET = 196;
const LOWEST_LANE = 24;
const HEADROOM = 7;
/** Pixels per root of a token at most. */
const WIDEST = 5;
/** Room above the lanes for the turn numbers. */
export const HEAD = 18;

export interface Lanes {
  /** Lane of each section code, -1 for sections that no lane shows. */
  laneOf: Int8Array;
  /** Top and floor of each lane in CSS pixels. */
  tops: number[];
  floors: number[];
  /** The largest bar of each lane, in tokens. */
  peaks: number[];
  height: number;
  scale: number;
}

interface Frame extends Pick<Lanes, "laneOf" | "tops" | "floors"> {
  room: number;
}

/** Lanes keep their heights while the range changes, so that nothing jumps; only the scale is the range's. */
const frames = new WeakMap<Scene, Frame>();

export const measureLanes = (scene: Scene, axis: Axis): Lanes => {
  const known = frames.get(scene);
  const frame = known?.room === axis.room ? known : frameLanes(scene, axis.room);
  frames.set(scene, frame);
  const { laneOf, tops, floors } = frame;
  const peaks = findPeaks(scene, axis, laneOf);
  let scale = WIDEST;
  peaks.forEach((peak, lane) => {
    const room = (floors[lane] as number) - (tops[lane] as number) - HEADROOM;
    if (peak > 0) scale = Math.min(scale, room / Math.sqrt(peak));
  });
  return { laneOf, tops, floors, peaks, height: floors.at(-1) ?? 0, scale: peaks.some(Boolean) ? scale : 0 };
};

const frameLanes = (scene: Scene, room: number): Frame => {
  const laneOf = new Int8Array(256).fill(-1);
  scene.lanes.forEach((lane, i) => {
    for (const code of lane.sections) laneOf[code] = i;
  });
  const roots = findPeaks(scene, makeAxis(scene, room), laneOf).map(Math.sqrt);
  const total = roots.reduce((sum, root) => sum + root, 0);
  const scale = total === 0 ? 0 : Math.min(BUDGET / total, WIDEST);
  const tops: number[] = [];
  const floors: number[] = [];
  let y = 0;
  for (const root of roots) {
    tops.push(y);
    y += Math.round(Math.max(LOWEST_LANE, root * scale + HEADROOM));
    floors.push(y);
  }
  return { room, laneOf, tops, floors };
};

const findPeaks = (scene: Scene, axis: Axis, laneOf: Int8Array): number[] => {
  const peaks = new Array<number>(scene.lanes.length).fill(0);
  const sums = new Float64Array(scene.lanes.length);
  for (let bin = 0; bin < axis.bins; bin++) {
    sums.fill(0);
    for (let row = axis.binRow[bin] as number; row < (axis.binRow[bin + 1] as number); row++) {
      const lane = laneOf[scene.blockSection[row] as number] as number;
      if (lane >= 0) sums[lane] = (sums[lane] as number) + (scene.blockTokens[row] as number);
    }
    sums.forEach((sum, lane) => {
      peaks[lane] = Math.max(peaks[lane] as number, sum);
    });
  }
  return peaks;
};

export const barHeight = (lanes: Lanes, tokens: number): number =>
  tokens <= 0 ? 0 : Math.max(1.5, Math.sqrt(tokens) * lanes.scale);

/** One patterned piece of a bar. `left` is the part of `tokens` that stays; it matters for truncated blocks. */
export interface Piece {
  lane: number;
  section: number;
  fate: number;
  tokens: number;
  left: number;
}

const CODES = 256;
const sumTokens = new Float64Array(CODES * CODES);
const sumLeft = new Float64Array(CODES * CODES);

/** The pieces of one bin under a cut, lane by lane, each lane's in fate order. */
export const piecesOf = (
  scene: Scene,
  plan: Plan,
  axis: Axis,
  lanes: Lanes,
  bin: number,
  place: number,
): Piece[] => {
  const keys: number[] = [];
  for (let row = axis.binRow[bin] as number; row < (axis.binRow[bin + 1] as number); row++) {
    const section = scene.blockSection[row] as number;
    if ((lanes.laneOf[section] as number) < 0) continue;
    const older = (scene.blockEntry[row] as number) < place;
    const fate = (older ? plan.fateOlder : plan.fateKept)[row] as number;
    const key = fate * CODES + section;
    if (!keys.includes(key)) {
      keys.push(key);
      sumTokens[key] = sumLeft[key] = 0;
    }
    sumTokens[key] = (sumTokens[key] as number) + (scene.blockTokens[row] as number);
    sumLeft[key] = (sumLeft[key] as number) + ((older ? plan.tokensOlder : plan.tokensKept)[row] as number);
  }
  const laneOf = (key: number) => lanes.laneOf[key % CODES] as number;
  keys.sort((a, b) => laneOf(a) - laneOf(b) || a - b);
  return keys.map(key => ({
    lane: laneOf(key),
    section: key % CODES,
    fate: Math.floor(key / CODES),
    tokens: sumTokens[key] as number,
    left: sumLeft[key] as number,
  }));
};

/** The bins whose look changes when the cut moves, both ends included. */
export const changedBins = (scene: Scene, axis: Axis, from: number, to: number): [number, number] => {
  const a = binOfPlace(scene, axis, from);
  const b = binOfPlace(scene, axis, to);
  return [Math.max(0, Math.min(a, b)), Math.min(Math.max(a, b), axis.bins - 1)];
};

/** What becomes of most tokens of every bin where it is older, and where it is kept; -1 for a bin without tokens. */
export interface MostFates {
  older: Int8Array;
  kept: Int8Array;
}

export const findMostFates = (scene: Scene, plan: Plan, axis: Axis): MostFates => {
  const sums = new Float64Array(CODES);
  const find = (fates: Uint8Array) =>
    Int8Array.from({ length: axis.bins }, (_, bin) => {
      sums.fill(0);
      let most = -1;
      for (let row = axis.binRow[bin] as number; row < (axis.binRow[bin + 1] as number); row++) {
        const fate = fates[row] as number;
        sums[fate] = (sums[fate] as number) + (scene.blockTokens[row] as number);
        if (most < 0 || (sums[fate] as number) > (sums[most] as number)) most = fate;
      }
      return most;
    });
  return { older: find(plan.fateOlder), kept: find(plan.fateKept) };
};

/** Runs of bins of one fate under a cut in bin `cut`: [fate, first bin, end]. Empty bins belong to the run before. */
export const runFates = (fates: MostFates, cut: number): [number, number, number][] => {
  const runs: [number, number, number][] = [];
  for (let bin = 0; bin < fates.older.length; bin++) {
    const last = runs.at(-1);
    const fate = (bin < cut ? fates.older : fates.kept)[bin] as number;
    if (last !== undefined && (fate === last[0] || fate < 0) && bin !== cut) last[2] = bin + 1;
    else runs.push([fate, bin, bin + 1]);
  }
  return runs;
};
