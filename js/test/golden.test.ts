/// <reference types="node" />
// The pair that Python is held to (tests/golden_wire.py), read as the workbench reads it. Every figure below can be
// recounted from the session of that file; tokens are a session's of three turns, 4 characters each:
//   turn 1   e0 user 10 · e1 text 5, call 5 · e2 output 100 · e3 text 20
//   turn 2   e4 summary 15 · e5 user 10 · e6 reasoning 8, text 12 (pinned); 6 tokens more were reported than counted
//   turn 3   e7 user 6 · e8 call 5 · e9 output 40 · e10 text 7; in parallel a helper's s0 9
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { END, makeCuts, nextLegal, previousLegal, whyNot } from "../src/model/cuts";
import { sayPlace } from "../src/model/format";
import { decodePlan, decodeScene, fateAt, type Plan, type Scene, sectionAfter } from "../src/model/plan";
import { bandStates } from "../src/model/run";
import { decodeRun, type Run } from "../src/model/run-decode";

const read = (name: string): [object, DataView] => {
  const file = (ending: string) =>
    readFileSync(`${import.meta.dirname}/../../tests/cases/wire/${name}.${ending}`);
  const data = file("bin");
  return [
    JSON.parse(file("json").toString("utf-8")),
    new DataView(data.buffer, data.byteOffset, data.byteLength),
  ];
};

const scene = decodeScene(...read("scene")) as Scene;
const plan = decodePlan(...read("plan"), scene) as Plan;
const run = decodeRun(...read("run")) as Run;
const code = (id: string) => scene.sections.findIndex(section => section.id === id);

test("the context is what the recorded compaction left and what came after it", () => {
  expect(scene.entryIds).toEqual(["e4", "e5", "e6", "e7", "e8", "e9", "e10"]);
  expect([scene.entries, scene.blocks, scene.steps]).toEqual([7, 8, 6]);
  expect([...scene.blockTokens]).toEqual([15, 10, 8, 12, 6, 5, 40, 7]);
  expect([...scene.blockSection].map(section => scene.sections[section]?.id)).toEqual([
    "compacted",
    "user",
    "reasoning",
    "assistant",
    "user",
    "tool_call",
    "tool_output",
    "assistant",
  ]);
  expect([...scene.entryTurn].map(turn => turn + 1)).toEqual([2, 2, 2, 3, 3, 3, 3]);
});

test("every entry but three has a valid cut before it, and those say why not", () => {
  const cuts = makeCuts(scene);
  const legal = [...scene.placeLegal].flatMap((is, place) => (is ? [scene.entryIds[place] ?? END] : []));
  expect(legal).toEqual(["e6", "e7", "e8", "e10", END]);
  expect(whyNot(scene, 5)).toContain("a tool's output without the call");
  expect(whyNot(scene, 0)).toContain("nothing to compact");
  expect(nextLegal(cuts, 4)).toBe(6);
  expect(previousLegal(cuts, 6)).toBe(4);
});

test("the overview has nine steps, what was reported where it was, and the compaction at the fourth", () => {
  expect([...scene.overviewEstimated]).toEqual([10, 120, 140, 15, 25, 45, 51, 96, 103]);
  expect([...scene.overviewReported]).toEqual([-1, -1, -1, -1, -1, 51, -1, -1, -1]);
  expect(scene.boundaries.map(({ step, before }) => [step, before])).toEqual([[3, 140]]);
  expect(scene.segments.map(({ at }) => at)).toEqual(["e3", "e10"]);
});

test("a call and its output refer to each other, and a sub-agent's words are next to their step", () => {
  expect([...scene.blockPair]).toEqual([-1, -1, -1, -1, -1, 6, 5, -1]);
  expect([...scene.stepOverview]).toEqual([3, 4, 5, 6, 7, 8]);
  expect([[...scene.sideLane], [...scene.sideStep], [...scene.sideTokens]]).toEqual([[0], [5], [9]]);
});

test("the plan keeps the last turn and the pin; what is not in the file stays whatever is cut", () => {
  expect(plan.cut).toMatchObject({ id: "e7", place: 3, by: "policy" });
  expect(plan.before.total).toBe(15 + 10 + 8 + 12 + 6 + 5 + 40 + 7 + 6);
  expect(plan.before.sections[code("system_and_tools")]).toBe(31 - 15 - 10);
  expect([...plan.afterTotal]).toEqual([-1, -1, 84, 76, 70, -1, 25, 18]);
  expect(sayPlace(scene, plan, 3)).toBe("turn 3, valid, 76 after");
});

test("the sections after a cut add up to its total", () => {
  for (const place of [2, 3, 4, 6, 7]) {
    const sum = scene.sections.reduce((total, _, i) => total + sectionAfter(scene, plan, place, i), 0);
    expect(sum).toBe(plan.afterTotal[place]);
  }
  expect(sectionAfter(scene, plan, 4, code("user"))).toBe(0);
  expect(sectionAfter(scene, plan, 3, code("assistant"))).toBe(12 + 7);
});

test("older blocks are dropped by the rule that says so, the pinned one by none", () => {
  const at = (row: number, place: number) => {
    const { fate, tokens, rule } = fateAt(scene, plan, row, place);
    return [scene.fates[fate]?.id, tokens, plan.rules[rule]?.kind];
  };
  expect(at(1, 3)).toEqual(["dropped", 0, "drop-older"]);
  expect(at(3, 3)).toEqual(["verbatim", 12, undefined]);
  expect(at(1, 0)).toEqual(["verbatim", 10, undefined]);
  expect(plan.rules.find(({ kind }) => kind === "drop-older")?.delta).toBe(-(15 + 10 + 8));
});

test("replayed, the policy does not compact at the recorded step, and then at 156 of 145", () => {
  expect([...run.recorded]).toEqual([10, 120, 140, 15, 25, 51, 57, 102, 109]);
  expect([...run.replayed]).toEqual([10, 120, 140, 140, 156, 16 + 8 + 12, 42, 87, 94]);
  expect(run.compactions.map(({ step, before, after }) => [step, before, after])).toEqual([[5, 156, 16]]);
  expect(run.thresholds.map(({ tokens }) => tokens)).toContain(145);
  const done = run.events.findIndex(({ tone }) => tone === "done");
  expect(run.compactions[run.events[done]?.compaction ?? -1]?.after).toBe(16);
  expect(run.events[run.first]?.tone).toBe("done");
  expect(run.events.every(({ step }) => step === 5)).toBe(true);
});

test("a request sends everything before its reply; the part of the previous request is cached", () => {
  expect([...run.sent]).toEqual([0, 10, 120, 0, 0, 16, 0, 42, 87]);
  expect([...run.cached]).toEqual([0, 0, 10, 0, 0, 6, 0, 16, 42]);
  expect(bandStates(run)).toEqual([
    { state: 0, from: 0, to: 5 },
    // It compacts and is back within one step.
    { state: 4, from: 5, to: 5.5 },
    { state: 0, from: 5.5, to: 9 },
  ]);
});
