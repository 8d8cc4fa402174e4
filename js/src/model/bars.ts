// How high the bars of the lanes are: linear from zero. Full height is what all but a fiftieth of the bins stay under, rounded
// up; one scale for the low lanes, one for tool output. A longer bar is as high as its lane, and has a notch.
import { type Axis, binOfPlace } from "./axis";
import { short } from "./format";
import { OUTSIDE } from "./outside";
import type { Lane, Plan, Scene } from "./plan";

/** Room for all lanes in CSS pixels, and what one has of it. */
const BUDGET = 128;
const LOW = 16;
const LOWEST = 13;
const TALL = 48;
const STACKED = 56;
/** Room above the lanes for the turn numbers. */
export const HEAD = 16;
/** Free pixels over a full bar. */
const AIR = { low: 2, tall: 3 };
/** Of a clipped bar: from its top to its notch, and the notch. */
export const NOTCH = { low: 2, tall: 5, height: 1.5 };
const SHARE = 0.98;
const STEPS = [1, 2, 4, 8, 10];
/** The section of what grew outside of the file. */
const HIDDEN = "hidden_reasoning";

export interface Lanes {
  /** From top to bottom; a single lane if they are stacked. */
  list: readonly Lane[];
  stacked: boolean;
  /** Lane of each section code, -1 for sections that no lane shows. */
  laneOf: Int8Array;
  /** Top and floor of each lane in CSS pixels. */
  tops: number[];
  floors: number[];
  /** The tokens of a bar of full height, 0 for a lane without bars in sight. */
  full: number[];
  /** Tokens of each lane and bin. */
  sums: Float64Array[];
  height: number;
  /** "to 8k" and "; others to 400". */
  scale: [string, string];
}

/**
 * Lanes keep their heights while the range changes, so that nothing jumps; only the scale is the range's. `size` is how much
 * larger than usual the type is.
 */
export const measureLanes = (scene: Scene, axis: Axis, stacked = false, size = 1): Lanes => {
  const list = stacked
    ? [{ id: "all", label: "all", sections: inFile(scene).flatMap(({ sections }) => sections) }]
    : scene.lanes;
  const laneOf = new Int8Array(256).fill(-1);
  list.forEach(({ sections }, i) => {
    for (const code of sections) laneOf[code] = i;
  });
  const tops: number[] = [];
  const floors: number[] = [];
  let y = 0;
  for (const height of stacked ? [STACKED] : heightsOf(list, scene.sides.length > 0)) {
    tops.push(y);
    y += Math.round(height * size);
    floors.push(y);
  }
  const sums = sumBins(scene, axis, laneOf, list.length);
  const low = roundUp(findHigh(sums.filter((_, lane) => !isTall(list[lane]))));
  const tall = roundUp(findHigh(sums.filter((_, lane) => isTall(list[lane]))));
  const full = list.map(lane => (isTall(lane) ? tall : low));
  const scale: Lanes["scale"] = [
    `to ${short(tall || low)}`,
    tall > 0 && low > 0 ? `; others to ${short(low)}` : "",
  ];
  return { list, stacked, laneOf, tops, floors, full, sums, height: y, scale };
};

/** The lanes of what is in the file. */
export const inFile = ({ lanes }: Scene): Lane[] => lanes.filter(({ id }) => !OUTSIDE.has(id));

export const isTall = (lane: Lane | undefined): boolean => lane?.id === "tool_output" || lane?.id === "all";

const outsideOf = ({ sections }: Scene): number => sections.findIndex(({ id }) => id === HIDDEN);

/** Tool output has what the low ones leave. */
const heightsOf = (list: readonly Lane[], hasSides: boolean): number[] => {
  const budget = hasSides ? BUDGET - LOW : BUDGET;
  const tall = list.filter(isTall).length;
  const low = list.length - tall;
  const height = Math.max(LOWEST, Math.min(LOW, Math.floor((budget - 2 * LOW * tall) / Math.max(1, low))));
  const rest = Math.max(2 * LOW, Math.min(TALL, budget - low * height));
  return list.map(lane => (isTall(lane) ? rest : height));
};

/** `add` hears of each block in a bin, and of what grew outside of the file with it. */
const eachPart = (
  scene: Scene,
  axis: Axis,
  laneOf: Int8Array,
  bin: number,
  add: (lane: number, section: number, tokens: number, row: number) => void,
) => {
  const code = outsideOf(scene);
  const beside = code < 0 ? -1 : (laneOf[code] as number);
  for (let row = axis.binRow[bin] as number; row < (axis.binRow[bin + 1] as number); row++) {
    const section = scene.blockSection[row] as number;
    const lane = laneOf[section] as number;
    if (lane >= 0) add(lane, section, scene.blockTokens[row] as number, row);
    if (beside >= 0 && scene.blockOutside[row]) add(beside, code, scene.blockOutside[row] as number, row);
  }
};

