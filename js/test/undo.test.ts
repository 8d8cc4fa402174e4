import { expect, test } from "vitest";
import { type Edit, UndoHistory } from "../src/store/undo";

const start: Edit = { at: "", policy: "flue", settings: {}, pins: [], versus: {}, cut: "" };
const with_ = (changes: Partial<Edit>): Edit => ({ ...start, ...changes });

test("every change is one step, undone and redone in order", () => {
  const history = new UndoHistory(start);
  history.record(with_({ cut: "e1" }));
  history.record(with_({ cut: "e1", pins: ["e0/0"] }));
  expect(history.names).toEqual({ undo: "a pin", redo: "" });
  expect(history.undo()).toEqual(with_({ cut: "e1" }));
  expect(history.names).toEqual({ undo: "the cut", redo: "a pin" });
  expect(history.undo()).toEqual(start);
  expect(history.undo()).toBeUndefined();
  expect(history.redo()).toEqual(with_({ cut: "e1" }));
  expect(history.redo()).toEqual(with_({ cut: "e1", pins: ["e0/0"] }));
  expect(history.redo()).toBeUndefined();
});

test("the same values are no step, in whatever order their keys come", () => {
  const history = new UndoHistory(with_({ settings: { a: 1, b: 2 } }));
  history.record(with_({ settings: { b: 2, a: 1 } }));
  expect(history.names.undo).toBe("");
});

test("changes that Python makes in answer to a step belong to it", () => {
  const history = new UndoHistory(with_({ cut: "e4", settings: { a: 1 } }));
  history.record(with_({ policy: "pi", settings: {}, cut: "e4" }));
  history.amend(with_({ policy: "pi", settings: {}, cut: "" }));
  expect(history.names).toEqual({ undo: "the policy", redo: "" });
  expect(history.undo()).toEqual(with_({ cut: "e4", settings: { a: 1 } }));
  expect(history.redo()).toEqual(with_({ policy: "pi", settings: {}, cut: "" }));
});

test("a step that Python refused is removed", () => {
  const history = new UndoHistory(start);
  history.record(with_({ cut: "e9" }));
  history.amend(start);
  expect(history.names.undo).toBe("");
});

test("a new step forgets what was undone", () => {
  const history = new UndoHistory(start);
  history.record(with_({ cut: "e1" }));
  history.undo();
  history.record(with_({ policy: "pi" }));
  expect(history.names).toEqual({ undo: "the policy", redo: "" });
});

test("a hundred steps are kept", () => {
  const history = new UndoHistory(start);
  for (let i = 0; i < 130; i++) history.record(with_({ cut: `e${i}` }));
  let count = 0;
  while (history.undo() !== undefined) count++;
  expect(count).toBe(100);
});
