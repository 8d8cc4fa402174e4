// A replay, decoded: two lines over the same steps, what the harness did on the way, and look-ups in both.
import { bytes, ints, readColumns } from "../payloads/columns";
import type { RunPayload, RunState } from "../payloads/types";
import { lowerBound } from "./axis";

export interface Run extends RunPayload {
  /** Tokens in the context at the end of each step: as recorded, and as replayed. */
  recorded: Int32Array;
  replayed: Int32Array;
  state: Uint8Array;
  turn: Int32Array;
  /** Tokens of the request that opens each step, and how many of them an unchanged prefix of the one before. */
  sent: Int32Array;
  cached: Int32Array;
  /** The step of each event, non-decreasing. */
  eventStep: Int32Array;
}

/** The run, or null while Python has sent none. */
export const decodeRun = (wire: object | null | undefined, data: DataView | null): Run | null => {
  if (!isRun(wire)) return null;
  const columns = readColumns(wire.columns, data);
  const { steps } = wire;
  return {
    ...wire,
    eventStep: Int32Array.from(wire.events, event => event.step),
    recorded: ints(columns, "recorded", steps),
    replayed: ints(columns, "replayed", steps),
    state: bytes(columns, "state", steps),
    turn: ints(columns, "turn", steps),
    sent: ints(columns, "sent", steps),
    cached: ints(columns, "cached", steps),
  };
};

/** Where the hand is: a step, and an event of that step or -1. */
export interface Spot {
  step: number;
  event: number;
}

/** A step within the run, with its first event if it has any. */
export const spotAt = (run: Run, step: number): Spot => {
  const within = Math.max(0, Math.min(run.steps - 1, step));
  const event = lowerBound(run.eventStep, within);
  return { step: within, event: run.eventStep[event] === within ? event : -1 };
};

export const spotOf = (run: Run, event: number): Spot => ({ step: run.eventStep[event] ?? 0, event });

/** Where to look first, as Python says. */
export const firstSpot = (run: Run): Spot => (run.first < 0 ? spotAt(run, 0) : spotOf(run, run.first));

/** The event before or after a spot, or the spot itself where there is none. */
export const neighbour = (run: Run, spot: Spot, change: -1 | 1): Spot => {
  const here = lowerBound(run.eventStep, spot.step);
  // Between two events, the one at `here` is the next and the one before it the previous.
  const event = spot.event >= 0 ? spot.event + change : change > 0 ? here : here - 1;
  return event < 0 || event >= run.events.length ? spot : spotOf(run, event);
};

/** The first step of the next turn; backwards of this turn, or of the one before when the spot is there already. */
export const turnStep = (run: Run, step: number, change: -1 | 1): number => {
  const { turn, steps } = run;
  let at = change < 0 ? Math.max(0, step - 1) : step;
  const from = turn[at];
  if (change > 0) {
    while (at < steps - 1 && turn[at] === from) at++;
    return at;
  }
  while (at > 0 && turn[at - 1] === from) at--;
  return at;
};

/** The event nearest to a step within a distance in steps, the earlier of two as near; -1 when there is none. */
export const nearestEvent = (run: Run, step: number, within: number): number => {
  const { eventStep } = run;
  const right = lowerBound(eventStep, step);
  const left = right > 0 ? lowerBound(eventStep, eventStep[right - 1] as number) : -1;
  const distance = (event: number) => {
    const at = eventStep[event];
    return at === undefined ? Number.POSITIVE_INFINITY : Math.abs(at - step);
  };
  const best = distance(left) <= distance(right) ? left : right;
  return distance(best) <= within ? best : -1;
};

/** Neighbouring steps in the same state, from first to last, as far as the run came. */
export const bandStates = (run: Run): { state: number; first: number; last: number }[] => {
  const bands: { state: number; first: number; last: number }[] = [];
  for (let step = 0; step < run.lived; step++) {
    const state = run.state[step] as number;
    const band = bands.at(-1);
    if (band?.state === state) band.last = step;
    else bands.push({ state, first: step, last: step });
  }
  return bands;
};

export const stateAt = (run: Run, step: number): RunState | undefined =>
  step < run.lived ? run.states[run.state[step] as number] : undefined;

export interface Line {
  label: string;
  tokens: number;
}

/** How high the picture goes, the lines within it, and those too far above the data to be drawn with it. */
export const reachOf = (run: Run): { top: number; lines: Line[]; beyond: Line[] } => {
  let peak = 1;
  for (const column of [run.recorded, run.replayed.subarray(0, run.lived)])
    for (const tokens of column) if (tokens > peak) peak = tokens;
  // What a compaction found may be more than any step left.
  for (const { before, adopted } of run.compactions) if (adopted && before > peak) peak = before;
  const window = run.window === null ? [] : [{ label: "window", tokens: run.window }];
  const all = [...run.thresholds, ...window].filter(({ tokens }) => tokens > 0);
  const lines = all.filter(({ tokens }) => tokens <= peak * FARTHEST);
  const beyond = all.filter(({ tokens }) => tokens > peak * FARTHEST);
  return { top: Math.max(peak, ...lines.map(({ tokens }) => tokens)), lines, beyond };
};

const FARTHEST = 2.5;

const isRun = (wire: object | null | undefined): wire is RunPayload =>
  wire !== null && wire !== undefined && "columns" in wire;
