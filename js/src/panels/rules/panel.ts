// The policy and its rules, made from the rules' own schema: a sentence with its values in place, and its tokens.
import { exact, signed } from "../../model/format";
import type { RulePayload } from "../../payloads/types";
import type { Actions, Picture, View } from "../../store/view";
import { h, setAttributes, setShown, setText } from "../../ui/dom";
import { makeOffers } from "./add-rule";
import { type KnobView, makeKnob } from "./field";

/** So many settings stand openly beside a sentence. */
const FEW = 2;

export interface Rules extends View {
  /** Shows the rules that could be added. */
  addRule(): void;
}

/** `compare` chooses the plan beside this one. */
export const makeRules = (actions: Actions, compare: View): Rules => {
  const policy = h("select", { class: "ci-knob", "data-testid": "policy", "aria-label": "Policy" });
  const source = h("p", { class: "ci-quiet" });
  const kernel = h("p", { class: "ci-quiet ci-kernel", "data-testid": "needs-kernel", hidden: true });
  const trigger = h("p", { class: "ci-quiet" });
  const list = h("ol", { class: "ci-rules" });
  const pins = h("p", { class: "ci-quiet" });
  /** The rule that was added last, until it is there. */
  let awaited = "";
  const offers = makeOffers(actions, kind => {
    awaited = kind;
  });
  const node = h(
    "section",
    { class: "ci-panel", "data-testid": "rules", "aria-label": "Rules" },
    h("h3", {}, "Rules", h("label", {}, "policy ", policy)),
    compare.node,
    kernel,
    list,
    offers.node,
    pins,
    trigger,
    source,
  );
  let rows: RuleRow[] = [];
  policy.addEventListener("change", () => actions.choosePolicy(policy.value));

  const drawRules = ({ plan, settings }: Picture) => {
    const focused = node.contains(document.activeElement)
      ? document.activeElement?.getAttribute("data-testid")
      : null;
    rows = plan.rules.map((rule, i) => {
      const old = rows[i];
      return old?.shape === shapeOf(rule) ? old : makeRow(rule, actions, offers.focus);
    });
    const nodes = rows.map(row => row.node);
    if (nodes.length !== list.children.length || nodes.some((row, i) => list.children[i] !== row)) {
      list.replaceChildren(...nodes);
      // A row that is gone leaves the focus beside where it was.
      const again = focused && node.querySelector<HTMLElement>(`[data-testid="${CSS.escape(focused)}"]`);
      if (again) again.focus();
      else if (focused) offers.focus();
    }
    rows.forEach((row, i) => {
      row.show(plan.rules[i] as RulePayload, settings);
    });
    const fresh = rows[plan.rules.findIndex(({ kind }) => kind === awaited)];
    if (fresh === undefined) return;
    awaited = "";
    fresh.node.querySelector<HTMLElement>("button.ci-check")?.focus({ preventScroll: true });
    fresh.node.scrollIntoView?.({ block: "nearest" });
  };

  return {
    node,
    addRule: offers.open,
    draw(picture, parts) {
      const { scene, plan, settled, needsKernel } = picture;
      compare.draw(picture, parts);
      if (parts.has("scene") || parts.has("plan")) {
        drawPolicies(policy, picture);
        drawRules(picture);
        offers.draw(picture);
        // What was refused does not come.
        if (settled) awaited = "";
        setText(source, plan.policySource);
        setText(trigger, plan.trigger.sentence);
        trigger.classList.toggle("ci-fires", plan.trigger.fires);
        setShown(trigger, plan.trigger.sentence !== "");
        setShown(pins, plan.pins.length > 0);
        setText(pins, `pinned: ${plan.pins.join(", ")}`);
        setShown(node, scene.policies.length > 0 || plan.rules.length > 0);
        setShown(kernel, needsKernel !== "");
        setText(kernel, needsKernel);
        for (const control of list.querySelectorAll<HTMLInputElement>("input, select, button"))
          control.disabled = needsKernel !== "";
      }
      setAttributes(node, { "aria-busy": settled ? undefined : "true" });
    },
  };
};

const drawPolicies = (select: HTMLSelectElement, { scene, plan }: Picture) => {
  const known = scene.policies.some(({ name }) => name === plan.policy);
  const policies = known
    ? scene.policies
    : [{ name: plan.policy, title: plan.policyTitle }, ...scene.policies];
  const names = policies.map(({ name }) => name).join("\n");
  if (select.dataset.names !== names) {
    select.dataset.names = names;
    select.replaceChildren(...policies.map(({ name, title }) => h("option", { value: name }, title)));
  }
  select.value = plan.policy;
};

interface RuleRow {
  readonly node: HTMLElement;
  readonly shape: string;
  show(rule: RulePayload, settings: Picture["settings"]): void;
}

/** Two rules with the same shape can share their controls. */
const shapeOf = (rule: RulePayload): string =>
  JSON.stringify([
    rule.kind,
    rule.title,
    rule.source,
    rule.locked,
    rule.sentence,
    rule.knobs.map(knob => ({ ...knob, value: null })),
  ]);

