// @vitest-environment happy-dom
import { createElement, render } from "preact";
import { expect, test, vi } from "vitest";
import { NO_POLICIES } from "../src/model/policies";
import { KnobField } from "../src/panels/rules/knob";
import { makeRules } from "../src/panels/rules/panel";
import type { Knob } from "../src/payloads/types";
import type { Actions, ViewState } from "../src/store/view";
import { smallPlan, smallScene } from "./small";
import { settle } from "./wait";

const { scene } = smallScene();
const { plan } = smallPlan(scene);

const LIVE = ["pointer.over", "summary.how"];

const openRules = async (changes: Partial<ViewState> = {}, numbers: readonly string[] = LIVE) => {
  const actions = {
    ...{ setKnob: vi.fn(), resetKnob: vi.fn(), choosePolicy: vi.fn(), edit: vi.fn() },
    requests: { ask: vi.fn().mockResolvedValue({ rules: [], numbers }) },
    askPolicies: vi.fn(),
  };
  const rules = makeRules(actions as unknown as Actions);
  document.body.replaceChildren(rules.node);
  const draw = async (more: Partial<ViewState> = {}) => {
    const viewState = {
      scene,
      plan,
      settings: {},
      settled: true,
      versus: {},
      other: null,
      tab: "rules",
      policies: NO_POLICIES,
    };
    rules.draw(
      { ...viewState, needsKernel: "", ...changes, ...more } as ViewState,
      new Set(["scene", "plan", "tab"]),
    );
    await settle(10);
  };
  await draw();
  return { actions, draw };
};
const knob = (key: string) => document.querySelector(`[data-testid="knob-${key}"]`) as HTMLInputElement;
const find = (id: string) => document.querySelector(`[data-testid="${id}"]`) as HTMLElement;
const openSettings = () => find("all-settings").click();
const change = (input: HTMLInputElement, value: string) => {
  input.value = value;
  input.dispatchEvent(new Event("change"));
};

test("rules are numbered, and a value is a field if it matters and a word otherwise", async () => {
  const { draw } = await openRules({}, ["pointer.over"]);
  const [pointer, summary] = document.querySelectorAll<HTMLElement>(".ci-waterfall li");
  expect(pointer?.querySelector(".ci-nth")?.textContent).toBe("1");
  expect(pointer?.querySelector("p")?.textContent).toBe("pointers: outputs over  tokens become pointers");
  expect(pointer?.contains(knob("pointer.over"))).toBe(true);
  expect(summary?.querySelector("p")?.textContent).toBe("summary: older turns are summarised");
  expect(summary?.textContent).toContain("the cut is before turn 2");
  expect(knob("summary.how")).toBeNull();
  await draw({ needsKernel: "No kernel." });
  expect(knob("pointer.over")).toBeNull();
  expect(pointer?.querySelector("p")?.textContent).toBe("pointers: outputs over 50 become pointers");
});

test("the waterfall ends at the plan's result; rules without tokens have words", async () => {
  const [first, second] = plan.rules;
  const rules = [{ ...first, delta: null, words: "not needed" }, second] as typeof plan.rules;
  await openRules({ plan: { ...plan, rules } });
  const deltas = [...document.querySelectorAll(".ci-waterfall .ci-delta")].map(node => node.textContent);
  expect(deltas).toEqual(["not needed", "\u221210"]);
  expect([find("rules-after").textContent, find("rules-after").title]).toEqual(["165", "165 tokens"]);
});

test("numbers, checks and choices are sent with their own types", async () => {
  const { actions } = await openRules();
  change(knob("pointer.over"), "60");
  openSettings();
  find("set-pointer.errors").click();
  const how = find("set-summary.how") as HTMLSelectElement;
  how.selectedIndex = 1;
  how.dispatchEvent(new Event("change"));
  find("set-pointer.enabled").click();
  expect(actions.setKnob.mock.calls).toEqual([
    ["pointer.over", 60],
    ["pointer.errors", true],
    ["summary.how", "dropped"],
    ["pointer.enabled", false],
  ]);
});

test("all settings are found by what they are called or say", async () => {
  await openRules();
  expect(find("all-settings").textContent).toBe("All 5 settings…");
  openSettings();
  const search = find("settings-search") as HTMLInputElement;
  const shown = () => [...find("settings").querySelectorAll("dt")].map(node => node.textContent);
  expect(shown()).toEqual(["enabled", "size", "errors too", "enabled", "fate"]);
  search.value = "ERROR";
  search.dispatchEvent(new Event("input"));
  await settle(10);
  expect(shown()).toEqual(["errors too"]);
});

