import { expect, test } from "vitest";
import { makeAxis } from "../src/model/axis";
import {
  barHeight,
  changedBins,
  isClipped,
  measureLanes,
  piecesOf,
  roomOf,
  roundUp,
} from "../src/model/bars";
import { findSplit, sayTotal, sumFates, totalOf } from "../src/model/becomes";
import { smallPlan, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);
const axis = makeAxis(scene, 60);
const lanes = measureLanes(scene, axis);

test("a lane knows the tokens of its bars, and sections outside the lanes have none", () => {
  expect(lanes.sums.map(lane => [...lane])).toEqual([
    [10, 20],
    [100, 0],
  ]);
  expect(lanes.laneOf[2]).toBe(-1);
});

test("full height is the 98th percentile, rounded up to 1, 2, 4 or 8 times a power of ten", () => {
  expect([1, 3, 5, 20, 81, 240, 8309].map(roundUp)).toEqual([1, 4, 8, 20, 100, 400, 10_000]);
  expect(lanes.full).toEqual([20, 100]);
  expect(lanes.scale.join("")).toBe("to 100; others to 20");
});

test("the height is in proportion to the tokens, and a longer bar has the lane's height", () => {
  expect(barHeight(lanes, 1, 100)).toBe(roomOf(lanes, 1));
  expect(barHeight(lanes, 1, 100) / barHeight(lanes, 1, 25)).toBeCloseTo(4);
  expect(barHeight(lanes, 1, 0)).toBe(0);
  expect([barHeight(lanes, 1, 900), isClipped(lanes, 1, 900)]).toEqual([roomOf(lanes, 1), true]);
  expect(isClipped(lanes, 1, 100)).toBe(false);
});

test("of fifty bars the longest is clipped, and the others are not", () => {
  const tokens = Int32Array.from({ length: 60 }, (_, i) => (i === 59 ? 5000 : 90));
  const long = {
    ...scene,
    ...{ blocks: 60, entries: 60, steps: 60, blockTokens: tokens, blockOutside: new Int32Array(60) },
    blockSection: new Uint8Array(60).fill(4),
    blockEntry: Int32Array.from(tokens.keys()),
    entryStep: Int32Array.from(tokens.keys()),
    entryTurn: Int32Array.from(tokens.keys()),
    entryStart: Int32Array.from({ length: 61 }, (_, i) => i),
    stepRow: Int32Array.from({ length: 61 }, (_, i) => i),
  };
  const measured = measureLanes(long, makeAxis(long, 600));
  expect(measured.full[1]).toBe(100);
  expect([...(measured.sums[1] ?? [])].filter(sum => isClipped(measured, 1, sum))).toEqual([5000]);
});

test("stacked, all lanes are one", () => {
  const stacked = measureLanes(scene, axis, true);
  expect([stacked.list.length, stacked.height]).toEqual([1, 56]);
  expect([...(stacked.sums[0] ?? [])]).toEqual([110, 20]);
  expect([stacked.laneOf[1], stacked.laneOf[4], stacked.laneOf[2]]).toEqual([0, 0, -1]);
});

test("lanes are higher where the type is larger", () => {
  const larger = measureLanes(scene, axis, false, 1.25);
  expect(larger.height).toBeGreaterThan(1.2 * lanes.height);
  expect(larger.tops.slice(1)).toEqual(larger.floors.slice(0, -1));
});

test("growth outside the file has its own lane, and shrinks with its block", () => {
  const sections = [...scene.sections, { id: "hidden_reasoning", label: "hidden reasoning" }];
  const hidden = { id: "hidden_reasoning", label: "hidden reasoning", sections: [5] };
  const grown = {
    ...scene,
    sections,
    lanes: [scene.lanes[0] as typeof hidden, hidden, scene.lanes[1] as typeof hidden],
    blockOutside: Int32Array.of(0, 0, 40, 0, 8),
  };
  const three = measureLanes(grown, axis);
  expect([...(three.sums[1] ?? [])]).toEqual([40, 8]);
  const piece = (place: number) =>
    piecesOf(grown, plan, axis, three, 0, place).find(({ section }) => section === 5);
  expect(piece(0)).toMatchObject({ lane: 1, tokens: 40, after: 40 });
  // The pointer keeps 7 of the 100 tokens of its output.
  expect(piece(3)?.after).toBeCloseTo(2.8);
  // One lane for all is of what is in the file.
  expect([...(measureLanes(grown, axis, true).sums[0] ?? [])]).toEqual([110, 20]);
});

