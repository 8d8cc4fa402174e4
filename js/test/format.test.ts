import { expect, test } from "vitest";
import { nameBlock } from "../src/model/block-titles";
import { exact, nameTurns, percent, plural, sayPlace, short, signed } from "../src/model/format";
import { smallPlan, smallScene } from "./small";

test("short numbers for people", () => {
  expect([0, 918, 1000, 41_712, 999_949, 999_950, 1_240_000].map(short)).toEqual([
    "0",
    "918",
    "1k",
    "41.7k",
    "999.9k",
    "1M",
    "1.24M",
  ]);
});

test("a change has its sign, and minus is a minus", () => {
  expect([21_300, -38_140, 0].map(signed)).toEqual(["+21.3k", "\u221238.1k", "0"]);
});

test("exact numbers are grouped by narrow spaces", () => {
  expect([712, 41_712, -1_241_712].map(exact)).toEqual(["712", "41,712", "\u22121,241,712"]);
});

test("a place is said as the slider says it", () => {
  const { scene } = smallScene();
  const { plan } = smallPlan(scene);
  expect(sayPlace(scene, plan, 3)).toBe("turn 2, valid, 62 after");
  expect(sayPlace(scene, plan, 4)).toBe("turn 2, valid, 44 after, splits the turn");
  expect(sayPlace(scene, plan, 5)).toBe("end, valid, 17 after");
  expect(sayPlace(scene, plan, 2)).toBe("turn 1, not valid");
  const uncut = { ...plan, cut: { ...plan.cut, place: 0, id: "" } };
  expect(sayPlace(scene, uncut, 0)).toBe("no cut, 165 after");
  expect(sayPlace(scene, uncut, 3)).toBe("turn 2, valid, 62 after");
});

test("turns, counts and shares", () => {
  expect([nameTurns(44, 44), nameTurns(44, 47)]).toEqual(["turn 45", "turns 45–48"]);
  expect([plural(1, "row"), plural(2, "entry", "entries")]).toEqual(["1 row", "2 entries"]);
  expect(percent(61, 100)).toBe("61\u202f%");
});

test("a label does not repeat the section next to it", () => {
  expect(nameBlock("user text", "user")).toBe("");
  expect(nameBlock("reasoning (encrypted)", "reasoning")).toBe("(encrypted)");
  expect(nameBlock("Bash(go test)", "tool call")).toBe("Bash(go test)");
});
