// The session's name, what is known of it, and the unit of every number below.
import { h, setAttributes, setText } from "./dom";
import type { View } from "./picture";

export const makeHeader = (): View => {
  const title = h("b");
  const facts = h("span");
  const unit = h("span", { class: "ci-unit" });
  const node = h("div", { class: "ci-header" }, title, facts, unit);
  return {
    node,
    draw({ scene }, parts) {
      if (!parts.has("scene")) return;
      setText(title, scene.title);
      setText(facts, scene.facts.join(" · "));
      setText(unit, `tokens: ${scene.unit.short}`);
      setAttributes(unit, { title: scene.unit.long });
    },
  };
};