test("a value outside its bounds is not sent and says why", async () => {
  const { actions } = await openRules();
  change(knob("pointer.over"), "501");
  await settle(10);
  expect(actions.setKnob).not.toHaveBeenCalled();
  expect(document.querySelector('[role="alert"]')?.textContent).toBe("size must be at most 500.");
  expect(knob("pointer.over").getAttribute("aria-invalid")).toBe("true");
});

test("a rule that differs bears a dot, says what was, and all of it is taken back at once", async () => {
  const [first, second] = plan.rules;
  const knobs = first?.knobs.map((knob, i) => (i === 0 ? { ...knob, value: 60, was: "50" } : knob));
  const rules = [{ ...first, knobs }, second] as typeof plan.rules;
  const { actions, draw } = await openRules();
  expect(document.querySelector(".ci-dot")).toBeNull();
  expect(find("rules").textContent).toContain("Nothing differs from the published policy.");
  await draw({ plan: { ...plan, rules }, settings: { "pointer.over": 60 } });
  expect(find("rule-1").querySelector(".ci-dot")?.getAttribute("aria-label")).toBe("differs");
  expect(find("rule-1").textContent).toContain("was 50");
  expect(find("rules").textContent).toContain("1 setting differs from the published policy.");
  find("take-back").click();
  expect(actions.edit).toHaveBeenCalledWith({ settings: {} }, expect.stringContaining("Press z to undo."));
});

test("an answer from Python does not overwrite what is being typed", async () => {
  const { draw } = await openRules();
  knob("pointer.over").focus();
  knob("pointer.over").value = "12";
  await draw();
  expect(knob("pointer.over").value).toBe("12");
});

/** One setting on the page; what it sends is `set`'s. */
const showKnob = (knob: Partial<Knob>) => {
  const set = vi.fn();
  const page = document.createElement("div");
  document.body.replaceChildren(page);
  render(createElement(KnobField, { id: "r.n", knob: knob as Knob, disabled: false, set }), page);
  return { node: document.querySelector("input") as HTMLInputElement, set };
};

test("arrow keys step by a tenth of the value's size, inside the bounds", () => {
  const schema = { name: "n", label: "n", value: 20_000, default: 0, minimum: 0, maximum: 20_500 };
  const { node, set } = showKnob({ ...schema, type: "integer" });
  node.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
  expect(set).toHaveBeenCalledWith("r.n", 20_500);
  node.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
  expect(node.value).toBe("19500");
});

test("a locked rule stays enabled whatever is wanted: it has no switch", async () => {
  const rules = plan.rules.map((rule, i) => ({ ...rule, locked: i === 1 }));
  await openRules({ plan: { ...plan, rules } });
  openSettings();
  expect([find("set-pointer.enabled"), find("set-summary.enabled")]).toEqual([expect.anything(), null]);
});

test("an emptied number is null if the schema allows it, and an error otherwise", async () => {
  const knob = plan.rules[0]?.knobs[0] as Knob;
  const free = showKnob({ ...knob, nullable: true });
  change(free.node, "");
  expect(free.set).toHaveBeenCalledWith("r.n", null);
  const bound = showKnob({ ...knob, nullable: false });
  change(bound.node, "");
  await settle(10);
  expect([bound.set.mock.calls, document.querySelector('[role="alert"]')?.textContent]).toEqual([
    [],
    "size needs a number.",
  ]);
});

test("S4-71 each of the two budgets has a control of its own, which sends its own key and value", async () => {
  const { actions, draw } = await openRules({}, ["trigger.reserve_tokens", "keep-recent-tokens.tokens"]);
  const number = { ...(plan.rules[0]?.knobs[0] as Knob), type: "number" as const, maximum: null };
  const [first] = plan.rules;
  const budgets = [
    { kind: "trigger", name: "reserve_tokens", value: 16_384 },
    { kind: "keep-recent-tokens", name: "tokens", value: 20_000 },
  ].map(({ kind, name, value }) => ({
    ...(first as (typeof plan.rules)[number]),
    kind,
    sentence: `about {${name}} tokens`,
    knobs: [{ ...number, name, label: name, value, default: value }],
  }));
  await draw({ plan: { ...plan, rules: budgets } });
  const [reserve, tail] = [knob("trigger.reserve_tokens"), knob("keep-recent-tokens.tokens")];
  expect([reserve.value, tail.value]).toEqual(["16384", "20000"]);
  change(tail, "8000");
  expect(actions.setKnob.mock.calls).toEqual([["keep-recent-tokens.tokens", 8_000]]);
  expect(reserve.value).toBe("16384");
  change(reserve, "50000");
  expect(actions.setKnob.mock.calls[1]).toEqual(["trigger.reserve_tokens", 50_000]);
  expect(tail.value).toBe("8000");
});
