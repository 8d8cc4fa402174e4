// Words on coloured ground: none is hard to read, and no line runs through one.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findRoom } from "../src/panels/timeline/becomes-strip";
import { inkOn } from "../src/ui/canvas/canvas-colours";

/** WCAG 2.2's contrast of two colours. */
const contrast = (one: string, other: string): number => {
  const light = (hue: string) => {
    const long = hue.length === 4 ? hue.replace(/[0-9a-f]/g, digit => digit + digit) : hue;
    const parts = [1, 3, 5].map(at => Number.parseInt(long.slice(at, at + 2), 16) / 255);
    const [red, green, blue] = parts.map(part =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0) + 0.05;
  };
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b) as [number, number];
  return high / low;
};

test("words in a bar can be read on the colour of every section, light and dark", () => {
  const css = readFileSync(new URL("../src/ui/colours.css", import.meta.url), "utf8");
  const hues = [...css.matchAll(/--ci-s-\w+: (#[0-9a-f]{6})/g)].map(([, hue]) => hue as string);
  expect(hues.length).toBeGreaterThan(25);
  expect(hues.filter(hue => contrast(inkOn(hue), hue) < 4.5)).toEqual([]);
});

test("words on the strip stand beside the line of a handle that runs through their part", () => {
  expect(findRoom(0, 100, 100)).toEqual([0, 100]);
  expect(findRoom(100, 300, 100)).toEqual([100, 300]);
  expect(findRoom(0, 300, 100)).toEqual([100, 300]);
  expect(findRoom(0, 300, 200)).toEqual([0, 200]);
});
