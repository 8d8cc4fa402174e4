import { expect, test } from "vitest";
import { bytes, ints, readColumns, WireError } from "../src/payloads/columns";
import { pack } from "./pack";

const { columns, bytes: data } = pack({ a: ["u8", [1, 2, 3]], b: ["i32", [-1, 70_000]] });

test("columns are read from their offsets", () => {
  const read = readColumns(columns, data);
  expect([...bytes(read, "a", 3)]).toEqual([1, 2, 3]);
  expect([...ints(read, "b", 2)]).toEqual([-1, 70_000]);
});

test("bytes that start at an odd offset of a larger buffer are read", () => {
  const larger = new Uint8Array(data.byteLength + 3);
  larger.set(new Uint8Array(data.buffer), 3);
  const read = readColumns(columns, new DataView(larger.buffer, 3));
  expect([...ints(read, "b", 2)]).toEqual([-1, 70_000]);
});

test("a column past the end of the bytes is refused by name", () => {
  expect(() => readColumns(columns, new DataView(data.buffer, 0, 8))).toThrow("Column b does not fit");
});

test("a missing column, a wrong length and a wrong type each have a sentence", () => {
  const read = readColumns(columns, data);
  expect(() => ints(read, "c", 2)).toThrow("Column c is missing.");
  expect(() => ints(read, "b", 3)).toThrow("Column b has 2 values where 3 were expected.");
  expect(() => ints(read, "a", 3)).toThrow(WireError);
});

test("no bytes at all hold empty columns only", () => {
  expect(readColumns([], null).size).toBe(0);
  expect(() => readColumns(columns, null)).toThrow(WireError);
});
