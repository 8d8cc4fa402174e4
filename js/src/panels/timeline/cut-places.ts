// Cut points: a tall tick at the start of a turn, a short one inside a turn; other places are not valid.

import { lowerBound } from "../../model/axis";
import { isLegal } from "../../model/cuts";
import { hasAny, type View, type ViewState } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h } from "../../ui/dom";

const STRIP = 11;
const HEIGHTS = { turn: 9, split: 4 };
/** The smallest distance between ticks. */
const NEAREST = 2;

export interface Places extends View {
  readonly axis: HTMLElement;
}

export const makePlaces = (): Places => {
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const axis = h("div", { class: "ci-strip", style: `height: ${STRIP}px` }, canvas);
  const node = h(
    "div",
    { class: "ci-lined ci-legal" },
    h("div", { class: "ci-label" }, h("span", {}, "valid cut points")),
    axis,
  );
  return {
    node,
    axis,
    draw(viewState, parts) {
      if (!hasAny(parts, "scene", "size", "range", "theme")) return;
      const { axis, palette } = viewState;
      paint(canvas, axis.width, STRIP, palette.ratio, context => drawPlaces(context, viewState));
    },
  };
};

const drawPlaces = (context: CanvasRenderingContext2D, { scene, axis, palette }: ViewState) => {
  let free = [-1, -1];
  for (let place = lowerBound(axis.placeX, -1); place <= scene.entries; place++) {
    const at = axis.placeX[place] as number;
    if (at > axis.width + 1) break;
    if (!isLegal(scene, place)) continue;
    const inside = scene.placeSplits[place] === 1;
    const x = snap(Math.min(at, axis.width - 1), palette.ratio);
    if (x < (free[inside ? 1 : 0] as number)) continue;
    free = inside ? [free[0] as number, x + NEAREST] : [x + NEAREST, x + NEAREST];
    context.fillStyle = inside ? palette.dim : palette.ink;
    context.fillRect(x, 1, 1, inside ? HEIGHTS.split : HEIGHTS.turn);
  }
};
