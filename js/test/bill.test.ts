// @vitest-environment happy-dom
// The bill as people see it: an unknown row is a question mark, never empty.
import { expect, test } from "vitest";
import { makeHeader } from "../src/layout/header";
import type { BillPayload } from "../src/payloads/types";
import type { Actions, ViewState } from "../src/store/view";
import { smallScene } from "./small";

const draw = (bill: BillPayload, parts: string[] = ["scene"]) => {
  const view = makeHeader({} as Actions, document.createElement("span"), [], () => undefined);
  const { scene } = smallScene();
  view.draw({ scene: { ...scene, bill } } as ViewState, new Set(parts) as never);
  return view.node.querySelector<HTMLElement>("[data-testid=bill]") as HTMLElement;
};

const cells = (node: HTMLElement) =>
  [...node.querySelectorAll("tbody tr")].map(row => [...row.children].map(cell => cell.textContent));

test("each line is a row, and an unknown amount is a question mark", () => {
  const node = draw(smallScene().scene.bill);
  expect(cells(node)).toEqual([
    ["input", "2", "3,000", "1.5000"],
    ["unknown: compactions", "1", "?", "?"],
  ]);
  const cost = node.parentElement?.querySelector<HTMLElement>("[data-testid=cost]");
  expect([cost?.textContent, cost?.parentElement?.hidden, node.hidden]).toEqual([
    "at least $1.50",
    false,
    true,
  ]);
  cost?.click();
  expect(node.hidden).toBe(false);
  expect(node.textContent).toContain("opus: USD 5 in.");
  expect([...node.querySelectorAll("th")].at(-1)?.textContent).toBe("USD");
});

test("a session without usage has no bill", () => {
  const { bill } = smallScene().scene;
  const cost = draw({ ...bill, cost: "" }).parentElement?.querySelector<HTMLElement>("[data-testid=cost]");
  expect(cost?.parentElement?.hidden).toBe(true);
});
