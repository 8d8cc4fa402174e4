import { expect, test } from "vitest";
import { refOf, rowOf } from "../src/model/block-refs";
import { compareGuess, numberOf, showPlayed } from "../src/model/lesson";
import { rowOfDifference, rowOfTurn } from "../src/model/next-block";
import { fateAt, sectionAfter, totalAfter } from "../src/model/plan";
import { besideTab, readTab, TABS } from "../src/model/tabs";
import type { LessonReply, LessonStep } from "../src/payloads/types";
import { smallPlan, smallPlayed, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);

/** The pointer rule first, then the summary; as Python lists them for the cut before turn 2. */
const reply: LessonReply = {
  place: 3,
  steps: [
    {
      ...{
        rule: 0,
        title: "pointers",
        sentence: "outputs become pointers",
        blocks: 1,
        before: 165,
        after: 72,
      },
      ...{ sections: [0, 30, 30, 5, 7], summary: 0, marks: [2] },
    },
    {
      ...{
        rule: 1,
        title: "summary",
        sentence: "older turns are summarised",
        blocks: 2,
        before: 72,
        after: 62,
      },
      ...{ sections: [5, 20, 30, 0, 7], summary: 5, marks: [0, 1] },
    },
  ],
  played: smallPlayed,
};
const shown = (steps: number) => {
  const played = showPlayed(plan, reply, steps);
  const rows = [0, 1, 2, 3, 4].map(row => fateAt(scene, played, row, 3));
  return {
    fates: rows.map(({ fate }) => scene.fates[fate]?.id),
    tokens: rows.map(({ tokens }) => tokens),
    total: totalAfter(played, 3),
    outputs: sectionAfter(scene, played, 3, 4),
  };
};

test("before the first rule everything is unchanged", () => {
  expect(shown(0)).toEqual({
    fates: Array(5).fill("verbatim"),
    tokens: [10, 5, 100, 20, 30],
    total: 165,
    outputs: 100,
  });
});

test("a step shows what it and those before it decide, with the sums that Python made", () => {
  expect(shown(1)).toEqual({
    fates: ["verbatim", "verbatim", "pointer", "verbatim", "verbatim"],
    tokens: [10, 5, 7, 20, 30],
    total: 72,
    outputs: 7,
  });
});

test("after the last rule it is the plan itself", () => {
  expect(showPlayed(plan, reply, 2)).toBe(plan);
  expect(shown(2).total).toBe(62);
});

test("a guess is off by turns and by tokens", () => {
  expect(compareGuess(scene, plan, 1, 3)).toEqual({ turns: -1, tokens: 96 });
  expect(compareGuess(scene, plan, 3, 3)).toEqual({ turns: 0, tokens: 0 });
});

test("blocks are found by name and named again", () => {
  expect(refOf(scene, 2)).toBe("e2/0");
  expect(rowOf(scene, "e2/0")).toBe(2);
  for (const unknown of ["e2/1", "e9/0", "e2", "", "/0", "e2/x", "e2/-1"])
    expect(rowOf(scene, unknown)).toBe(-1);
});

test("turns are walked from their first blocks", () => {
  expect([rowOfTurn(scene, -1, 1), rowOfTurn(scene, 1, 1), rowOfTurn(scene, 3, 1)]).toEqual([0, 3, 3]);
  expect([rowOfTurn(scene, 4, -1), rowOfTurn(scene, 0, -1), rowOfTurn(scene, -1, -1)]).toEqual([0, 0, 3]);
});

test("differences are visited, from the original without a plan B and from plan B with one", () => {
  expect(rowOfDifference(scene, plan, 3, null, 2, 1)).toBe(0);
  expect(rowOfDifference(scene, plan, 3, null, 0, 1)).toBe(1);
  const other = smallPlan(scene, { cut: { place: 1, id: "e1", by: "you", sentence: "" } }).plan;
  expect(rowOfDifference(scene, plan, 3, other, -1, 1)).toBe(1);
  expect(rowOfDifference(scene, plan, 3, plan, 0, 1)).toBe(-1);
});

test("tabs go round among those that are offered, and an unknown one is Blocks", () => {
  const all = TABS.map(({ id }) => id);
  expect(all.map(tab => besideTab(all, tab, 1))).toEqual([...all.slice(1), all[0]]);
  expect(besideTab(["facts", "blocks"], "facts", -1)).toBe("blocks");
  expect([readTab("lesson"), readTab("teach"), readTab(undefined)]).toEqual(["lesson", "blocks", "blocks"]);
});

test("a step has the number that other panels give its rule, and what is no rule has none", () => {
  const [first] = reply.steps as [LessonStep];
  expect(numberOf({ ...first, rule: 4 })).toBe("5");
  expect(numberOf({ ...first, rule: -3 })).toBe("");
});
