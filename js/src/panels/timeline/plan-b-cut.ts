// Plan B's own cut, or one that was guessed: a dashed line over the lanes.
import { namePlace, short } from "../../model/format";
import { isUncut, type Plan, totalAfter } from "../../model/plan";
import type { View } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";

/** Half of a pill and its words, at most. */
const PILL = 124;
const WORDS = 200;

export const makePlanBCut = (): View => {
  const tag = h("span");
  const node = h("div", { class: "ci-cutb", "aria-hidden": "true", hidden: true }, tag);
  return {
    node,
    draw({ other, axis, scene, place: ownPlace, lesson: { guess }, plan }) {
      const isGuess = guess?.shown === true;
      if (other === null && !isGuess) return setShown(node, false);
      const place = isGuess ? guess.own : (other as Plan).cut.place;
      const x = axis.placeX[place] ?? -1;
      setShown(node, (isGuess || !isUncut(other as Plan, place)) && x >= 0 && x <= axis.width);
      node.style.transform = `translateX(${x}px)`;
      const name = isGuess
        ? `your guess: ${namePlace(scene, place)}, ${short(totalAfter(plan, place))} after`
        : `B · ${other?.label ?? other?.policyTitle} · ${namePlace(scene, place)}`;
      setText(tag, name);
      // The label keeps clear of the pill, on the far side if there is room.
      const gap = x - (axis.placeX[ownPlace] ?? 0);
      const clear = Math.max(0, PILL - Math.abs(gap));
      const leftward = gap < 0 ? x > WORDS : x + clear + WORDS > axis.width;
      node.classList.toggle("ci-leftward", leftward);
      tag.style.margin = `0 ${leftward === gap < 0 ? clear : PILL + Math.abs(gap)}px`;
    },
  };
};
