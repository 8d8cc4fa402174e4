import { expect, test } from "vitest";
import { startKernel } from "../dev/kernel";
import { binOfPlace, makeAxis, placeAt, spreadLabels, stepAt } from "../src/model/axis";
import { decodeScene, type Scene } from "../src/model/plan";
import { smallScene } from "./small";

const { scene } = smallScene();

test("entries share the width of their step, and the last place is the right edge", () => {
  const axis = makeAxis(scene, 60);
  expect(axis.step).toBe(30);
  expect([...axis.placeX]).toEqual([0, 10, 20, 30, 45, 60]);
});

test("a short session does not fill a wide screen with wide bars", () => {
  expect(makeAxis(scene, 2000).width).toBe(88);
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

test("with more steps than pixels there is one bin per pixel and no block is lost", () => {
  const { traits } = startKernel(900);
  const long = decodeScene(traits._scene, traits._scene_data) as Scene;
  const axis = makeAxis(long, 300);
  expect(axis.bins).toBe(300);
  expect(axis.binRow[0]).toBe(0);
  expect(axis.binRow[300]).toBe(long.blocks);
  for (let place = 1; place < long.entries; place++) {
    const bin = binOfPlace(long, axis, place);
    const row = long.entryStart[place] as number;
    expect(row).toBeGreaterThanOrEqual(axis.binRow[bin] as number);
    expect(row).toBeLessThan(axis.binRow[bin + 1] as number);
  }
});

test("labels keep apart and inside the edges", () => {
  expect(spreadLabels([50, 55], [20, 20], 100, 4)).toEqual([40, 64]);
  expect(spreadLabels([90, 99], [20, 20], 100, 4)).toEqual([56, 80]);
  expect(spreadLabels([2], [20], 100, 4)).toEqual([0]);
});

test("labels stand in the order of what they name, however close it lies", () => {
  expect(spreadLabels([55, 50], [20, 20], 100, 4)).toEqual([64, 40]);
  expect(spreadLabels([99, 10, 90], [20, 20, 20], 100, 4)).toEqual([80, 0, 56]);
});
