// What the reader and the plan want known: unknown records, estimates, encrypted reasoning.

import type { View } from "../store/view";
import { h, setShown } from "../ui/dom";

export const makeNotices = (): View => {
  const node = h("ul", { class: "ci-notices", "data-testid": "notices", "aria-label": "Notices" });
  return {
    node,
    draw({ scene, plan }, parts) {
      if (!parts.has("scene") && !parts.has("plan")) return;
      const notices = [...new Set([...scene.notices, ...plan.notes])];
      setShown(node, notices.length > 0);
      node.replaceChildren(...notices.map(notice => h("li", {}, notice)));
    },
  };
};
