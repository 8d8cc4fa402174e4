// Look-ups in a replay: steps and their events, the states between them, and the height of its lines.
import type { RunState } from "../payloads/types";
import { lowerBound } from "./axis";
import { exact, percent } from "./format";
import type { Run } from "./run-decode";

export type { Run };

/** The selected spot: a step, and an event of that step or -1. */
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

/** The event before or after a spot, or the spot itself. */
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

/** The event nearest to a step within a distance in steps, the earlier one of a tie; -1 without such an event. */
export const nearestEvent = (run: Run, step: number, within: number): number => {
  const { eventStep } = run;
  const next = lowerBound(eventStep, step);
  const previous = next > 0 ? lowerBound(eventStep, eventStep[next - 1] as number) : -1;
  const distance = (event: number) => {
    const at = eventStep[event];
    return at === undefined ? Number.POSITIVE_INFINITY : Math.abs(at - step);
  };
  const best = distance(previous) <= distance(next) ? previous : next;
  return distance(best) <= within ? best : -1;
};

/** The last event at or before a spot, or -1. */
export const reachedAt = (run: Run, { step, event }: Spot): number =>
  event >= 0 ? event : lowerBound(run.eventStep, step + 1) - 1;

/** The state that the harness enters with an event. */
export const stateOf = (run: Run, event: number): RunState | undefined =>
  run.states[run.events[event]?.entered ?? -1];

export interface Band {
  state: number;
  /** In steps, of which the states that one runs through have equal parts. */
  from: number;
  to: number;
}

/** The states of a run as far as it came, also those that begin and end within a step: a compaction does. */
export const bandStates = (run: Run): Band[] => {
  const bands: Band[] = [];
  const add = (state: number, from: number, to: number) => {
    const band = bands.at(-1);
    if (band?.state === state) band.to = to;
    else bands.push({ state, from, to });
  };
  for (let step = 0; step < run.lived; step++) {
    const [first, end] = [lowerBound(run.eventStep, step), lowerBound(run.eventStep, step + 1)];
    const entered = run.events.slice(first, end).flatMap(event => event.entered ?? []);
    const passed = entered.length > 0 ? entered : [run.state[step] as number];
    passed.forEach((state, i) => {
      add(state, step + i / passed.length, step + (i + 1) / passed.length);
    });
  }
  return bands;
};

/** The state at an event of a step, else at the request that opened the step. */
export const stateAt = (run: Run, { step, event }: Spot): RunState | undefined => {
  if (step >= run.lived) return undefined;
  for (let i = event; i >= 0 && run.eventStep[i] === step; i--) {
    const entered = stateOf(run, i);
    if (entered !== undefined) return entered;
  }
  return run.states[run.state[step] as number];
};

export interface Line {
  label: string;
  tokens: number;
  /** The marks of the states that begin there, with a space behind them. */
  mark: string;
}

/** The height of the chart, the lines within it, and the lines too far above the data to be drawn. */
export const reachOf = (run: Run): { top: number; lines: Line[]; beyond: Line[] } => {
  let peak = 1;
  for (const column of [run.recorded, run.replayed.subarray(0, run.lived)])
    for (const tokens of column) if (tokens > peak) peak = tokens;
  // The context before a compaction may be larger than after any step.
  for (const { before, adopted } of run.compactions) if (adopted && before > peak) peak = before;
  const window = run.window === null ? [] : [{ label: "window", tokens: run.window, mark: "" }];
  const marked = run.thresholds.map(({ label, tokens, mark }) => ({
    label,
    tokens,
    mark: mark === undefined ? "" : `${mark} `,
  }));
  const all = [...marked, ...window].filter(({ tokens }) => tokens > 0);
  const lines = all.filter(({ tokens }) => tokens <= peak * FARTHEST);
  const beyond = all.filter(({ tokens }) => tokens > peak * FARTHEST);
  return { top: Math.max(peak, ...lines.map(({ tokens }) => tokens)), lines, beyond };
};

const FARTHEST = 2.5;

/** A step of a replay as it is read out; turns and steps are 0-based in, 1-based out. */
export const sayStep = (run: Run, step: number): string[] => {
  const state = stateAt(run, { step, event: -1 });
  const sent = run.sent[step] ?? 0;
  const parts = [
    `turn ${(run.turn[step] ?? 0) + 1}`,
    `step ${step + 1} of ${exact(run.steps)}`,
    `recorded ${exact(run.recorded[step] ?? 0)}`,
    step < run.lived ? `replayed ${exact(run.replayed[step] ?? 0)}` : "not replayed",
  ];
  if (sent > 0) parts.push(`sent ${exact(sent)}, ${percent(run.cached[step] ?? 0, sent)} unchanged`);
  if (state !== undefined) parts.push(state.label);
  return parts;
};
