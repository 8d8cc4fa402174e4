import { expect, test } from "vitest";
import { stackHeights, totalHeight, visibleItems } from "../src/ui/list/heights";

const heights = stackHeights(5, index => (index === 2 ? 100 : 20));

test("heights add up", () => {
  expect(totalHeight(heights)).toBe(180);
  expect(totalHeight(stackHeights(0, () => 20))).toBe(0);
});

test("the items in sight are those that touch it", () => {
  expect(visibleItems(heights, 0, 40, 0)).toEqual([0, 2]);
  expect(visibleItems(heights, 39, 41, 0)).toEqual([1, 3]);
  expect(visibleItems(heights, 50, 60, 0)).toEqual([2, 3]);
  expect(visibleItems(heights, 50, 60, 1)).toEqual([1, 4]);
});
