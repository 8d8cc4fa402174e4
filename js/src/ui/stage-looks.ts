// How the stages of a policy look, wherever they are listed.
import { h } from "./dom";

/** A stage's own colour and pattern; the name next to it says the same. */
export const swatch = (look: string | undefined, ran = true): HTMLElement =>
  h("i", { class: `ci-chip ${classOf(look)}${ran ? "" : " ci-idle"}`, "aria-hidden": "true" });

export const classOf = (look = "stage1"): string => `ci-look-${look.replace(/[^a-z0-9]/g, "")}`;
