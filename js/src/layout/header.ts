// The session's name and what is known of it; above the facts everything that is about the whole workbench.
import { MODES } from "../model/modes";
import type { Actions, View } from "../store/view";
import { h, setAttributes, setText } from "../ui/dom";

export const makeHeader = (actions: Actions, search: HTMLElement, openHelp: () => void): View => {
  const title = h("b");
  const facts = h("span", { class: "ci-facts-line" });
  const unit = h("span", { class: "ci-unit" });
  const undo = makeIcon("↶", "undo", actions.undo);
  const redo = makeIcon("↷", "redo", actions.redo);
  const help = makeIcon("?", "open-help", openHelp);
  setAttributes(help, { "aria-label": "Keys", title: "Keys (?)" });
  const modes = makeModes(actions);
  const node = h(
    "div",
    { class: "ci-header" },
    h(
      "div",
      { class: "ci-top" },
      title,
      h("span", { class: "ci-pasts" }, undo, redo),
      modes.node,
      search,
      help,
    ),
    h("div", { class: "ci-about" }, facts, unit),
  );
  const name = (button: HTMLButtonElement, verb: string, what: string, key: string) => {
    button.disabled = what === "";
    const label = what === "" ? `Nothing to ${verb.toLowerCase()}` : `${verb} the change of ${what}`;
    setAttributes(button, { "aria-label": label, title: `${label} (${key})` });
  };
  return {
    node,
    draw({ scene, mode, past }, parts) {
      if (parts.has("mode")) modes.show(mode);
      if (parts.has("past")) {
        name(undo, "Undo", past.undo, "z");
        name(redo, "Redo", past.redo, "Z");
        // A button hears no keys once it is disabled: after the last undo the focus is on redo, and the other way round.
        if (undo.disabled && undo === document.activeElement) redo.focus();
        else if (redo.disabled && redo === document.activeElement) undo.focus();
      }
      if (!parts.has("scene")) return;
      setText(title, scene.title);
      setText(facts, scene.facts.join(" · "));
      setText(unit, `tokens: ${scene.unit.short}`);
      setAttributes(unit, { title: scene.unit.long });
      setAttributes(title, { title: scene.title });
    },
  };
};

const makeIcon = (sign: string, id: string, act: () => void): HTMLButtonElement => {
  const button = h("button", { class: "ci-icon", "data-testid": id }, sign);
  button.addEventListener("click", act);
  return button;
};

/** Explore, Teach or Debug: one of them is on, and the arrow keys go from one to the next. */
const makeModes = (actions: Actions) => {
  const buttons = MODES.map(({ id, label, title }) =>
    h("button", { role: "radio", title, "data-testid": `mode-${id}` }, label),
  );
  const node = h("div", { class: "ci-modes", role: "radiogroup", "aria-label": "Mode" }, ...buttons);
  const choose = (at: number) => {
    const wrapped = (at + MODES.length) % MODES.length;
    buttons[wrapped]?.focus();
    actions.setMode(MODES[wrapped]!.id);
  };
  buttons.forEach((button, at) => {
    button.addEventListener("click", () => actions.setMode(MODES[at]!.id));
    button.addEventListener("keydown", event => {
      const way = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (way === undefined) return;
      event.preventDefault();
      choose(at + way);
    });
  });
  return {
    node,
    show(mode: string) {
      buttons.forEach((button, at) => {
        const on = MODES[at]!.id === mode;
        setAttributes(button, { "aria-checked": String(on), tabindex: on ? 0 : -1 });
      });
    },
  };
};