const sumBins = (scene: Scene, axis: Axis, laneOf: Int8Array, count: number): Float64Array[] => {
  const sums = Array.from({ length: count }, () => new Float64Array(axis.bins));
  for (let bin = 0; bin < axis.bins; bin++) {
    eachPart(scene, axis, laneOf, bin, (lane, _, tokens) => {
      const laneSums = sums[lane] as Float64Array;
      laneSums[bin] = (laneSums[bin] as number) + tokens;
    });
  }
  return sums;
};

/** The 98th percentile of all bins, or of the non-empty bins if these are fewer than a fiftieth. */
const findHigh = (sums: readonly Float64Array[]): number => {
  const all = Float64Array.from(sums.flatMap(lane => [...lane])).sort();
  const bars = all.filter(tokens => tokens > 0);
  const high = (sorted: Float64Array) => sorted[Math.max(0, Math.ceil(SHARE * sorted.length) - 1)] ?? 0;
  return high(all) || high(bars);
};

/** The next of 1, 2, 4 and 8 times a power of ten. */
export const roundUp = (tokens: number): number => {
  if (tokens <= 0) return 0;
  const unit = 10 ** Math.floor(Math.log10(tokens));
  return unit * (STEPS.find(step => step * unit >= tokens) as number);
};

/** Pixels of a full bar. */
export const roomOf = ({ list, tops, floors }: Lanes, lane: number): number =>
  (floors[lane] as number) - (tops[lane] as number) - AIR[isTall(list[lane]) ? "tall" : "low"];

export const isClipped = (lanes: Lanes, lane: number, tokens: number): boolean =>
  tokens > (lanes.full[lane] as number);

/** Pixels of a bar: in proportion to its tokens, as high as its lane at most, and never so low that it is not seen. */
export const barHeight = (lanes: Lanes, lane: number, tokens: number): number =>
  tokens <= 0 ? 0 : Math.max(1, Math.min(1, tokens / (lanes.full[lane] as number)) * roomOf(lanes, lane));

/** One piece of a bar. `left` is the part of `tokens` that stays. */
export interface Piece {
  lane: number;
  section: number;
  fate: number;
  tokens: number;
  after: number;
}

const CODES = 256;
const sumTokens = new Float64Array(CODES * CODES);
const sumAfter = new Float64Array(CODES * CODES);

/** The pieces of one bin under a cut, lane by lane, each lane's in the order of its sections and their fates. */
export const piecesOf = (
  scene: Scene,
  plan: Plan,
  axis: Axis,
  lanes: Lanes,
  bin: number,
  place: number,
): Piece[] => {
  const keys: number[] = [];
  eachPart(scene, axis, lanes.laneOf, bin, (_, section, tokens, row) => {
    const older = (scene.blockEntry[row] as number) < place;
    const fate = (older ? plan.fateOlder : plan.fateKept)[row] as number;
    const had = scene.blockTokens[row] as number;
    const stays = (older ? plan.tokensOlder : plan.tokensKept)[row] as number;
    const key = section * CODES + fate;
    if (!keys.includes(key)) {
      keys.push(key);
      sumTokens[key] = sumAfter[key] = 0;
    }
    sumTokens[key] = (sumTokens[key] as number) + tokens;
    // Content outside the file shrinks in proportion to its block.
    const part =
      section === scene.blockSection[row] ? stays : had > 0 ? (tokens * Math.min(stays, had)) / had : 0;
    sumAfter[key] = (sumAfter[key] as number) + part;
  });
  const laneOf = (key: number) => lanes.laneOf[Math.floor(key / CODES)] as number;
  keys.sort((a, b) => laneOf(a) - laneOf(b) || a - b);
  return keys.map(key => ({
    lane: laneOf(key),
    section: Math.floor(key / CODES),
    fate: key % CODES,
    tokens: sumTokens[key] as number,
    after: sumAfter[key] as number,
  }));
};

/** The bins whose look changes when the cut moves, both ends included. */
export const changedBins = (scene: Scene, axis: Axis, from: number, to: number): [number, number] => {
  const a = binOfPlace(scene, axis, from);
  const b = binOfPlace(scene, axis, to);
  return [Math.max(0, Math.min(a, b)), Math.min(Math.max(a, b), axis.bins - 1)];
};
