// The session's name and what is known of it; above the facts everything that is about the whole workbench.
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
  const node = h(
    "div",
    { class: "ci-header" },
    h("div", { class: "ci-top" }, title, h("span", { class: "ci-pasts" }, undo, redo), search, help),
    h("div", { class: "ci-about" }, facts, unit),
  );
  const name = (button: HTMLButtonElement, verb: string, what: string, key: string) => {
    button.disabled = what === "";
    const label = what === "" ? `Nothing to ${verb.toLowerCase()}` : `${verb} the change of ${what}`;
    setAttributes(button, { "aria-label": label, title: `${label} (${key})` });
  };
  return {
    node,
    draw({ scene, past }, parts) {
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
