// Joins the brush of the overview to the lanes: what is narrow there is wide here.
import { onOverview } from "../../model/range";
import type { View } from "../../store/view";
import { h } from "../../ui/dom";

export const makeFunnel = (): View => {
  const node = h("div", { class: "ci-funnel", "aria-hidden": "true" });
  return {
    node,
    draw({ scene, range }, parts) {
      if (!parts.has("scene") && !parts.has("range")) return;
      const [first, end] = onOverview(scene, range) ?? [0, 0];
      const share = (step: number) => `${(100 * step) / Math.max(1, scene.overview.steps)}%`;
      node.style.clipPath =
        first === end ? "inset(0 0 100%)" : `polygon(${share(first)} 0, ${share(end)} 0, 100% 100%, 0 100%)`;
    },
  };
};
