// Outcomes of the blocks under a cut: per bin for the strip, and in total for its text.
import type { Axis } from "./axis";
import { rowOf } from "./block-refs";
import { plural, short } from "./format";
import type { Plan, Scene } from "./plan";

const CODES = 256;

/** The outcome of most tokens of every bin, once as older than the cut and once as kept; -1 for an empty bin. */
export interface MostFates {
  older: Int8Array;
  kept: Int8Array;
}

/** A pinned block decides the outcome of its bin, however small it is. */
export const findMostFates = (
  scene: Scene,
  plan: Plan,
  axis: Axis,
  pins: readonly string[] = [],
): MostFates => {
  const sums = new Float64Array(CODES);
  const pinned = new Set(pins.map(ref => rowOf(scene, ref)));
  const find = (fates: Uint8Array) =>
    Int8Array.from({ length: axis.bins }, (_, bin) => {
      sums.fill(0);
      let most = -1;
      for (let row = axis.binRow[bin] as number; row < (axis.binRow[bin + 1] as number); row++) {
        const fate = fates[row] as number;
        if (pinned.has(row)) return fate;
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

/** Sums over the first rows: how many blocks, their tokens, and what stays of these. */
interface Sums {
  blocks: Int32Array;
  tokens: Int32Array;
  after: Int32Array;
}

/** Sums by outcome for older and for kept blocks, so that a moving cut only looks them up. */
export interface FateSums {
  older: ReadonlyMap<number, Sums>;
  kept: ReadonlyMap<number, Sums>;
}

export const sumFates = (scene: Scene, plan: Plan): FateSums => {
  const add = (fates: Uint8Array, after: Int32Array) =>
    new Map(
      [...new Set(fates)].map(fate => {
        const sums: Sums = {
          blocks: new Int32Array(scene.blocks + 1),
          tokens: new Int32Array(scene.blocks + 1),
          after: new Int32Array(scene.blocks + 1),
        };
        for (let row = 0; row < scene.blocks; row++) {
          const matches = fates[row] === fate;
          sums.blocks[row + 1] = (sums.blocks[row] as number) + (matches ? 1 : 0);
          sums.tokens[row + 1] =
            (sums.tokens[row] as number) + (matches ? (scene.blockTokens[row] as number) : 0);
          sums.after[row + 1] = (sums.after[row] as number) + (matches ? (after[row] as number) : 0);
        }
        return [fate, sums] as const;
      }),
    );
  return { older: add(plan.fateOlder, plan.tokensOlder), kept: add(plan.fateKept, plan.tokensKept) };
};

const USER = 0;

/** The start of the turn whose beginning a second call summarises if the cut is at `place`; -1 for one call. */
export const findSplit = (scene: Scene, { splitFrom }: Plan, place: number): number => {
  if (splitFrom === undefined || place >= scene.entries) return -1;
  let at = place;
  while (at > splitFrom && scene.entryRole[at] !== USER) at--;
  return splitFrom < at && at < place ? at : -1;
};

export interface FateTotal {
  blocks: number;
  tokens: number;
  after: number;
}

/** All blocks of a fate under a cut. */
export const totalOf = (scene: Scene, sums: FateSums, fate: number, place: number): FateTotal => {
  const row = scene.entryStart[place] ?? scene.blocks;
  const older = sums.older.get(fate);
  const keptSums = sums.kept.get(fate);
  const of = (name: keyof Sums) =>
    (older?.[name][row] ?? 0) +
    (keptSums ? (keptSums[name][scene.blocks] as number) - (keptSums[name][row] as number) : 0);
  return { blocks: of("blocks"), tokens: of("tokens"), after: of("after") };
};

/** In words, and in few: "one summary: 242 blocks, 109k → 3.4k", "summary 3.4k". */
export const sayTotal = (
  { id, label }: Scene["fates"][number],
  { blocks, tokens, after }: FateTotal,
  summary: number,
  calls = 1,
): [string, string] => {
  const some = `${plural(blocks, "block")}, ${short(tokens)}`;
  if (id === "verbatim") return [`kept as it is: ${some}`, `kept ${short(after)}`];
  if (id === "summarised" && summary > 0 && calls > 1)
    return [`one summary in ${calls} calls: ${some} → ${short(summary)}`, `${calls} calls ${short(summary)}`];
  if (id === "summarised" && summary > 0)
    return [`one summary: ${some} → ${short(summary)}`, `summary ${short(summary)}`];
  // One that is encrypted or missing.
  if (id === "summarised") return [`one summary: ${some}`, "summary"];
  if (after === 0) return [`${label}: ${some}`, `${label} ${short(tokens)}`];
  return [`${label}: ${some} → ${short(after)}`, `${label} ${short(after)}`];
};
