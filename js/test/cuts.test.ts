import { expect, test } from "vitest";
import {
  firstLegal,
  idOf,
  lastLegal,
  makeCuts,
  nearestLegal,
  nearestStart,
  nextLegal,
  nextStart,
  nextTurn,
  previousLegal,
  previousTurn,
  whyNot,
} from "../src/model/cuts";
import { smallScene } from "./small";

const { scene } = smallScene();
const cuts = makeCuts(scene);

test("the arrows step over invalid cut points and stop at the last legal one", () => {
  expect([1, 3, 4, 5].map(place => nextLegal(cuts, place))).toEqual([3, 4, 5, 5]);
  expect([5, 4, 3, 1].map(place => previousLegal(cuts, place))).toEqual([4, 3, 1, 1]);
});

test("Home and End go to the first and the last valid cut point", () => {
  expect([firstLegal(cuts, 4), lastLegal(cuts, 4)]).toEqual([1, 5]);
});

test("by turn: forward to the next turn's first valid cut point, back to this turn's, then the one before", () => {
  expect(nextTurn(scene, cuts, 1)).toBe(3);
  expect(nextTurn(scene, cuts, 3)).toBe(5);
  expect(previousTurn(scene, cuts, 5)).toBe(3);
  expect(previousTurn(scene, cuts, 3)).toBe(1);
  expect(previousTurn(scene, cuts, 1)).toBe(1);
});

test("an invalid cut point snaps to the nearest legal one by position, to the older of two as near", () => {
  expect(nearestLegal(cuts, 2, [0, 10, 20, 30, 40, 50])).toBe(1);
  expect(nearestLegal(cuts, 2, [0, 10, 25, 30, 40, 50])).toBe(3);
  expect(nearestLegal(cuts, 0, [0, 10, 20, 30, 40, 50])).toBe(1);
});

test("behind a beginning only later places are valid", () => {
  const later = { ...cuts, since: 3 };
  expect([firstLegal(later, 5), previousLegal(later, 4)]).toEqual([4, 4]);
});

test("a beginning steps over places inside a call and its output, and stays before the cut", () => {
  expect([0, 1, 3].map(place => nextStart(scene, place, 1, 4))).toEqual([1, 3, 3]);
  expect([3, 1, 0].map(place => nextStart(scene, place, -1, 4))).toEqual([1, 0, 0]);
  const positions = [0, 10, 20, 30, 40, 50];
  expect([0, 2, 4, 5].map(place => nearestStart(scene, place, 4, positions))).toEqual([0, 1, 3, 3]);
  expect(nearestStart(scene, 2, 5, [0, 10, 25, 30, 40, 50])).toBe(3);
});

test("without a valid cut point there is no nearest one, and the keys do nothing", () => {
  const none = makeCuts({ ...scene, placeLegal: new Uint8Array(6) });
  expect(nearestLegal(none, 2, [0, 1, 2, 3, 4, 5])).toBe(-1);
  expect([nextLegal(none, 2), firstLegal(none, 2), lastLegal(none, 2)]).toEqual([2, 2, 2]);
});

test("an invalid cut point has its reason, a legal one none", () => {
  expect(whyNot(scene, 2)).toBe("An output would stand without its call.");
  expect(whyNot(scene, 3)).toBe("");
});

test("places are named by the first kept entry, the last by end", () => {
  expect([idOf(scene, 3), idOf(scene, 5)]).toEqual(["e3", "end"]);
  expect([cuts.placeOf.get("e4"), cuts.placeOf.get("end"), cuts.placeOf.get("gone")]).toEqual([
    4,
    5,
    undefined,
  ]);
});
