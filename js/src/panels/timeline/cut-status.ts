// One line under the lanes: what the cut does, or why there can be none where the hand is.
import { nearestLegal, whyNot } from "../../model/cuts";
import { namePlace, plural } from "../../model/format";
import type { Scene } from "../../model/plan";
import type { Actions, Picture, View } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";

export const makeReason = (actions: Actions): View => {
  const mark = h("b", { class: "ci-bad", "aria-hidden": "true" }, "✕");
  const sentence = h("span");
  const free = h("button", { class: "ci-link" }, "let the policy decide");
  const text = h("p", { role: "status", "aria-live": "polite", "data-testid": "cut-reason" }, mark, sentence);
  const node = h("div", { class: "ci-reason" }, text, free);
  free.addEventListener("click", () => {
    // The button goes with the answer; the focus stays with the cut.
    free.closest(".ci")?.querySelector<HTMLElement>(".ci-grip")?.focus({ preventScroll: true });
    actions.freeCut();
  });
  return {
    node,
    draw(picture, parts) {
      if (!["scene", "plan", "place", "why", "settled"].some(part => parts.has(part as "why"))) return;
      const { why, plan, dragging } = picture;
      setShown(mark, why >= 0);
      setText(sentence, why >= 0 ? sayWhy(picture) : sayCut(picture));
      setShown(free, why < 0 && !dragging && plan.cut.by === "you");
    },
  };
};

const sayWhy = ({ scene, cuts, axis, why }: Picture): string => {
  const nearest = nearestLegal(cuts, why, axis.placeX);
  const advice = nearest < 0 ? "No place here is legal." : sayNearest(scene, why, nearest);
  return `No cut in ${namePlace(scene, why)}, here: ${whyNot(scene, why)} ${advice}`;
};

const sayNearest = (scene: Scene, why: number, nearest: number): string => {
  const distance = plural(Math.abs(nearest - why), "entry", "entries");
  const turn = namePlace(scene, nearest);
  const where = turn === namePlace(scene, why) ? "" : `, at ${turn}`;
  return `Nearest: ${distance} ${nearest < why ? "earlier" : "later"}${where}.`;
};

const sayCut = ({ scene, plan, place, settled }: Picture): string => {
  if (settled && plan.cut.place === place) return plan.cut.sentence;
  const where = place >= scene.entries ? "at the end" : `before ${namePlace(scene, place)}`;
  const splits = scene.placeSplits[place] ? ", inside the turn" : "";
  return `Cut ${where}${splits}.`;
};
