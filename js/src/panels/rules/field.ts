// One setting of a rule, as the control its schema asks for.
import { exact } from "../../model/format";
import type { Setting } from "../../payloads/replies";
import type { Knob } from "../../payloads/types";
import { h, listen, setAttributes, setText } from "../../ui/dom";

export interface KnobView {
  readonly node: HTMLElement;
  /** Shows a value from Python, unless the person is editing this very control. */
  show(value: Setting): void;
}

export interface KnobActions {
  set(value: Setting): void;
  /** A sentence about a value that was not sent, or "" when all is well. */
  complain(sentence: string): void;
}

export const makeKnob = (key: string, knob: Knob, actions: KnobActions): KnobView => {
  const attributes = {
    class: "ci-knob",
    "data-testid": `knob-${key}`,
    "aria-label": knob.label,
    title: knob.description || undefined,
  };
  if (knob.type === "boolean") return makeBox(attributes, actions);
  if (knob.type === "choice") return makeChoice(attributes, knob, actions);
  if (knob.type === "python") return makeReading(attributes);
  return makeNumber(attributes, knob, actions);
};

type Common = Record<string, string | undefined>;

/** A value that is set from Python alone, as it is written there. */
const makeReading = ({ "data-testid": id, title }: Common): KnobView => {
  const node = h("code", { "data-testid": id, title });
  return { node, show: value => setText(node, String(value ?? "none")) };
};

const makeBox = (attributes: Common, actions: KnobActions): KnobView => {
  const node = h("input", { ...attributes, type: "checkbox" });
  listen(node, "change", () => actions.set(node.checked));
  return {
    node,
    show: value => {
      node.checked = value === true;
    },
  };
};

const makeChoice = (attributes: Common, knob: Knob, actions: KnobActions): KnobView => {
  const choices = knob.choices ?? [];
  const node = h(
    "select",
    attributes,
    ...choices.map((choice, i) => h("option", { value: i }, String(choice ?? "none"))),
  );
  listen(node, "change", () => actions.set(choices[node.selectedIndex] ?? null));
  return {
    node,
    show: value => {
      node.selectedIndex = choices.indexOf(value);
    },
  };
};

const makeNumber = (attributes: Common, knob: Knob, actions: KnobActions): KnobView => {
  const integer = knob.type === "integer";
  const node = h("input", {
    ...attributes,
    type: "number",
    inputmode: integer ? "numeric" : "decimal",
    step: integer ? 1 : "any",
    min: knob.minimum ?? undefined,
    max: knob.maximum ?? undefined,
    placeholder: "none",
  });
  let shown: Setting = null;
  const fit = () => {
    node.style.width = `${Math.max(2, node.value.length || 4) + 0.6}ch`;
  };
  const complain = (sentence: string) => {
    setAttributes(node, { "aria-invalid": sentence !== "" ? "true" : undefined });
    actions.complain(sentence);
  };
  const commit = () => {
    // What is no number reads as "" too.
    const empty = node.value === "" && !node.validity.badInput;
    const value = empty && knob.nullable ? null : node.valueAsNumber;
    const sentence = value === null ? "" : judge(knob, value);
    complain(sentence);
    if (sentence !== "" || value === shown) return;
    shown = value;
    actions.set(value);
  };
  const nudge = (event: KeyboardEvent) => {
    const change = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (change === undefined || Number.isNaN(node.valueAsNumber)) return;
    event.preventDefault();
    const moved = node.valueAsNumber + change * stepFor(node.valueAsNumber, integer);
    const inside = Math.min(knob.maximum ?? moved, Math.max(knob.minimum ?? moved, moved));
    node.value = String(Number(inside.toPrecision(12)));
    fit();
    commit();
  };
  listen(node, "input", fit);
  listen(node, "change", commit);
  listen(node, "keydown", event => {
    if (event.key === "Enter") {
      // A notebook takes Enter for itself, and then no change event comes.
      event.stopPropagation();
      commit();
    } else if (event.key === "Escape") {
      node.value = String(shown ?? "");
      complain("");
      fit();
    } else nudge(event);
  });
  return {
    node,
    show: value => {
      const editing = document.activeElement === node && node.value !== String(shown ?? "");
      shown = value;
      if (editing && Number(node.value) !== value) return;
      node.value = String(value ?? "");
      complain("");
      fit();
    },
  };
};

const judge = (knob: Knob, value: number): string => {
  const { label, minimum, maximum, type } = knob;
  if (Number.isNaN(value)) return `${label} needs a number.`;
  if (type === "integer" && !Number.isInteger(value)) return `${label} needs a whole number.`;
  if (minimum !== null && minimum !== undefined && value < minimum)
    return `${label} must be at least ${exact(minimum)}.`;
  if (maximum !== null && maximum !== undefined && value > maximum)
    return `${label} must be at most ${exact(maximum)}.`;
  return "";
};

/** A tenth of the value's size, so that a key press is felt at 4 and at 20 000. */
const stepFor = (value: number, integer: boolean): number => {
  const size = 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) - 1);
  return integer ? Math.max(1, size) : size;
};
