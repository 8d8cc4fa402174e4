import { expect, test } from "vitest";
import { makeAxis } from "../src/model/axis";
import { barHeight, changedBins, measureLanes, piecesOf } from "../src/model/bars";
import { smallPlan, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);
const axis = makeAxis(scene, 60);
const lanes = measureLanes(scene, axis);

test("a lane knows its largest bar, and sections outside the lanes have none", () => {
  expect(lanes.peaks).toEqual([20, 100]);
  expect(lanes.laneOf[2]).toBe(-1);
});

test("the height goes by the square root, on one scale for all lanes", () => {
  expect(barHeight(lanes, 100) / barHeight(lanes, 25)).toBeCloseTo(2);
  expect(barHeight(lanes, 0)).toBe(0);
});

test("every bar fits its lane", () => {
  lanes.peaks.forEach((peak, lane) => {
    const room = (lanes.floors[lane] as number) - (lanes.tops[lane] as number);
    expect(barHeight(lanes, peak)).toBeLessThanOrEqual(room);
  });
});

test("a bin's pieces carry the fate that the cut gives them", () => {
  const [user, output] = piecesOf(scene, plan, axis, lanes, 0, 3);
  expect(user).toEqual({ lane: 0, section: 1, fate: 3, tokens: 10, left: 0 });
  expect(output).toEqual({ lane: 1, section: 4, fate: 2, tokens: 100, left: 7 });
  expect(piecesOf(scene, plan, axis, lanes, 0, 0).map(piece => piece.fate)).toEqual([0, 0]);
});

test("a moving cut changes only the bins it passes", () => {
  expect(changedBins(scene, axis, 1, 2)).toEqual([0, 0]);
  expect(changedBins(scene, axis, 1, 4)).toEqual([0, 1]);
  expect(changedBins(scene, axis, 5, 5)).toEqual([2, 1]);
});
