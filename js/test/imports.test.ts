/// <reference types="node" />
// The files of the front end import each other in no circle, types included: each can be read after its imports.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../src");
const ENDINGS = [".ts", "/index.ts", ".tsx"];

const files = new Set(
  readdirSync(SRC, { recursive: true, encoding: "utf-8" })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => name.replaceAll("\\", "/")),
);

/** The files of `src` that one of them imports or passes on. */
const importsOf = (file: string): string[] =>
  ts
    .preProcessFile(readFileSync(join(SRC, file), "utf-8"))
    .importedFiles.map(({ fileName }) => fileName)
    .filter(name => name.startsWith(".") && !name.endsWith(".css"))
    .map(name => {
      const path = join(dirname(file), name);
      const target = ENDINGS.map(ending => path + ending).find(candidate => files.has(candidate));
      if (target === undefined) throw new Error(`${file} imports ${name}, which is no file of src`);
      return target;
    });

const graph = new Map([...files].sort().map(file => [file, importsOf(file)]));

/** A path along the imports that returns to its start, or []. */
const findCircle = (imports: ReadonlyMap<string, readonly string[]>): string[] => {
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (finished.has(file)) return [];
    for (const target of imports.get(file) ?? []) {
      const circle = visit(target, [...way, file]);
      if (circle.length > 0) return circle;
    }
    finished.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
};

test("a circular import is found, and named from its first file", () => {
  const imports = new Map([
    ["start", ["a"]],
    ["a", ["end", "b"]],
    ["b", ["c"]],
    ["c", ["a"]],
    ["end", []],
  ]);
  expect(findCircle(imports)).toEqual(["a", "b", "c", "a"]);
  imports.set("c", ["end"]);
  expect(findCircle(imports)).toEqual([]);
});

test("type imports are imports", () => {
  expect(graph.get("store/facts.ts")).toContain("model/facts.ts");
});

test("imports go in no circle", () => {
  expect(findCircle(graph).join(" imports ")).toBe("");
});
