import { expect, test } from "vitest";
import { decideSame, decodePlan, decodeScene, fateAt } from "../src/model/plan";
import { smallPlan, smallScene } from "./small";

test("a scene knows its sizes and where each step's blocks start", () => {
  const { scene } = smallScene();
  expect([scene.entries, scene.blocks, scene.steps]).toEqual([5, 5, 2]);
  expect([...scene.stepRow]).toEqual([0, 3, 5]);
});

test("nothing sent yet is no scene and no plan", () => {
  expect(decodeScene({}, null)).toBeNull();
  expect(decodeScene(null, null)).toBeNull();
  expect(decodePlan({}, null, smallScene().scene)).toBeNull();
});

test("a scene of another version asks for a reload", () => {
  const { wire, data } = smallScene();
  expect(() => decodeScene({ ...wire, version: 2 }, data)).toThrow("version 2");
});

test("a plan made for another scene is not taken", () => {
  const { scene } = smallScene();
  const { wire, data } = smallPlan(scene);
  expect(decodePlan(wire, data, { ...scene, blocks: 6 })).toBeNull();
});

test("a block's fate turns on which side of the cut its entry is", () => {
  const { scene } = smallScene();
  const { plan } = smallPlan(scene);
  expect(fateAt(scene, plan, 2, 3)).toEqual({ fate: 2, tokens: 7, rule: 0 });
  expect(fateAt(scene, plan, 2, 2)).toEqual({ fate: 0, tokens: 100, rule: -3 });
});

test("two plans decide the same while only the cut differs", () => {
  const { scene } = smallScene();
  const { plan } = smallPlan(scene);
  const moved = smallPlan(scene, { cut: { place: 4, id: "e4", by: "you", sentence: "" } }).plan;
  expect(decideSame(plan, moved)).toBe(true);
  moved.fateKept[0] = 4;
  expect(decideSame(plan, moved)).toBe(false);
});

test("an empty session decodes", () => {
  const { wire } = smallScene();
  const columns = wire.columns.map(column => ({ ...column, length: 0, offset: 0 }));
  const columnOf = (name: string) => columns.find(column => column.name === name);
  for (const name of ["entry_start", "place_legal", "place_reason", "place_splits", "place_starts"])
    Object.assign(columnOf(name) ?? {}, { length: 1 });
  const empty = { ...wire, entryIds: [], columns, overview: { steps: 0, first: 0, last: 0 } };
  const scene = decodeScene(empty, new DataView(new ArrayBuffer(4)));
  expect([scene?.entries, scene?.steps, scene?.blocks]).toEqual([0, 0, 0]);
});
