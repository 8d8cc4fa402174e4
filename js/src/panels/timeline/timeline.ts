// The middle of the screen: the pill, the lanes, what they become, where a cut may stand, and what is chosen. One axis.

import type { Actions, View } from "../../store/view";
import { h } from "../../ui/dom";
import { makeBecomes } from "./becomes-strip";
import { makeCutPill } from "./cut-pill";
import { makePlaces } from "./cut-places";
import { makeFactRow } from "./fact-row";
import { makeFunnel } from "./funnel";
import { makeLanes } from "./lanes";
import { makePlanBCut } from "./plan-b-cut";
import { makeSideLanes } from "./subagents";
import { makeZoom } from "./zoom";

export interface Timeline extends View {
  /** As wide as the axis. */
  readonly axis: HTMLElement;
}

export const makeTimeline = (actions: Actions): Timeline => {
  const zoom = makeZoom(actions);
  const funnel = makeFunnel();
  const lanes = makeLanes(actions);
  const sides = makeSideLanes(actions);
  const becomes = makeBecomes();
  const places = makePlaces();
  const factRow = makeFactRow(actions);
  const planB = makePlanBCut();
  const pill = makeCutPill(actions, places.axis);
  const views = [zoom, funnel, lanes, sides, becomes, places, factRow, planB, pill];
  const node = h(
    "section",
    { class: "ci-turns", "aria-label": "Turns", "data-testid": "lanes" },
    h("div", { class: "ci-lined ci-pillrow" }, zoom.node, funnel.node),
    ...[lanes, sides, becomes, places, factRow].map(view => view.node),
    h("div", { class: "ci-layer" }, planB.node, pill.node),
  );
  zoom.listen(node);
  return {
    node,
    axis: places.axis,
    draw(picture, parts) {
      for (const view of views) view.draw(picture, parts);
    },
    dispose: () => lanes.dispose?.(),
  };
};
