// Words on coloured ground: none is hard to read, and no line runs through one.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findRoom } from "../src/panels/timeline/becomes-strip";

/** WCAG 2.2's contrast of two colours. */
const contrast = (first: string, other: string): number => {
  const light = (hue: string) => {
    const long = hue.length === 4 ? hue.replace(/[0-9a-f]/g, digit => digit + digit) : hue;
    const parts = [1, 3, 5].map(at => Number.parseInt(long.slice(at, at + 2), 16) / 255);
    const [red, green, blue] = parts.map(part =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0) + 0.05;
  };
  const [low, high] = [light(first), light(other)].sort((a, b) => a - b) as [number, number];
  return high / low;
};

test("words in a bar can be read on the colour of every section, light and dark", () => {
  const css = readFileSync(new URL("../src/ui/colours.css", import.meta.url), "utf8");
  const [light, dark] = css.split('.ci[data-theme="dark"]') as [string, string];
  for (const block of [light, light + dark]) {
    const find = (kind: string) =>
      new Map(
        [...block.matchAll(new RegExp(`--ci-${kind}-(\\w+): (#[0-9a-f]+);`, "g"))].map(([, id, hue]) => [
          id,
          hue,
        ]),
      );
    const [hues, inks] = [find("s"), find("i")];
    expect(hues.size).toBe(15);
    const hard = [...hues].filter(([id, hue]) => contrast(inks.get(id) ?? "#000", hue as string) < 4.5);
    // These are patterns, or no section's.
    expect(
      hard
        .map(([id]) => id)
        .filter(
          id =>
            !["system_and_tools", "hidden_reasoning", "before_file", "reattached", "ink"].includes(
              id as string,
            ),
        ),
    ).toEqual([]);
  }
});

test("labels on the strip are next to the line of a handle that crosses their part", () => {
  expect(findRoom(0, 100, 100)).toEqual([0, 100]);
  expect(findRoom(100, 300, 100)).toEqual([100, 300]);
  expect(findRoom(0, 300, 100)).toEqual([100, 300]);
  expect(findRoom(0, 300, 200)).toEqual([0, 200]);
});
