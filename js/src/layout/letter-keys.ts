// Whether printable keys are shortcuts: a switch in the help, a trait, a setting of JupyterLab.
import type { Host } from "../payloads/host";
import { h, listen } from "../ui/dom";

/** Printable keys are heard unless they are switched off; arrows, Enter and Escape always are. */
export const hearsLetters = (host: Host): boolean => host.get("letter_keys") !== false;

/** The switch, as it stands in the help. */
export const makeLetterKeys = (host: Host) => {
  const box = h("input", { type: "checkbox", class: "ci-knob", "data-testid": "letter-keys" });
  const node = h("label", { class: "ci-letter-keys" }, box, " Letter keys");
  node.title = "Printable keys are shortcuts while the focus is in the workbench.";
  listen(box, "change", () => {
    host.set("letter_keys", box.checked);
    host.save_changes();
  });
  return {
    node,
    refresh() {
      box.checked = hearsLetters(host);
    },
  };
};