/** `leave` takes the focus when the row goes. */
const makeRow = (rule: RulePayload, actions: Actions, leave: () => void): RuleRow => {
  const delta = h("small", { class: "ci-delta" });
  const problem = h("p", { class: "ci-bad", role: "alert", hidden: true });
  const knobs = new Map<string, KnobView>();
  const resets: { key: string; node: HTMLElement }[] = [];
  const makeControl = (knob: RulePayload["knobs"][number]): (Node | string)[] => {
    const key = `${rule.kind}.${knob.name}`;
    const view = makeKnob(key, knob, {
      set: value => actions.setKnob(key, value),
      complain: sentence => {
        setText(problem, sentence);
        setShown(problem, sentence !== "");
      },
    });
    knobs.set(knob.name, view);
    const standard = `Back to ${knob.default ?? "none"}`;
    const label = `Reset ${knob.label}`;
    const reset = h("button", { class: "ci-reset", title: standard, "aria-label": label }, "↺");
    reset.addEventListener("click", () => {
      // The button goes with the answer; the focus stays with what it set back.
      view.node.focus({ preventScroll: true });
      actions.resetKnob(key);
    });
    resets.push({ key, node: reset });
    return [view.node, ...(knob.unit ? [` ${knob.unit}`] : []), reset];
  };
  const sentence = h("p", {}, ...fillSentence(rule, makeControl));
  const others = rule.knobs.filter(({ name }) => !knobs.has(name));
  const rest = others.map(knob => makeSetting(knob, makeControl(knob)));
  const more = rest.length > FEW ? fold(rest) : null;
  const hint = rule.knobs.some(({ type }) => type === "python") ? [sayPython(rule)] : [];
  more?.lastElementChild?.append(...hint);
  const mark = makeMark(rule, actions);
  let all: Picture["settings"] = {};
  let own: readonly string[] = [];
  const remove = h(
    "button",
    {
      ...{ class: "ci-remove", title: "Remove this rule" },
      ...{ "aria-label": `Remove ${rule.title}`, "data-testid": `remove-${rule.kind}` },
    },
    "×",
  );
  remove.addEventListener("click", () => {
    const settings = Object.entries(all).filter(([key]) => !own.includes(key));
    leave();
    actions.edit({ settings: Object.fromEntries(settings) }, `${rule.title} removed. Press z to undo.`);
  });
  const node = h(
    "li",
    { class: "ci-rule", title: [rule.title, rule.source].filter(Boolean).join(". ") },
    mark,
    h("div", {}, sentence, ...(more === null ? [...rest, ...hint] : [more]), problem),
    h("span", {}, delta, remove),
  );
  return {
    node,
    shape: shapeOf(rule),
    show(now, settings) {
      all = settings;
      own = now.added ?? [];
      setShown(remove, own.length > 0);
      node.classList.toggle("ci-off", !now.enabled);
      setText(mark, now.enabled ? "✓" : "–");
      setAttributes(mark, { "aria-checked": String(now.enabled) });
      setText(delta, now.delta === null ? "" : signed(now.delta));
      setAttributes(delta, { title: now.delta === null ? undefined : `${exact(now.delta)} tokens` });
      for (const knob of now.knobs) knobs.get(knob.name)?.show(knob.value);
      for (const { key, node: reset } of resets) setShown(reset, key in settings);
      if (more !== null && others.some(({ name }) => `${rule.kind}.${name}` in settings)) more.open = true;
    },
  };
};

/** The mark before a rule: a switch, or only a sign where the rule cannot be switched off. */
const makeMark = (rule: RulePayload, actions: Actions): HTMLElement => {
  const key = `${rule.kind}.enabled`;
  const attributes = { class: "ci-check", role: "checkbox", "aria-label": rule.title };
  if (rule.locked !== false) return h("span", { ...attributes, "aria-disabled": "true" });
  const mark = h("button", { ...attributes, "data-testid": `knob-${key}` });
  mark.addEventListener("click", () => actions.setKnob(key, mark.getAttribute("aria-checked") !== "true"));
  return mark;
};

/** More settings than a sentence needs are out of the way until someone asks, or has changed one. */
const fold = (rest: HTMLElement[]): HTMLDetailsElement =>
  h("details", { class: "ci-more" }, h("summary", {}, `${rest.length} more settings`), h("div", {}, ...rest));

/** Where the values that have no control here are set. */
const sayPython = (rule: RulePayload): HTMLElement => {
  const name = rule.knobs.find(({ type }) => type === "python")?.name ?? "";
  const code = h("code", {}, `wb.settings = {**wb.settings, "${rule.kind}.${name}": …}`);
  return h("p", { class: "ci-python" }, "lists and texts are set in Python: ", code);
};

/** A setting that the sentence does not mention. */
const makeSetting = (knob: RulePayload["knobs"][number], control: (Node | string)[]): HTMLElement => {
  const parts = knob.type === "boolean" ? [...control, knob.label] : [knob.label, " ", ...control];
  // What cannot be set has no control that a label could name.
  return h(knob.type === "python" ? "span" : "label", { class: "ci-setting" }, ...parts);
};

/** "outputs over {over} become pointers" with the control in place of {over}. */
const fillSentence = (
  rule: RulePayload,
  makeControl: (knob: RulePayload["knobs"][number]) => (Node | string)[],
): (Node | string)[] =>
  rule.sentence.split(/(\{\w+\})/).flatMap(part => {
    const knob = /^\{\w+\}$/.test(part) ? rule.knobs.find(({ name }) => `{${name}}` === part) : undefined;
    return knob === undefined ? [part] : makeControl(knob);
  });
