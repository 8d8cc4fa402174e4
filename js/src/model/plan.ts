// Decoded payloads from Python: a scene (the session and its places) and a plan (an outcome for every block).
// B live blocks, E live entries, E+1 places to cut (place p is before entry p, place E is "end"), N overview steps.
import { bytes, ints, readColumns, WireError } from "../payloads/columns";
import type { LanePayload, PlanPayload, ScenePayload } from "../payloads/types";

export type Lane = LanePayload;

export interface Scene extends ScenePayload {
  blocks: number;
  entries: number;
  steps: number;
  blockEntry: Int32Array;
  blockSection: Uint8Array;
  blockTokens: Int32Array;
  /** Tokens outside the file that belong to each block. */
  blockOutside: Int32Array;
  entryStep: Int32Array;
  entryTurn: Int32Array;
  entryRole: Uint8Array;
  entryStart: Int32Array;
  /** First block row of every step, and the number of blocks at the end. */
  stepRow: Int32Array;
  placeLegal: Uint8Array;
  placeReason: Int32Array;
  placeSplits: Uint8Array;
  /** Where what is compacted may begin. */
  placeStarts: Uint8Array;
  overviewReported: Int32Array;
  overviewEstimated: Int32Array;
  overviewTurn: Int32Array;
  /** The row of the other half of a call and its output, -1 for none. */
  blockPair: Int32Array;
  /** The overview step of each step, in ascending order; -1 if this point in time is not on the overview. */
  stepOverview: Int32Array;
  /** Sub-agents next to this point in time: lane, step and tokens of each bar. */
  sideLane: Int32Array;
  sideStep: Int32Array;
  sideTokens: Int32Array;
}

export interface Plan extends PlanPayload {
  fateOlder: Uint8Array;
  fateKept: Uint8Array;
  tokensOlder: Int32Array;
  tokensKept: Int32Array;
  ruleOlder: Int32Array;
  ruleKept: Int32Array;
  afterTotal: Int32Array;
  afterSections: Int32Array;
  summaryTokens: Int32Array;
  /** By place: what the policy adds besides a summary, such as a notice or files that it attaches again. */
  addedTokens: Int32Array;
  /** The numbers of the sentence about the result of a cut at each place. */
  leftBlocks: Int32Array;
  leftTokens: Int32Array;
  /** Not a part of it that a lesson plays. */
  whole: boolean;
}

const VERSION = 1;

/** The scene, or null while Python has sent none. */
export const decodeScene = (wire: object | null, data: DataView | null): Scene | null => {
  if (!isDrawn<ScenePayload>(wire)) return null;
  if (wire.version !== VERSION) {
    throw new WireError(
      `This front end reads version ${VERSION} of the scene; Python sent version ${wire.version}. Reload the page.`,
    );
  }
  const columns = readColumns(wire.columns, data);
  const entries = wire.entryIds.length;
  const blocks = columns.get("block_entry")?.length ?? 0;
  const entryStep = ints(columns, "entry_step", entries);
  const entryStart = ints(columns, "entry_start", entries + 1);
  const steps = entries === 0 ? 0 : (entryStep[entries - 1] as number) + 1;
  const beside = columns.get("side_lane")?.length ?? 0;
  return {
    ...wire,
    blocks,
    entries,
    steps,
    blockEntry: ints(columns, "block_entry", blocks),
    blockSection: bytes(columns, "block_section", blocks),
    blockTokens: ints(columns, "block_tokens", blocks),
    blockOutside: ints(columns, "block_outside", blocks),
    entryStep,
    entryTurn: ints(columns, "entry_turn", entries),
    entryRole: bytes(columns, "entry_role", entries),
    entryStart,
    stepRow: findStepRows(entryStep, entryStart, steps),
    placeLegal: bytes(columns, "place_legal", entries + 1),
    placeReason: ints(columns, "place_reason", entries + 1),
    placeSplits: bytes(columns, "place_splits", entries + 1),
    placeStarts: bytes(columns, "place_starts", entries + 1),
    overviewReported: ints(columns, "overview_reported", wire.overview.steps),
    overviewEstimated: ints(columns, "overview_estimated", wire.overview.steps),
    overviewTurn: ints(columns, "overview_turn", wire.overview.steps),
    blockPair: ints(columns, "block_pair", blocks),
    stepOverview: ints(columns, "step_overview", steps),
    sideLane: ints(columns, "side_lane", beside),
    sideStep: ints(columns, "side_step", beside),
    sideTokens: ints(columns, "side_tokens", beside),
  };
};

