// The key to the patterns: what happens to a block, whatever its hue.

import type { View } from "../../store/view";
import { chip, h } from "../../ui/dom";

export const makeFateKey = (): View => {
  const node = h("div", { class: "ci-fatekey" });
  return {
    node,
    draw({ scene, plan }, parts) {
      if (!parts.has("scene") && !parts.has("fates")) return;
      const used = new Set([...plan.fateOlder, ...plan.fateKept]);
      const keys = scene.fates
        .filter((_, code) => used.has(code))
        .map(({ id, label }) => h("span", {}, chip("ink", id), label));
      node.replaceChildren(...keys, h("span", { class: "ci-note" }, "bar height √ tokens, one scale"));
    },
  };
};
