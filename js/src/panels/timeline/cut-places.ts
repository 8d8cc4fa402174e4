// The places to cut: a tall tick where a turn starts, a low one inside a turn; where no cut is legal a red dash on the
// floor, so that grey tells them apart too.

import { lowerBound } from "../../model/axis";
import { isLegal } from "../../model/cuts";
import type { Picture, View } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h } from "../../ui/dom";

export const STRIP = 12;
const HEIGHTS = { turn: 10, split: 5, illegal: 1.5 };

export const makeCutStrip = (): View => {
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const node = h("div", { class: "ci-strip", style: `height: ${STRIP}px` }, canvas);
  return {
    node,
    draw(picture, parts) {
      if (!["scene", "size", "range", "theme"].some(part => parts.has(part as "scene"))) return;
      const { axis, palette } = picture;
      paint(canvas, axis.width, STRIP, palette.ratio, context => drawPlaces(context, picture));
    },
  };
};

const drawPlaces = (context: CanvasRenderingContext2D, { scene, axis, palette }: Picture) => {
  const hair = 1 / palette.ratio;
  const tick = Math.max(hair, Math.min(2, axis.step / 5));
  for (let place = lowerBound(axis.placeX, -1); place <= scene.entries; place++) {
    if ((axis.placeX[place] as number) > axis.width + 1) break;
    const x = snap(Math.min(axis.placeX[place] as number, axis.width - tick), palette.ratio);
    if (isLegal(scene, place)) {
      const height = scene.placeSplits[place] ? HEIGHTS.split : HEIGHTS.turn;
      context.fillStyle = scene.placeSplits[place] ? palette.faint : palette.ink;
      context.fillRect(x, 0, tick, height);
    } else {
      const room = (axis.placeX[place + 1] as number) - (axis.placeX[place] as number);
      context.fillStyle = palette.bad;
      context.fillRect(x, STRIP - HEIGHTS.illegal, Math.max(hair, Math.min(4, room - 1)), HEIGHTS.illegal);
    }
  }
};
