// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { makeNewFile } from "../src/layout/new-file-dialog";
import { makePlansMenu } from "../src/layout/plans-menu";
import { NO_POLICIES } from "../src/model/policies";
import { makeRules } from "../src/panels/rules/panel";
import type { RuleOffer } from "../src/payloads/types";
import type { Actions, ViewState } from "../src/store/view";
import { h } from "../src/ui/dom";
import { smallPlan, smallScene } from "./small";
import { settle } from "./wait";

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
    delta: -3,
  }),
  offer("idle", { delta: 0 }),
  offer("broken", { delta: null, refused: "It failed.", changes: {} }),
];
const find = <T extends HTMLElement>(id: string) => document.querySelector(`[data-testid="${id}"]`) as T;
const press = (node: HTMLElement, key: string) =>
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const answered = () => settle(10);

const openRules = (changes: Partial<ViewState> = {}) => {
  const ask = vi.fn().mockResolvedValue({ rules: OFFERS, numbers: [] });
  const actions = { edit: vi.fn(), requests: { ask }, askPolicies: vi.fn() };
  const rules = makeRules(actions as unknown as Actions);
  document.body.replaceChildren(rules.node);
  const draw = (more: Partial<ViewState> = {}) =>
    rules.draw(
      {
        ...{ scene, plan, settings: { "pointer.over": 60 }, settled: true, versus: {}, other: null },
        ...{ tab: "rules" as const, policies: NO_POLICIES },
        ...{ needsKernel: "", ...changes, ...more },
      } as ViewState,
      new Set(["scene", "plan"]),
    );
  draw();
  return { actions, ask, rules, draw };
};

const labels = () => [...find("offers").querySelectorAll("button")].map(button => button.textContent);

test("rules that could be added are listed with their price; those without one on request", async () => {
  const { ask } = openRules();
  expect(find("offers").textContent).toContain("Trying every rule …");
  await answered();
  expect(ask).toHaveBeenCalledWith("rules", {});
  const priced = ["CLEAR\u22121.2k", "RECENT\u22123in place of Last tokens"];
  expect(labels()).toEqual([...priced, "2 that would change nothing here"]);
  expect(find("offer-clear").title).toBe("it clears");
  find("offers-idle").click();
  expect(labels()).toEqual([...priced, "IDLE0", "BROKENIt failed."]);
});

test("choosing one adds its settings to those there are, as one step of the past", async () => {
  const { actions } = openRules();
  await answered();
  find("offers-idle").click();
  find("offer-broken").click();
  expect(actions.edit).not.toHaveBeenCalled();
  find("offer-recent").click();
  expect(actions.edit).toHaveBeenCalledWith(
    { settings: { "pointer.over": 60, "recent.enabled": true, "last.enabled": false } },
    "RECENT added in place of Last tokens. Press z to undo.",
  );
});

test("the list is one stop: the key goes to its first, arrows go round", async () => {
  const { rules } = openRules();
  rules.addRule();
  await answered();
  expect(document.activeElement).toBe(find("offer-clear"));
  press(find("offer-clear"), "ArrowUp");
  expect(document.activeElement).toBe(find("offer-recent"));
  press(find("offer-recent"), "ArrowDown");
  expect(document.activeElement).toBe(find("offer-clear"));
  expect([...find("offers").querySelectorAll<HTMLElement>("li > button")].map(b => b.tabIndex)).toEqual([
    0, -1,
  ]);
});

test("a rule that an edit has added can go again, with what was set of it, and what it replaced comes back", async () => {
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
  await answered();
  expect(find("remove-summary")).toBeNull();
  find("remove-pointer").click();
  expect(actions.edit).toHaveBeenCalledWith(
    { settings: { "summary.how": "dropped" } },
    expect.stringContaining("removed. Press z to undo."),
  );
  expect(document.activeElement).toBe(find("offer-clear"));
});

test("another plan requests again, once it is settled and visible; errors are shown", async () => {
  vi.useFakeTimers();
  const { ask, draw } = openRules();
  await vi.advanceTimersByTimeAsync(1000);
  expect(ask).toHaveBeenCalledTimes(1);
  draw({ plan: { ...plan }, settled: false });
  draw({ plan: { ...plan }, tab: "blocks" });
  await vi.advanceTimersByTimeAsync(1000);
  expect(ask).toHaveBeenCalledTimes(1);
  ask.mockRejectedValueOnce(new Error("Nobody answers."));
  draw({ plan: { ...plan } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(ask).toHaveBeenCalledTimes(2);
  expect(find("offers").querySelector(".ci-bad")?.textContent).toBe("Nobody answers.");
  vi.useRealTimers();
});

test("without a kernel nothing is offered, and the panel says why", () => {
  const { ask, rules } = openRules({ needsKernel: "This needs a kernel." });
  rules.addRule();
  expect(ask).not.toHaveBeenCalled();
  expect(find("offers")).toBeNull();
  expect(find("needs-kernel").textContent).toBe("This needs a kernel.");
});

test("a plan is saved once it is settled, and the file is named", async () => {
  const ask = vi.fn(
    async (kind: string): Promise<unknown> =>
      kind === "plans" ? { plans: [] } : { name: "a.plan.json", path: "x/a.plan.json" },
  );
  const button = h("button");
  const files = makeNewFile({ ask } as never, button);
  const menu = makePlansMenu({ requests: { ask }, askPolicies: () => undefined } as never, button, files);
  document.body.replaceChildren(menu.node);
  const draw = (settled: boolean) =>
    menu.draw({ plan, other: null, settled } as ViewState, new Set(["plan", "settled"]));
  const kinds = () => ask.mock.calls.map(([kind]) => kind).filter(kind => kind !== "plans");
  draw(false);
  menu.toggle();
  find("save-plan").click();
  await answered();
  expect(kinds()).toEqual([]);
  draw(true);
  await answered();
  expect(kinds()).toEqual(["save"]);
  expect(find("saved").textContent).toBe(
    'Saved as a.plan.json. In Python, open_plan("x/a.plan.json", session) opens it.',
  );
  ask.mockRejectedValueOnce(new Error("The folder cannot be written."));
  find("save-plan").click();
  await answered();
  expect(find("saved").textContent).toBe("The folder cannot be written.");
});

test("without a host that answers, nothing can be saved or opened", () => {
  const menu = makePlansMenu({ askPolicies: () => undefined } as never, h("button"));
  document.body.replaceChildren(menu.node);
  menu.draw({ plan, other: null, settled: true } as ViewState, new Set(["plan"]));
  menu.toggle();
  expect(find("save-plan")).toBeNull();
  expect(find("reopen")).toBeNull();
  expect(find("compare-with")).not.toBeNull();
});
