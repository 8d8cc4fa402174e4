import { expect, test } from "vitest";
import { binOfPlace, lineUp, makeAxis, placeAt, stepAt } from "../src/model/axis";
import { longScene, smallScene } from "./small";

const { scene } = smallScene();

test("entries share the width of their step, and the last place is the right edge", () => {
  const axis = makeAxis(scene, 60);
  expect(axis.step).toBe(30);
  expect([...axis.placeX]).toEqual([0, 10, 20, 30, 45, 60]);
});

test("every session fills the axis: it is one for all rows", () => {
  expect(makeAxis(scene, 2000).width).toBe(2000);
});

test("a place is found from the nearest edge", () => {
  const axis = makeAxis(scene, 60);
  expect([-5, 4, 6, 24, 26, 44, 99].map(x => placeAt(axis, x))).toEqual([0, 0, 1, 2, 3, 4, 5]);
});

test("a step is found from inside and clamped outside", () => {
  const axis = makeAxis(scene, 60);
  expect([-5, 29, 31, 99].map(x => stepAt(axis, x))).toEqual([0, 0, 1, 1]);
});

test("turns have their bands", () => {
  expect(makeAxis(scene, 60).turns).toEqual([
    { turn: 0, x: 0, end: 30 },
    { turn: 1, x: 30, end: 60 },
  ]);
});

test("under four pixels a step bars are by turn, none of them narrower, and no block is lost", () => {
  const long = longScene(900);
  for (const width of [300, 700, 1150, 2300]) {
    const axis = makeAxis(long, width);
    expect(axis.level).toBe("turn");
    expect(axis.binRow[0]).toBe(0);
    expect(axis.binRow[axis.bins]).toBe(long.blocks);
    const widths = [...axis.binX.slice(1)].map((x, bin) => x - (axis.binX[bin] as number));
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(4 - 1e-9);
    // If the turn before has room for a bar, a turn begins with one.
    const edges = new Set([...axis.binX].map(x => x.toFixed(3)));
    axis.turns.forEach(({ x }, i) => {
      const before = axis.turns[i - 1];
      if (before !== undefined && x - before.x >= 8 && x < width - 4)
        expect(edges.has(x.toFixed(3))).toBe(true);
    });
    for (let place = 1; place < long.entries; place++) {
      const bin = binOfPlace(long, axis, place);
      const row = long.entryStart[place] as number;
      expect(row).toBeGreaterThanOrEqual(axis.binRow[bin] as number);
      expect(row).toBeLessThan(axis.binRow[bin + 1] as number);
    }
  }
});

test("a turn that is wide has as many bars of four pixels as it holds, at whole steps", () => {
  const steps = 100;
  const turns = Int32Array.from({ length: steps }, (_, i) => (i < 40 ? 0 : i < 41 ? 1 : 2));
  const long = {
    ...scene,
    ...{ steps, entries: steps, blocks: steps, entryTurn: turns },
    blockEntry: Int32Array.from(turns.keys()),
    entryStep: Int32Array.from(turns.keys()),
    entryStart: Int32Array.from({ length: steps + 1 }, (_, i) => i),
    stepRow: Int32Array.from({ length: steps + 1 }, (_, i) => i),
  };
  const axis = makeAxis(long, 200);
  // Two pixels a step: twenty bars of the first turn; the second is too narrow and joins the third.
  expect([...axis.binRow].slice(0, 23)).toEqual([...Array.from({ length: 21 }, (_, i) => 2 * i), 42, 44]);
});

test("blocks too narrow for a bar share one within their step", () => {
  const many = {
    ...scene,
    ...{ blocks: 30, entries: 1, steps: 1, entryStep: Int32Array.of(0), entryTurn: Int32Array.of(0) },
    blockEntry: new Int32Array(30),
    entryStart: Int32Array.of(0, 30),
    stepRow: Int32Array.of(0, 30),
  };
  const axis = makeAxis(many, 45);
  expect(axis.level).toBe("block");
  const widths = [...axis.binX.slice(1)].map((x, bin) => x - (axis.binX[bin] as number));
  expect(Math.min(...widths)).toBeGreaterThanOrEqual(4 - 1e-9);
  expect([axis.binRow[0], axis.binRow[axis.bins]]).toEqual([0, 30]);
});

test("labels are in the order of their lines, whatever their widths", () => {
  const label = (x: number, width: number, end = false) => ({ x, width, end });
  expect(lineUp([label(50, 20), label(55, 20)], 100, 4)).toEqual([21, 45]);
  expect(lineUp([label(2, 20)], 100, 4)).toEqual([0]);
  // The long one ends at its line, and the number before it makes room.
  expect(lineUp([label(60, 10), label(90, 60, true)], 100, 4)).toEqual([16, 30]);
  expect(lineUp([label(90, 30, true), label(100, 20, true)], 100, 4)).toEqual([46, 80]);
});
