import { expect, test } from "vitest";
import { type Edit, Past } from "../src/store/undo";

const start: Edit = { at: "", policy: "flue", settings: {}, pins: [], versus: {}, cut: "" };
const with_ = (changes: Partial<Edit>): Edit => ({ ...start, ...changes });

test("every change is one step, undone and redone in order", () => {
  const past = new Past(start);
  past.record(with_({ cut: "e1" }));
  past.record(with_({ cut: "e1", pins: ["e0/0"] }));
  expect(past.names).toEqual({ undo: "a pin", redo: "" });
  expect(past.undo()).toEqual(with_({ cut: "e1" }));
  expect(past.names).toEqual({ undo: "the cut", redo: "a pin" });
  expect(past.undo()).toEqual(start);
  expect(past.undo()).toBeUndefined();
  expect(past.redo()).toEqual(with_({ cut: "e1" }));
  expect(past.redo()).toEqual(with_({ cut: "e1", pins: ["e0/0"] }));
  expect(past.redo()).toBeUndefined();
});

test("the same values are no step, in whatever order their keys come", () => {
  const past = new Past(with_({ settings: { a: 1, b: 2 } }));
  past.record(with_({ settings: { b: 2, a: 1 } }));
  expect(past.names.undo).toBe("");
});

test("what Python sets in answer to a step belongs to it", () => {
  const past = new Past(with_({ cut: "e4", settings: { a: 1 } }));
  past.record(with_({ policy: "pi", settings: {}, cut: "e4" }));
  past.amend(with_({ policy: "pi", settings: {}, cut: "" }));
  expect(past.names).toEqual({ undo: "the policy", redo: "" });
  expect(past.undo()).toEqual(with_({ cut: "e4", settings: { a: 1 } }));
  expect(past.redo()).toEqual(with_({ policy: "pi", settings: {}, cut: "" }));
});

test("a step that Python refused is none", () => {
  const past = new Past(start);
  past.record(with_({ cut: "e9" }));
  past.amend(start);
  expect(past.names.undo).toBe("");
});

test("a new step forgets what was undone", () => {
  const past = new Past(start);
  past.record(with_({ cut: "e1" }));
  past.undo();
  past.record(with_({ policy: "pi" }));
  expect(past.names).toEqual({ undo: "the policy", redo: "" });
});

test("a hundred steps are kept", () => {
  const past = new Past(start);
  for (let i = 0; i < 130; i++) past.record(with_({ cut: `e${i}` }));
  let count = 0;
  while (past.undo() !== undefined) count++;
  expect(count).toBe(100);
});