/** The plan for `scene`, or null while Python has sent none for it (its columns then do not fit). */
export const decodePlan = (wire: object | null, data: DataView | null, scene: Scene): Plan | null => {
  if (!isDrawn<PlanPayload>(wire)) return null;
  const { blocks, entries, sections } = scene;
  const columns = readColumns(wire.columns, data);
  if (columns.get("fate_older")?.length !== blocks || columns.get("after_total")?.length !== entries + 1)
    return null;
  return {
    ...wire,
    fateOlder: bytes(columns, "fate_older", blocks),
    fateKept: bytes(columns, "fate_kept", blocks),
    tokensOlder: ints(columns, "tokens_older", blocks),
    tokensKept: ints(columns, "tokens_kept", blocks),
    ruleOlder: ints(columns, "rule_older", blocks),
    ruleKept: ints(columns, "rule_kept", blocks),
    afterTotal: ints(columns, "after_total", entries + 1),
    afterSections: ints(columns, "after_sections", (entries + 1) * sections.length),
    summaryTokens: ints(columns, "summary_tokens", entries + 1),
    addedTokens: columns.has("added_tokens")
      ? ints(columns, "added_tokens", entries + 1)
      : new Int32Array(entries + 1),
    leftBlocks: ints(columns, "left_blocks", entries + 1),
    leftTokens: ints(columns, "left_tokens", entries + 1),
    whole: true,
  };
};

/** True when two plans decide the same of every block, as they do while only the cut moves. */
export const decideSame = (a: Plan, b: Plan): boolean =>
  COLUMNS.every(name => {
    const [first, second] = [a[name], b[name]];
    return first.length === second.length && first.every((value, i) => value === second[i]);
  });

const COLUMNS = [
  "fateOlder",
  "fateKept",
  "tokensOlder",
  "tokensKept",
  "ruleOlder",
  "ruleKept",
  "afterSections",
] as const;

/** A key of what makes a plan besides its cut and summary. The effect of a rule changes with every count. */
export const namePlan = ({ policy, pins, rules }: Plan): string =>
  JSON.stringify([policy, pins, rules], (name, value) => (name === "delta" ? null : value));

/** A block under a cut: what happens to it, what is left of it, and the rule that says so. */
export const fateAt = (scene: Scene, plan: Plan, row: number, place: number) => {
  const older = (scene.blockEntry[row] as number) < place;
  return {
    fate: (older ? plan.fateOlder : plan.fateKept)[row] as number,
    tokens: (older ? plan.tokensOlder : plan.tokensKept)[row] as number,
    rule: (older ? plan.ruleOlder : plan.ruleKept)[row] as number,
  };
};

/** True for a fate that leaves nothing of a block in its place. */
export const isGone = (scene: Scene, fate: number): boolean =>
  ["summarised", "dropped"].includes(scene.fates[fate]?.id ?? "");

/** True if the plan makes no cut; its handle is at the beginning. */
export const isUncut = (plan: Plan, place: number): boolean => plan.cut.id === "" && plan.cut.place === place;

/** True if no column applies: there is no cut, or the policy's own cut is not a valid cut point. */
const isApart = (plan: Plan, place: number): boolean =>
  place === plan.cut.place && (plan.cut.id === "" || (plan.afterTotal[place] ?? -1) < 0);

/** Tokens after a cut at `place`, -1 if it is not valid. */
export const totalAfter = (plan: Plan, place: number): number =>
  isApart(plan, place) ? plan.after.total : (plan.afterTotal[place] ?? -1);

/** Tokens of a section after a cut at `place`. */
export const sectionAfter = (scene: Scene, plan: Plan, place: number, section: number): number =>
  (isApart(plan, place)
    ? plan.after.sections[section]
    : plan.afterSections[place * scene.sections.length + section]) ?? 0;

export const turnOfRow = (scene: Scene, row: number): number =>
  scene.entryTurn[scene.blockEntry[row] as number] as number;

/** The source of the tokens of a summary at `place`, and its writer if it was written. */
export const summaryAt = (
  plan: Plan,
  place: number,
): { name: "placeholder summary" | "summary"; by: string } => {
  const { summary, cut } = plan;
  if (summary === undefined) return { name: "summary", by: "" };
  return summary === null || place !== cut.place
    ? { name: "placeholder summary", by: "" }
    : { name: "summary", by: summary.by };
};

const findStepRows = (entryStep: Int32Array, entryStart: Int32Array, steps: number): Int32Array => {
  const rows = new Int32Array(steps + 1).fill(entryStart[entryStart.length - 1] as number);
  for (let entry = entryStep.length - 1; entry >= 0; entry--) {
    rows[entryStep[entry] as number] = entryStart[entry] as number;
  }
  return rows;
};

const isDrawn = <T extends object>(wire: object | null): wire is T =>
  wire !== null && wire !== undefined && "columns" in wire;