test("all lanes and the pill fit 220 pixels, however many there are", () => {
  const many = {
    ...scene,
    lanes: ["a", "b", "c", "d", "e", "f", "g", "tool_output"].map((id, i) => ({
      id,
      label: id,
      sections: [i],
    })),
  };
  // With the pill 30, the turns 16, the strip and the places 30, and the row of what is chosen 17.
  expect(measureLanes(many, axis).height + 30 + 16 + 30 + 17).toBeLessThanOrEqual(221);
  expect(lanes.floors).toEqual([16, 16 + 48]);
});

test("outcomes of all blocks are looked up by place", () => {
  const sums = sumFates(scene, plan);
  expect(totalOf(scene, sums, 0, 3)).toEqual({ blocks: 2, tokens: 50, after: 50 });
  expect(totalOf(scene, sums, 3, 3)).toEqual({ blocks: 2, tokens: 15, after: 0 });
  expect(totalOf(scene, sums, 2, 3)).toEqual({ blocks: 1, tokens: 100, after: 7 });
  expect(totalOf(scene, sums, 0, 5)).toEqual({ blocks: 0, tokens: 0, after: 0 });
});

test("the words of a fate count its blocks", () => {
  const total = { blocks: 242, tokens: 108_950, after: 0 };
  const say = (id: string, after = 0) => sayTotal({ id, label: id }, { ...total, after }, 3365);
  expect(say("summarised")).toEqual(["one summary: 242 blocks, 109k → 3.4k", "summary 3.4k"]);
  expect(say("verbatim", 108_950)).toEqual(["kept as it is: 242 blocks, 109k", "kept 109k"]);
  expect(say("dropped")[0]).toBe("dropped: 242 blocks, 109k");
  expect(say("pointer", 700)[0]).toBe("pointer: 242 blocks, 109k → 700");
});

test("S4-47 S4-48 the beginning of a turn that the cut splits takes a second call, unless nothing is before it", () => {
  const splits = (from?: number) =>
    [0, 1, 2, 3, 4, 5].map(place => findSplit(scene, { ...plan, splitFrom: from }, place));
  // The second turn begins at position 3: only a cut at 4 splits it.
  expect(splits(0)).toEqual([-1, -1, -1, -1, 3, -1]);
  expect(splits(3)).toEqual([-1, -1, -1, -1, -1, -1]);
  expect(splits()).toEqual([-1, -1, -1, -1, -1, -1]);
  const total = { blocks: 3, tokens: 135, after: 0 };
  expect(sayTotal({ id: "summarised", label: "summarised" }, total, 40, 2)).toEqual([
    "one summary in 2 calls: 3 blocks, 135 → 40",
    "2 calls 40",
  ]);
});

test("a bin's pieces carry the fate that the cut gives them", () => {
  const [user, output] = piecesOf(scene, plan, axis, lanes, 0, 3);
  expect(user).toEqual({ lane: 0, section: 1, fate: 3, tokens: 10, after: 0 });
  expect(output).toEqual({ lane: 1, section: 4, fate: 2, tokens: 100, after: 7 });
  expect(piecesOf(scene, plan, axis, lanes, 0, 0).map(piece => piece.fate)).toEqual([0, 0]);
});

test("a moving cut changes only the bins it passes", () => {
  expect(changedBins(scene, axis, 1, 2)).toEqual([0, 0]);
  expect(changedBins(scene, axis, 1, 4)).toEqual([0, 1]);
  expect(changedBins(scene, axis, 5, 5)).toEqual([2, 1]);
});
