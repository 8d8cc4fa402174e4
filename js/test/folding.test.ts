import { expect, test } from "vitest";
import { findItem, foldRows, itemOfRow, nextDiffering } from "../src/model/folds";
import { longPlan, longScene, smallPlan, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);
const closed = new Set<number>();

test("the cut is between older and kept rows", () => {
  const { items } = foldRows(scene, plan, 3, closed);
  expect(items.map(item => item.kind)).toEqual(["row", "row", "row", "cut", "row", "row"]);
});

test("at the end everything is older and the cut is last", () => {
  expect(foldRows(scene, plan, 5, closed).items.at(-1)).toEqual({ kind: "cut", other: false });
});

test("three unchanged rows fold into one, with their tokens", () => {
  const { items, differing } = foldRows(scene, plan, 1, closed);
  expect(differing).toBe(1);
  expect(items[2]).toEqual({
    kind: "fold",
    from: 1,
    to: 5,
    same: true,
    open: false,
    before: 155,
    after: 155,
    fates: new Map([[0, 4]]),
  });
});

test("an open fold shows its rows, whichever of them opened it", () => {
  const { items } = foldRows(scene, plan, 1, new Set([3]));
  expect(items.map(item => item.kind)).toEqual(["row", "cut", "fold", "row", "row", "row", "row"]);
});

test("what is gone folds turn by turn, and what is pointed to stands alone", () => {
  const turns = Int32Array.from([0, 0, 0, 0, 0]);
  const folded = foldRows({ ...scene, entryTurn: turns }, plan, 5, closed).items;
  expect(folded.map(item => (item.kind === "row" ? item.row : item.kind))).toEqual([0, 1, 2, 3, 4, "cut"]);
  const gone = { ...plan, fateOlder: Uint8Array.from([3, 4, 3, 3, 3]), tokensOlder: new Int32Array(5) };
  const [first, ...rest] = foldRows(scene, gone, 5, closed).items;
  expect(first).toMatchObject({ kind: "fold", from: 0, to: 3, same: false, before: 115, after: 0 });
  expect(rest.map(item => item.kind)).toEqual(["row", "row", "cut"]);
});

test("a folded row is found at its fold", () => {
  const { items } = foldRows(scene, plan, 1, closed);
  expect([0, 2, 4].map(row => itemOfRow(items, row))).toEqual([0, 2, 2]);
});

test("a fold stays the same item when it opens and when it closes, and so does a cut that moves", () => {
  const shut = foldRows(scene, plan, 1, closed).items;
  const wide = foldRows(scene, plan, 1, new Set([3])).items;
  expect([findItem(wide, shut[2]), findItem(shut, wide[2])]).toEqual([2, 2]);
  expect([findItem(shut, wide[4]), findItem(wide, shut[0])]).toEqual([2, 0]);
  const [cut] = shut.filter(item => item.kind === "cut");
  expect(findItem(foldRows(scene, plan, 5, closed).items, cut)).toBe(5);
  expect([findItem(shut, undefined), findItem(shut, { kind: "cut", other: true })]).toEqual([-1, -1]);
});

test("the next differing row wraps around, and does not exist if all rows are equal", () => {
  const folded = foldRows(scene, plan, 1, closed);
  expect(nextDiffering(folded.compared, folded.items, 2)).toBe(0);
  expect(nextDiffering(folded.compared, folded.items, 2, -1)).toBe(0);
  const none = foldRows(scene, plan, 0, closed);
  expect(nextDiffering(none.compared, none.items, 0)).toBe(-1);
});

test("whatever the cut, every row is shown or folded exactly once", () => {
  const long = longScene(60);
  for (let place = 0; place <= long.entries; place += 7) {
    const rows = foldRows(long, longPlan(long), place, new Set([40])).items.flatMap(item => {
      if (item.kind === "row") return [item.row];
      if (item.kind === "cut" || item.open) return [];
      return Array.from({ length: item.to - item.from }, (_, i) => item.from + i);
    });
    expect(rows).toEqual(Array.from({ length: long.blocks }, (_, row) => row));
  }
});
