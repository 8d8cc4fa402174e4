// Whether printable keys are shortcuts: a switch in the help, a trait, a setting of JupyterLab.
import { type Host, keep } from "../payloads/host";
import { h, listen } from "../ui/dom";

/** Printable keys are heard unless they are switched off; arrows, Enter and Escape always are. */
export const hearsLetters = (host: Host): boolean => host.get("letter_keys") !== false;

/** The switch in the help dialog. */
export const makeLetterKeys = (host: Host) => {
  const box = h("input", { type: "checkbox", class: "ci-knob", "data-testid": "letter-keys" });
  const node = h("label", { class: "ci-letter-keys" }, box, " Letter keys");
  node.title = "Printable keys are shortcuts while the focus is in the workbench.";
  listen(box, "change", () => keep(host, "letter_keys", box.checked));
  return {
    node,
    refresh() {
      box.checked = hearsLetters(host);
    },
  };
};
