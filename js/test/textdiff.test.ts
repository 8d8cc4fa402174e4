// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { joinPieces, type Pieces, showDiff } from "../src/ui/text-diff";

const pieces: Pieces = [
  ["same", "one\n"],
  ["gone", "two <b>\n"],
  ["new", "[1 line left out]"],
];
const pre = (node: HTMLElement) => node.querySelector("pre") as HTMLElement;

test("what is gone is deleted text and what is new inserted text, all of it as text", () => {
  const node = showDiff("before → after", pieces);
  expect(pre(node).querySelector("del")?.textContent).toBe("two <b>\n");
  expect(pre(node).querySelector("ins")?.textContent).toBe("[1 line left out]");
  expect(pre(node).querySelector("b")).toBeNull();
  expect(pre(node).textContent).toBe("one\ntwo <b>\n[1 line left out]");
  expect(node.querySelector("figcaption")?.textContent).toContain("12 → 21 characters");
});

test("the pieces are both texts again", () => {
  expect(joinPieces(pieces, "new")).toBe("one\ntwo <b>\n");
  expect(joinPieces(pieces, "gone")).toBe("one\n[1 line left out]");
});

test("a long piece shows its ends, says how much it leaves out, and all of it when asked", () => {
  const long = `a${"🙂".repeat(1000)}z`;
  const node = showDiff("d", [["gone", long]]);
  document.body.replaceChildren(node);
  const gone = pre(node).querySelector("del") as HTMLElement;
  expect(gone.textContent).toContain("characters gone");
  expect(gone.textContent).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/u);
  gone.querySelector("button")?.click();
  expect(gone.textContent).toBe(long);
});

test("a text counts its characters as Python does", () => {
  const node = showDiff("d", [
    ["same", "🙂🙂"],
    ["gone", "🙂"],
  ]);
  expect(node.querySelector("figcaption")?.textContent).toContain("3 → 2 characters");
});
