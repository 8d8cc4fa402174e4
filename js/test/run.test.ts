import { expect, test } from "vitest";
import {
  bandStates,
  firstSpot,
  nearestEvent,
  neighbour,
  reachOf,
  spotAt,
  stateAt,
  turnStep,
} from "../src/model/run";
import { decodeRun } from "../src/model/run-decode";
import { pack } from "./pack";
import { smallRun } from "./small";

const { wire, data, run } = smallRun();

test("nothing sent yet is no run, and a run that does not fit its bytes is refused by name", () => {
  expect(decodeRun({}, null)).toBeNull();
  expect(decodeRun(undefined, null)).toBeNull();
  expect(() => decodeRun({ ...wire, steps: 7 }, data)).toThrow("Column recorded has 6 values");
});

test("a step has its first event, or none; and there is no step outside the run", () => {
  expect([2, 3, -4, 99].map(step => spotAt(run, step))).toEqual([
    { step: 2, event: 1 },
    { step: 3, event: -1 },
    { step: 0, event: -1 },
    { step: 5, event: 3 },
  ]);
});

test("the first selection is Python's, or the first step if it names no event", () => {
  expect(firstSpot(run)).toEqual({ step: 2, event: 2 });
  expect(firstSpot({ ...run, first: 0 })).toEqual({ step: 1, event: 0 });
  const quiet = decodeRun({ ...wire, first: -1, compactions: [], events: [] }, data);
  expect(quiet && firstSpot(quiet)).toEqual({ step: 0, event: -1 });
});

test("stepping goes from event to event, and from between two of them to the one on that side", () => {
  expect(neighbour(run, spotAt(run, 2), 1)).toEqual({ step: 2, event: 2 });
  expect(neighbour(run, spotAt(run, 2), -1)).toEqual({ step: 1, event: 0 });
  expect(neighbour(run, spotAt(run, 3), 1)).toEqual({ step: 5, event: 3 });
  expect(neighbour(run, spotAt(run, 3), -1)).toEqual({ step: 2, event: 2 });
});

test("stepping stops at either end", () => {
  const [start, end] = [spotAt(run, 0), spotAt(run, 5)];
  expect(neighbour(run, start, -1)).toBe(start);
  expect(neighbour(run, end, 1)).toBe(end);
});

test("by turn: forward to the next turn's first step, back to this turn's, then the one before", () => {
  expect([0, 1, 2, 5].map(step => turnStep(run, step, 1))).toEqual([2, 2, 4, 5]);
  expect([5, 4, 3, 0].map(step => turnStep(run, step, -1))).toEqual([4, 2, 2, 0]);
});

test("the nearest event is the earlier of two as near, and none beyond the distance", () => {
  expect([0, 2, 4].map(step => nearestEvent(run, step, 1))).toEqual([0, 1, 3]);
  expect(nearestEvent(run, 3, 0)).toBe(-1);
  expect(nearestEvent({ ...run, eventStep: new Int32Array(0) }, 3, 9)).toBe(-1);
  expect(nearestEvent({ ...run, eventStep: Int32Array.from([1, 5]) }, 3, 2)).toBe(0);
});

test("what was not lived has no state and no height", () => {
  const ended = decodeRun({ ...wire, lived: 2, compactions: [], window: null, thresholds: [] }, data);
  expect(ended && bandStates(ended).map(({ to }) => to)).toEqual([1, 2]);
  expect(ended && stateAt(ended, spotAt(ended, 2))).toBeUndefined();
  const empty = { ...run, recorded: new Int32Array(6), lived: 1, compactions: [] };
  expect(reachOf({ ...empty, window: null, thresholds: [] }).top).toBe(50);
});

test("neighbouring steps in one state are one band", () => {
  expect(bandStates(run)).toEqual([
    { state: 0, from: 0, to: 1 },
    { state: 1, from: 1, to: 2 },
    { state: 2, from: 2, to: 3 },
    { state: 0, from: 3, to: 6 },
  ]);
  expect(stateAt(run, spotAt(run, 2))?.mark).toBe("↻");
});

test("limits far above both lines are not drawn, and do not press them flat", () => {
  const { top, lines, beyond } = reachOf(run);
  expect(top).toBe(200);
  expect(lines.map(({ label }) => label)).toEqual(["compacts above", "window"]);
  expect(beyond).toEqual([]);
  const large = reachOf({ ...run, window: 1_000_000 });
  expect([large.top, large.beyond[0]?.label]).toEqual([150, "window"]);
});

test("a run without steps decodes and has nowhere to go", () => {
  const columns = wire.columns.map(column => ({ ...column, length: 0, offset: 0 }));
  const none = decodeRun(
    { ...wire, steps: 0, first: -1, events: [], compactions: [], columns },
    pack({}).bytes,
  );
  expect(none?.steps).toBe(0);
  expect(none && firstSpot(none)).toEqual({ step: 0, event: -1 });
});
