// @vitest-environment happy-dom
// The small plan as A cuts at e3; B keeps everything from e1 on, or is what a file records.
import { afterEach, expect, test, vi } from "vitest";
import { compare, heldOf, swapped } from "../src/model/compare";
import { foldRows, nextDiffering } from "../src/model/folds";
import type { Traits } from "../src/payloads/host";
import type { PlanPayload } from "../src/payloads/types";
import { close, draw, find, scene } from "./bench";
import { smallPlan } from "./small";
import { settle } from "./wait";

const a = smallPlan(scene);
const early: Partial<PlanPayload> = {
  policy: "other",
  policyTitle: "Other",
  label: "Other",
  cut: { place: 1, id: "e1", by: "policy", sentence: "It cuts early." },
};
const b = smallPlan(scene, early);
const closed = new Set<number>();
const from = { scene, plan: a.plan, place: 3, settings: { "pointer.over": 9 }, pins: ["e0/0"] };

test("with a plan B the sides are A and B, without one before and A", () => {
  const two = compare(scene, a.plan, 3, b.plan);
  // e0 is older for both, e1 and e2 only for A.
  expect([0, 1, 2, 3].map(row => two.isSame(row))).toEqual([true, false, false, true]);
  expect([two.left(2), two.right(2)]).toMatchObject([
    { fate: 2, tokens: 7 },
    { fate: 0, tokens: 100 },
  ]);
  expect(compare(scene, a.plan, 3, null).left(2)).toEqual({ fate: 0, tokens: 100 });
});

test("rows on which A and B agree are folded, both cuts are shown, and the header counts differences", () => {
  const far = smallPlan(scene, { ...early, cut: { place: 5, id: "end", by: "you", sentence: "" } }).plan;
  const { items, differing, delta } = foldRows(scene, a.plan, 3, closed, far);
  expect(items.map(item => (item.kind === "cut" ? (item.other ? "B" : "A") : item.kind))).toEqual([
    "fold",
    "A",
    "row",
    "row",
    "B",
  ]);
  expect(items[0]).toMatchObject({ kind: "fold", from: 0, to: 3, same: true, before: 7, after: 7 });
  expect([differing, delta]).toEqual([2, -50]);
});

test("the next and the previous difference wrap around", () => {
  const { items, compared } = foldRows(scene, a.plan, 3, closed, b.plan);
  const rows = items.map(item => (item.kind === "row" ? item.row : item.kind));
  expect(rows).toEqual([0, "cut", 1, 2, "cut", 3, 4]);
  expect(nextDiffering(compared, items, 0)).toBe(2);
  expect(nextDiffering(compared, items, 3)).toBe(2);
  expect(nextDiffering(compared, items, 2, -1)).toBe(3);
});

test("a plan that is held keeps its policy, settings, pins and cut", () => {
  expect(heldOf(from)).toEqual({
    policy: "plain",
    settings: { "pointer.over": 9 },
    pins: ["e0/0"],
    cut: "e3",
  });
  expect(heldOf({ ...from, pins: undefined })).not.toHaveProperty("pins");
});

test("A and B change places only where B is a plan of a policy", () => {
  expect(swapped({ ...from, versus: { policy: "other", cut: "e1" } })).toEqual({
    policy: "other",
    settings: {},
    pins: [],
    cut: "e1",
    versus: heldOf(from),
  });
  expect(swapped({ ...from, versus: { recorded: true } })).toBeNull();
});

// -- drawn -------------------------------------------------------------------------------------------------

const frames = () => settle(80);

const open = async (changes: Partial<Traits> = {}, needsKernel?: string) => {
  const host = draw(changes, needsKernel === undefined ? {} : { needsKernel });
  await frames();
  return host;
};
const withB = { versus: { policy: "other" }, _other: b.wire, _other_data: b.data };

afterEach(close);

/** In the menu of plans, page by page. */
const choose = async (...items: string[]) => {
  find("plans").click();
  for (const item of items) {
    find(item).click();
    await frames();
  }
};

