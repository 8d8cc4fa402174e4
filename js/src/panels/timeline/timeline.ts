// The middle of the screen on one axis: the pill, the lanes, their outcomes, the cut points, and the chosen fact.

import type { Actions, View } from "../../store/view";
import { h } from "../../ui/dom";
import { makeBecomes } from "./becomes-strip";
import { makeCutPill } from "./cut-pill";
import { makePlaces } from "./cut-places";
import { makeFactLane } from "./fact-lane";
import { makeFunnel } from "./funnel";
import { makeLanes } from "./lanes";
import { makePlanBCut } from "./plan-b-cut";
import { makeSelectionFrame } from "./selection";
import { makeSideLanes } from "./subagents";
import { makeZoom } from "./zoom";

export interface Timeline extends View {
  /** As wide as the axis. */
  readonly axis: HTMLElement;
}

/** `start` is the handle of the beginning. */
export const makeTimeline = (actions: Actions, start: View): Timeline => {
  const zoom = makeZoom(actions);
  const funnel = makeFunnel();
  const lanes = makeLanes(actions);
  const sides = makeSideLanes(actions);
  const strip = makeBecomes();
  const places = makePlaces();
  const factLane = makeFactLane(actions);
  const planB = makePlanBCut();
  const pill = makeCutPill(actions, places.axis);
  const selection = makeSelectionFrame(actions);
  const views = [zoom, funnel, lanes, sides, strip, places, factLane, planB, start, pill, selection];
  const node = h(
    "section",
    { class: "ci-turns", "aria-label": "Turns", "data-testid": "lanes" },
    h("div", { class: "ci-lined ci-pillrow" }, zoom.node, funnel.node),
    ...[lanes, sides, strip, places, factLane].map(view => view.node),
    h("div", { class: "ci-layer" }, planB.node, start.node, pill.node, selection.node),
  );
  zoom.listen(node);
  return {
    node,
    axis: places.axis,
    draw(viewState, parts) {
      for (const view of views) view.draw(viewState, parts);
    },
    dispose: () => lanes.dispose?.(),
  };
};
