// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { makeCompare } from "../src/panels/compare/picker";
import { makeKnob } from "../src/panels/rules/field";
import { makeRules } from "../src/panels/rules/panel";
import type { Knob } from "../src/payloads/types";
import type { Actions, Picture } from "../src/store/view";
import { smallPlan, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);

const openRules = (settings = {}) => {
  const actions = { setKnob: vi.fn(), resetKnob: vi.fn(), choosePolicy: vi.fn() };
  const rules = makeRules(actions as unknown as Actions, makeCompare(actions as unknown as Actions));
  document.body.replaceChildren(rules.node);
  const draw = (changes: Partial<Picture> = {}) =>
    rules.draw(
      {
        ...{ scene, plan, settings, settled: true, versus: {}, other: null, needsKernel: "" },
        ...changes,
      } as Picture,
      new Set(["scene", "plan"]),
    );
  draw();
  return { actions, draw };
};
const knob = (key: string) => document.querySelector(`[data-testid="knob-${key}"]`) as HTMLInputElement;
const change = (input: HTMLInputElement, value: string) => {
  input.value = value;
  input.dispatchEvent(new Event("change"));
};

test("a sentence carries its value in place, and the rest stands below it", () => {
  openRules();
  const [pointer] = document.querySelectorAll(".ci-rule");
  const sentence = pointer?.querySelector("p");
  expect(sentence?.textContent).toMatch(/^outputs over {1,2}tokens↺ become pointers$/);
  expect(sentence?.contains(knob("pointer.over"))).toBe(true);
  expect(sentence?.contains(knob("pointer.errors"))).toBe(false);
  expect(pointer?.textContent).toContain("errors too");
});

test("numbers, checks and choices are sent with their own types", () => {
  const { actions } = openRules();
  change(knob("pointer.over"), "60");
  knob("pointer.errors").click();
  const how = knob("summary.how") as unknown as HTMLSelectElement;
  how.selectedIndex = 1;
  how.dispatchEvent(new Event("change"));
  expect(actions.setKnob.mock.calls).toEqual([
    ["pointer.over", 60],
    ["pointer.errors", true],
    ["summary.how", "dropped"],
  ]);
});

test("a value outside its bounds is not sent and says why", () => {
  const { actions } = openRules();
  change(knob("pointer.over"), "501");
  expect(actions.setKnob).not.toHaveBeenCalled();
  expect(document.querySelector('[role="alert"]')?.textContent).toBe("size must be at most 500.");
  expect(knob("pointer.over").getAttribute("aria-invalid")).toBe("true");
});

test("only a changed value offers the way back", () => {
  const { actions } = openRules({ "pointer.over": 60 });
  const resets = [...document.querySelectorAll<HTMLButtonElement>(".ci-reset")];
  expect(resets.map(reset => reset.hidden)).toEqual([false, true, true]);
  resets[0]?.click();
  expect(actions.resetKnob).toHaveBeenCalledWith("pointer.over");
});

test("an answer from Python does not overwrite what is being typed", () => {
  const { draw } = openRules();
  knob("pointer.over").focus();
  knob("pointer.over").value = "12";
  draw();
  expect(knob("pointer.over").value).toBe("12");
});

test("arrow keys step by a tenth of the value's size, inside the bounds", () => {
  const set = vi.fn();
  const schema = {
    name: "n",
    label: "n",
    type: "integer",
    value: 20_000,
    default: 0,
    minimum: 0,
    maximum: 20_500,
  };
  const { node, show } = makeKnob("r.n", schema as Knob, { set, complain: vi.fn() });
  show(20_000);
  node.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
  expect(set).toHaveBeenCalledWith(20_500);
  node.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
  expect((node as HTMLInputElement).value).toBe("19500");
});

test("a policy of one's own stands among the published ones", () => {
  const { draw } = openRules();
  draw({ plan: { ...plan, policy: "mine", policyTitle: "Mine" } });
  const select = document.querySelector('[data-testid="policy"]') as HTMLSelectElement;
  expect([select.value, select.options.length]).toEqual(["mine", 3]);
});

test("a rule that may be switched off has a switch, a locked one only its mark", () => {
  const rules = plan.rules.map((rule, i) => ({ ...rule, locked: i === 1, enabled: true }));
  const { actions, draw } = openRules();
  draw({ plan: { ...plan, rules } });
  const marks = [...document.querySelectorAll<HTMLElement>('.ci-check[role="checkbox"]')];
  expect(marks.map(mark => mark.getAttribute("aria-disabled"))).toEqual([null, "true"]);
  marks[0]?.click();
  marks[1]?.click();
  expect(actions.setKnob.mock.calls).toEqual([["pointer.enabled", false]]);
});

test("an emptied number is none where the schema allows it, and a complaint elsewhere", () => {
  const set = vi.fn();
  const complain = vi.fn();
  const knob = plan.rules[0]?.knobs[0] as Knob;
  const free = makeKnob("r.n", { ...knob, nullable: true }, { set, complain });
  free.show(50);
  change(free.node as HTMLInputElement, "");
  expect(set).toHaveBeenCalledWith(null);
  const bound = makeKnob("r.n", knob, { set, complain });
  bound.show(50);
  change(bound.node as HTMLInputElement, "");
  expect(complain).toHaveBeenLastCalledWith("size needs a number.");
});

test("S4-71 each of the two budgets has a control of its own, which sends its own key and value", () => {
  const { actions, draw } = openRules();
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
  draw({ plan: { ...plan, rules: budgets } });
  const [reserve, tail] = [knob("trigger.reserve_tokens"), knob("keep-recent-tokens.tokens")];
  expect([reserve.value, tail.value]).toEqual(["16384", "20000"]);
  change(tail, "8000");
  expect(actions.setKnob.mock.calls).toEqual([["keep-recent-tokens.tokens", 8_000]]);
  expect(reserve.value).toBe("16384");
  change(reserve, "50000");
  expect(actions.setKnob.mock.calls[1]).toEqual(["trigger.reserve_tokens", 50_000]);
  expect(tail.value).toBe("8000");
});