test("plan B is this plan held, or what is recorded where something is, until it is let go", async () => {
  const host = await open();
  await choose("compare-with");
  expect([find("compare-held"), find("compare-recorded")]).toEqual([expect.anything(), null]);
  find("compare-held").click();
  await frames();
  expect(host.get("versus")).toEqual({ policy: "plain", settings: {}, pins: [], cut: "e3" });
  host.receive({ _other: b.wire, _other_data: b.data });
  await frames();
  await choose("compare-end");
  expect(host.get("versus")).toEqual({});
});

test("the gauge shows what B leaves, and its difference to before", async () => {
  await open(withB);
  expect(find("gauge-after").textContent).toBe("62 predicted −103");
  expect(find("gauge-other").textContent).toBe("158 predicted −7");
  expect(find("gauge-other").title).toContain("96 against plan A");
});

test("the list shows both fates and the difference of each row", async () => {
  await open(withB);
  expect(find("differing").textContent).toBe("2 of 5 blocks differ · B +98");
  const cells = (row: number) =>
    [...document.querySelectorAll(`[data-row="${row}"] [role="gridcell"]`)].map(cell => cell.textContent);
  expect(cells(2).slice(2)).toEqual(["pointer", "verbatim", "7", "+93"]);
  expect(cells(3).slice(2)).toEqual(["verbatim", "same", "20", ""]);
  expect(document.querySelector("[data-cut=b]")?.textContent).toContain("B · cut · turn 1");
});

test("the block panel shows both plans' outcomes and what decides them", async () => {
  await open(withB);
  (document.querySelector("[data-row='2']") as HTMLElement).click();
  await frames();
  const details = find("block").textContent;
  expect(details).toContain("plan Apointer 7by rule 1, pointers");
  expect(details).toContain("plan Bverbatim 100by the other half of its call");
});

test("the other half of a call is a button that goes there", async () => {
  await open();
  (document.querySelector("[data-row='2']") as HTMLElement).click();
  await frames();
  find("pair").click();
  await frames();
  expect(document.querySelector(".ci-chosen")?.getAttribute("data-row")).toBe("1");
});

test("swapping sets all of plan A at once, and holds what A was", async () => {
  const host = await open(withB);
  const saved = vi.spyOn(host, "save_changes");
  await choose("swap");
  expect(host.get("policy")).toBe("other");
  expect(host.get("versus")).toEqual({ policy: "plain", settings: {}, pins: [], cut: "e3" });
  expect(saved).toHaveBeenCalledTimes(1);
});

test("a recorded compaction shows its name, its figures and their sources", async () => {
  const sizes: PlanPayload["told"] = [["before", "155,413", "as the file records it"]];
  const recorded = smallPlan(scene, {
    ...{
      policy: "recorded",
      policyTitle: "The recorded compaction",
      label: "recorded",
      rules: [],
      told: sizes,
    },
    cut: { place: 5, id: "end", by: "file", sentence: "The file records a compaction here." },
  });
  await open({ versus: { recorded: true }, _other: recorded.wire, _other_data: recorded.data });
  expect(document.querySelector("[data-row=other] .ci-row-name")?.textContent).toBe("B: recorded");
  expect(find("gauge-other").title).toContain("before 155,413: as the file records it");
  await choose();
  expect([find("compare-end"), find("swap")]).toEqual([expect.anything(), null]);
});

test("without a kernel the rules cannot be set, one sentence says so, and plans can still be compared", async () => {
  await open({}, "This page has no kernel.");
  find("tab-rules").click();
  await frames();
  expect(find("needs-kernel").textContent).toBe("This page has no kernel.");
  expect(document.querySelector(".ci-waterfall :is(input, select, button)")).toBeNull();
  find("all-settings").click();
  const controls = [...find("settings").querySelectorAll<HTMLInputElement>("dl :is(input, select)")];
  expect(controls.length).toBeGreaterThan(2);
  expect(controls.every(control => control.disabled)).toBe(true);
  expect((find("policy-picker") as HTMLButtonElement).disabled).toBe(false);
  await choose("compare-with");
  expect(find("compare-held")).not.toBeNull();
});
