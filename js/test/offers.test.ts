// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { makeRecipe } from "../src/layout/footer";
import { makeCompare } from "../src/panels/compare/picker";
import { makeRules } from "../src/panels/rules/panel";
import type { RuleOffer } from "../src/payloads/types";
import type { Actions, Picture } from "../src/store/view";
import { smallPlan, smallScene } from "./small";

const { scene } = smallScene();
const { plan } = smallPlan(scene);

const offer = (kind: string, changes: Partial<RuleOffer> = {}): RuleOffer => ({
  ...{ kind, title: kind.toUpperCase(), sentence: `it ${kind}s`, source: "", instead: "" },
  ...{ changes: { [`${kind}.enabled`]: true }, delta: -1200, refused: "" },
  ...changes,
});
const OFFERS = [
  offer("clear"),
  offer("recent", {
    instead: "Last tokens",
    changes: { "recent.enabled": true, "last.enabled": false },
    delta: 0,
  }),
  offer("broken", { delta: null, refused: "It failed.", changes: {} }),
];
const find = <T extends HTMLElement>(id: string) => document.querySelector(`[data-testid="${id}"]`) as T;
const press = (node: HTMLElement, key: string) =>
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const answered = () => new Promise(resolve => setTimeout(resolve, 0));

const openRules = (changes: Partial<Picture> = {}) => {
  const ask = vi.fn().mockResolvedValue({ rules: OFFERS });
  const actions = { edit: vi.fn(), requests: { ask } };
  const rules = makeRules(actions as unknown as Actions, makeCompare(actions as unknown as Actions));
  document.body.replaceChildren(rules.node);
  const draw = (more: Partial<Picture> = {}) =>
    rules.draw(
      {
        ...{ scene, plan, settings: { "pointer.over": 60 }, settled: true, versus: {}, other: null },
        ...{ needsKernel: "", ...changes, ...more },
      } as Picture,
      new Set(["scene", "plan"]),
    );
  draw();
  return { actions, ask, rules, draw };
};

test("the rules that could be added are asked for, and each says what it does and costs", async () => {
  const { ask } = openRules();
  find("add-rule").click();
  expect(find("offers").textContent).toContain("Trying every rule…");
  await answered();
  expect(ask).toHaveBeenCalledWith("rules", {});
  expect([...find("offers").querySelectorAll("button")].map(button => button.textContent)).toEqual([
    "CLEAR−1.2kit clears",
    "RECENTno changeit recentsin place of Last tokens",
    "BROKENIt failed.",
  ]);
  expect(document.activeElement).toBe(find("offer-clear"));
});

test("choosing one adds its settings to those there are, as one step of the past", async () => {
  const { actions } = openRules();
  find("add-rule").click();
  await answered();
  find("offer-broken").click();
  expect(actions.edit).not.toHaveBeenCalled();
  find("offer-recent").click();
  expect(actions.edit).toHaveBeenCalledWith(
    { settings: { "pointer.over": 60, "recent.enabled": true, "last.enabled": false } },
    "RECENT added in place of Last tokens. Press z to undo.",
  );
  expect(find("offers").hidden).toBe(true);
});

test("arrows go round, and Escape goes back to where it was opened", async () => {
  const { rules } = openRules();
  rules.addRule();
  await answered();
  press(find("offer-clear"), "ArrowUp");
  expect(document.activeElement).toBe(find("offer-broken"));
  press(find("offer-broken"), "ArrowDown");
  expect(document.activeElement).toBe(find("offer-clear"));
  press(find("offer-clear"), "Escape");
  expect([find("offers").hidden, document.activeElement]).toEqual([true, find("add-rule")]);
});

test("a rule that an edit has added can go again, with what was set of it, and what it replaced comes back", () => {
  const rules = plan.rules.map((rule, i) => ({
    ...rule,
    added: i === 0 ? ["pointer.enabled", "pointer.over", "summary.enabled"] : undefined,
  }));
  const settings = {
    "pointer.enabled": true,
    "pointer.over": 60,
    "summary.how": "dropped",
    "summary.enabled": false,
  };
  const { actions } = openRules({ plan: { ...plan, rules }, settings });
  expect(find("remove-summary").hidden).toBe(true);
  find("remove-pointer").click();
  expect(actions.edit).toHaveBeenCalledWith(
    { settings: { "summary.how": "dropped" } },
    expect.stringContaining("removed. Press z to undo."),
  );
  expect(document.activeElement).toBe(find("add-rule"));
});

test("another plan asks anew, an answer to what was closed is dropped, trouble is told", async () => {
  const { ask, draw } = openRules();
  vi.useFakeTimers();
  find("add-rule").click();
  await vi.advanceTimersByTimeAsync(0);
  draw({ plan: { ...plan } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(ask).toHaveBeenCalledTimes(2);
  ask.mockRejectedValueOnce(new Error("Nobody answers."));
  draw({ plan: { ...plan } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(find("offers").querySelector(".ci-bad")?.textContent).toBe("Nobody answers.");
  find("add-rule").click();
  draw({ plan: { ...plan } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(ask).toHaveBeenCalledTimes(3);
  vi.useRealTimers();
});

test("without a kernel nothing can be added, and the control says why", () => {
  const { ask, rules } = openRules({ needsKernel: "This needs a kernel." });
  const button = find<HTMLButtonElement>("add-rule");
  expect([button.disabled, button.title]).toEqual([true, "This needs a kernel."]);
  rules.addRule();
  expect(ask).not.toHaveBeenCalled();
});

test("a plan is saved once it is settled, and the file is named", async () => {
  const ask = vi.fn().mockResolvedValue({ name: "a.plan.json", path: "x/a.plan.json" });
  const recipe = makeRecipe({ ask } as never);
  document.body.replaceChildren(recipe.node);
  const draw = (settled: boolean, now = plan) =>
    recipe.draw({ plan: now, settled } as Picture, new Set(["plan", "settled"]));
  draw(false);
  find("save-plan").click();
  await answered();
  expect(ask).not.toHaveBeenCalled();
  draw(true);
  await answered();
  expect(ask).toHaveBeenCalledWith("save", {});
  expect(find("saved").textContent).toBe(
    'Saved as a.plan.json. In Python, open_plan("x/a.plan.json", session) makes it again.',
  );
  draw(true, { ...plan });
  expect(find("saved").hidden).toBe(true);
  ask.mockRejectedValueOnce(new Error("The folder cannot be written."));
  find("save-plan").click();
  await answered();
  expect(find("saved").textContent).toBe("The folder cannot be written.");
});

test("where nobody answers there is nothing that could save", () => {
  document.body.replaceChildren(makeRecipe().node);
  expect(find("save-plan")).toBeNull();
});
