// Plan B's own cut, a dashed line over the lanes.
import { namePlace } from "../../model/format";
import { isUncut } from "../../model/plan";
import type { View } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";

export const makeOtherCut = (): View => {
  const tag = h("span");
  const node = h("div", { class: "ci-cutb", "aria-hidden": "true", hidden: true }, tag);
  return {
    node,
    draw({ other, axis, scene }) {
      if (other === null) return setShown(node, false);
      const { place } = other.cut;
      const x = axis.placeX[place] ?? -1;
      setShown(node, !isUncut(other, place) && x >= 0 && x <= axis.width);
      node.style.transform = `translateX(${x}px)`;
      setText(tag, `B · ${other.label ?? other.policyTitle} · ${namePlace(scene, place)}`);
      node.classList.toggle("ci-leftward", x > axis.width / 2);
    },
  };
};
