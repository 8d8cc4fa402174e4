// The places to cut, side by side: tall where a turn starts, low inside a turn, a red dash where no cut is legal.
import { isLegal } from "../core/cuts";
import { h } from "./dom";
import type { Picture, View } from "./picture";
import { paint, snap } from "./surface";

export const STRIP = 12;
const HEIGHTS = { turn: 10, split: 6, illegal: 2 };

export const makeCutStrip = (): View => {
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const node = h("div", { class: "ci-strip", style: `height: ${STRIP}px` }, canvas);
  return {
    node,
    draw(picture, parts) {
      if (!parts.has("scene") && !parts.has("size") && !parts.has("theme")) return;
      const { axis, palette } = picture;
      paint(canvas, axis.width, STRIP, palette.ratio, context => drawPlaces(context, picture));
    },
  };
};

const drawPlaces = (context: CanvasRenderingContext2D, { scene, axis, palette }: Picture) => {
  for (let place = 0; place < scene.entries; place++) {
    const left = snap(axis.placeX[place] as number, palette.ratio);
    const width = snap(axis.placeX[place + 1] as number, palette.ratio) - left;
    const legal = isLegal(scene, place);
    const height = !legal ? HEIGHTS.illegal : scene.placeSplits[place] ? HEIGHTS.split : HEIGHTS.turn;
    context.fillStyle = !legal ? palette.bad : scene.placeSplits[place] ? palette.faint : palette.dim;
    context.fillRect(left, STRIP - height, Math.max(1 / palette.ratio, width - (width > 3 ? 1 : 0)), height);
  }
};
