// One setting of a rule, as the control its schema asks for. It shows what Python last answered, unless it is edited.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { exact } from "../../model/format";
import type { Setting } from "../../payloads/replies";
import type { Knob } from "../../payloads/types";

interface Props {
  /** "<kind>.<name>", as in the settings. */
  id: string;
  knob: Knob;
  /** Prefix of its test id: a setting may be both in a sentence and in the list of all settings. */
  name?: string;
  disabled: boolean;
  set(key: string, value: Setting): void;
}

export const KnobField = (props: Props) => {
  const { id, knob, name = "knob", disabled, set } = props;
  const [problem, setProblem] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const shown = useRef<Setting>(null);
  const show = (node: HTMLInputElement, value: Setting) => {
    node.value = String(value ?? "");
    setProblem("");
    fit(node);
  };
  useLayoutEffect(() => {
    const node = input.current;
    if (node === null) return;
    const isEdited = document.activeElement === node && node.value !== String(shown.current ?? "");
    shown.current = knob.value;
    if (!isEdited || Number(node.value) === knob.value) show(node, knob.value);
  }, [props]);

  const commit = (node: HTMLInputElement) => {
    // What is no number reads as "" too.
    const isEmpty = node.value === "" && !node.validity.badInput;
    const value = isEmpty && knob.nullable ? null : node.valueAsNumber;
    const sentence = value === null ? "" : judge(knob, value);
    setProblem(sentence);
    if (sentence !== "" || value === shown.current) return;
    shown.current = value;
    set(id, value);
  };
  const press = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    const { currentTarget: node, key } = event;
    const change = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[key];
    if (key === "Enter") {
      // A notebook takes Enter for itself, and then no change event comes.
      event.stopPropagation();
      commit(node);
    } else if (key === "Escape") show(node, shown.current);
    else if (change !== undefined && !Number.isNaN(node.valueAsNumber)) {
      event.preventDefault();
      const moved = node.valueAsNumber + change * stepFor(node.valueAsNumber, knob.type === "integer");
      const inside = Math.min(knob.maximum ?? moved, Math.max(knob.minimum ?? moved, moved));
      node.value = String(Number(inside.toPrecision(12)));
      fit(node);
      commit(node);
    }
  };

  const control = () => {
    const named = { "data-testid": `${name}-${id}`, title: knob.description || undefined };
    const attributes = { ...named, class: "ci-knob", "aria-label": knob.label, disabled };
    const choices = knob.choices ?? [];
    if (knob.type === "boolean")
      return (
        <input
          {...attributes}
          type="checkbox"
          checked={knob.value === true}
          onChange={event => set(id, event.currentTarget.checked)}
        />
      );
    if (knob.type === "choice")
      return (
        <select
          {...attributes}
          value={choices.indexOf(knob.value)}
          onChange={event => set(id, choices[event.currentTarget.selectedIndex] ?? null)}
        >
          {choices.map((choice, i) => (
            <option key={i} value={i}>
              {String(choice ?? "none")}
            </option>
          ))}
        </select>
      );
    // A value that is set from Python alone is shown as it is written there.
    if (knob.type === "python") return <code {...named}>{String(knob.value ?? "none")}</code>;
    return (
      <input
        {...attributes}
        ref={input}
        type="number"
        inputMode={knob.type === "integer" ? "numeric" : "decimal"}
        step={knob.type === "integer" ? 1 : "any"}
        min={knob.minimum ?? undefined}
        max={knob.maximum ?? undefined}
        placeholder="none"
        aria-invalid={problem === "" ? undefined : "true"}
        onInput={event => fit(event.currentTarget)}
        onChange={event => commit(event.currentTarget)}
        onKeyDown={press}
      />
    );
  };
  return (
    <>
      <span>{control()}</span>
      {knob.unit ? ` ${knob.unit}` : ""}
      {problem !== "" && (
        <span class="ci-bad" role="alert">
          {problem}
        </span>
      )}
    </>
  );
};

const fit = (node: HTMLInputElement) => {
  node.style.width = `${Math.max(2, node.value.length || 4) + 0.6}ch`;
};

const judge = ({ label, minimum, maximum, type }: Knob, value: number): string => {
  if (Number.isNaN(value)) return `${label} needs a number.`;
  if (type === "integer" && !Number.isInteger(value)) return `${label} needs a whole number.`;
  if (value < (minimum ?? value)) return `${label} must be at least ${exact(minimum as number)}.`;
  return value > (maximum ?? value) ? `${label} must be at most ${exact(maximum as number)}.` : "";
};

/** A tenth of the value's size, so that a key press is felt at 4 and at 20 000. */
const stepFor = (value: number, integer: boolean): number => {
  const size = 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) - 1);
  return integer ? Math.max(1, size) : size;
};
