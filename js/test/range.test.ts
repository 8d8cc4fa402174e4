import { expect, test } from "vitest";
import { binOfPlace, makeAxis, middleOf, placeAt, type Range, stepAt } from "../src/model/axis";
import { measureLanes } from "../src/model/bars";
import { findMostFates, runFates } from "../src/model/becomes";
import { splitPairs } from "../src/model/cuts";
import {
  between,
  fromOverview,
  onOverview,
  pan,
  pressKey,
  resize,
  reveal,
  sayRange,
  zoomAround,
} from "../src/model/range";
import { stackSides } from "../src/model/subagents";
import { smallPlan, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);

test("the point under the pointer stays there while zooming", () => {
  for (const at of [20, 25.5, 39]) {
    const share = (at - 20) / 20;
    const [first, end] = zoomAround([20, 40], 100, at, 0.5);
    expect(end - first).toBe(10);
    expect(Math.abs((at - first) / 10 - share)).toBeLessThanOrEqual(0.05);
  }
});

test("zooming always changes something, and stays inside the session", () => {
  expect(zoomAround([20, 40], 100, 30, 0.999)).toEqual([21, 40]);
  expect(zoomAround([20, 40], 100, 30, 1.001)).toEqual([20, 41]);
  expect(zoomAround([90, 100], 100, 99, 4)).toEqual([60, 100]);
  expect(zoomAround([0, 100], 100, 50, 8)).toEqual([0, 100]);
  expect(zoomAround([10, 12], 100, 11, 0.1)).toEqual([10, 12]);
});

test("a brush is moved, drawn and resized within the session", () => {
  expect(pan([20, 40], 100, -50)).toEqual([0, 20]);
  expect(pan([20, 40], 100, 500)).toEqual([80, 100]);
  expect(between(30, 20, 100)).toEqual([20, 31]);
  expect(between(99, 99, 100)).toEqual([98, 100]);
  expect(resize([20, 40], 100, "first", 90)).toEqual([38, 40]);
  expect(resize([20, 40], 100, "end", 0)).toEqual([20, 22]);
  expect(resize([20, 40], 100, "end", 500)).toEqual([20, 100]);
});

test("keys move, resize and forget the brush", () => {
  const press = (key: string, shift = false) => pressKey([20, 40], 100, key, shift);
  expect(press("ArrowRight")).toEqual([21, 41]);
  expect(press("ArrowLeft", true)).toEqual([20, 39]);
  expect(press("Home")).toEqual([0, 20]);
  expect(press("End")).toEqual([80, 100]);
  expect(press("Home", true)).toEqual([0, 40]);
  expect(press("+")).toEqual([25, 35]);
  expect(press("Escape")).toEqual([0, 100]);
  expect(press("x")).toBeUndefined();
});

test("a step outside is brought into sight, one inside moves nothing", () => {
  const range: Range = [20, 40];
  expect(reveal(range, 100, 25)).toBe(range);
  expect(reveal(range, 100, 10)).toEqual([6, 26]);
  expect(reveal(range, 100, 99)).toEqual([80, 100]);
});

test("a range is described in steps and turns, and shown on the overview", () => {
  expect(sayRange(scene, [0, 2])).toBe("all 2 steps");
  expect(sayRange(scene, [1, 2])).toBe("step 2 of 2, turn 2");
  expect(sayRange({ ...scene, steps: 1200 }, [1, 2])).toBe("step 2 of 1,200, turn 2");
  const later = { ...scene, stepOverview: Int32Array.of(7, 9) };
  expect(onOverview(later, [0, 2])).toEqual([7, 10]);
  expect(onOverview({ ...scene, stepOverview: Int32Array.of(-1, -1) }, [0, 2])).toBeUndefined();
  expect([0, 7.9, 8, 9.5, 40].map(step => fromOverview(later, step))).toEqual([0, 0, 1, 1, 1]);
});

test("the axis covers its range; what is outside has its x outside", () => {
  const axis = makeAxis(scene, 20, [1, 2]);
  expect([axis.step, axis.width, axis.level]).toEqual([20, 20, "step"]);
  expect([...axis.placeX].map(Math.round)).toEqual([-20, -13, -7, 0, 10, 20]);
  expect([0, 2, 3, 4, 5].map(place => binOfPlace(scene, axis, place))).toEqual([-1, -1, 0, 0, 1]);
  expect([-5, 5, 99].map(x => stepAt(axis, x))).toEqual([1, 1, 1]);
  expect(placeAt(axis, 9)).toBe(4);
  expect(axis.turns).toEqual([{ turn: 1, x: 0, end: 20 }]);
});

test("with few steps in sight each block has a bar of its own", () => {
  const axis = makeAxis(scene, 120, [0, 1]);
  expect([axis.level, axis.bins]).toEqual(["block", 3]);
  expect([...axis.binX]).toEqual([0, 40, 80, 120]);
  expect([0, 1, 2].map(row => middleOf(scene, axis, row))).toEqual([20, 60, 100]);
  expect([0, 1, 2, 3].map(place => binOfPlace(scene, axis, place))).toEqual([0, 1, 2, 3]);
});

test("lanes keep their heights while the range changes", () => {
  const whole = measureLanes(scene, makeAxis(scene, 60));
  const part = measureLanes(scene, makeAxis(scene, 60, [1, 2]));
  expect([part.tops, part.floors]).toEqual([whole.tops, whole.floors]);
  expect([whole.full, part.full]).toEqual([
    [20, 100],
    [20, 0],
  ]);
});

test("a cut between a call and its output tears that pair, as Python paired them", () => {
  expect(splitPairs(scene, 2)).toEqual([[1, 2]]);
  expect([0, 1, 3, 5].flatMap(place => splitPairs(scene, place))).toEqual([]);
});

test("a plan's strip has the fate of most tokens in each bin, and bins of one fate are one run", () => {
  const fates = findMostFates(scene, plan, makeAxis(scene, 60));
  expect([[...fates.older], [...fates.kept]]).toEqual([
    [2, 3],
    [0, 0],
  ]);
  expect(runFates(fates, 1)).toEqual([
    [2, 0, 1],
    [0, 1, 2],
  ]);
  expect(runFates(fates, -1)).toEqual([[0, 0, 2]]);
});

test("sidechains fold into one row, which adds them up", () => {
  const sides = Array.from({ length: 7 }, (_, i) => ({
    label: `sub ${i + 1}`,
    task: "",
    call: -1,
    tokens: 10,
    end: `s${i}`,
  }));
  const many = {
    ...scene,
    sides,
    sideLane: Int32Array.from(sides.keys()),
    sideStep: new Int32Array(7).fill(1),
    sideTokens: new Int32Array(7).fill(10),
  };
  const folded = stackSides(many, false);
  expect(folded.map(row => row.label)).toEqual(["7 sub-agents"]);
  expect([...(folded.at(-1)?.at ?? [])]).toEqual([0, 70]);
  expect(stackSides(many, true)).toHaveLength(7);
  expect(stackSides(scene, false).map(row => [row.label, row.count])).toEqual([["sub 1", 1]]);
});
