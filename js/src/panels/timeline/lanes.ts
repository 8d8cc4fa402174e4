// The lanes: a bar of tokens per section and step on canvas, with a grid for the keyboard and the screen reader over it.
//
// Two hidden canvases hold the whole range as if everything were older, and as if everything were kept. A moving cut
// copies only the columns it passed from one or the other, and draws the one column it splits. They are made once the
// range has come to rest.

import { binOfPlace } from "../../model/axis";
import {
  barHeight,
  changedBins,
  HEAD,
  isClipped,
  isTall,
  NOTCH,
  type Piece,
  piecesOf,
  roomOf,
} from "../../model/bars";
import { short } from "../../model/format";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h } from "../../ui/dom";
import { makeMarks } from "./annotations";
import { makeGrid } from "./grid";

const WIDEST_BAR = 40;
/** The share of colour of removed blocks. */
const TINT = 0.36;
/** Milliseconds after which a range is taken to stay. */
const REST = 100;
/** A turn narrower than this has no band: bands of a pixel would be a grey of their own. */
const NARROWEST_BAND = 3;
const TYPE = 12;

export const makeLanes = (actions: Actions): View => {
  const base = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const bars = h("canvas", {
    class: "ci-canvas",
    style: `top: ${HEAD}px`,
    "aria-hidden": "true",
    "data-testid": "bars",
  });
  const older = h("canvas");
  const keptCanvas = h("canvas");
  const grid = makeGrid(actions);
  const marks = makeMarks();
  const node = h(
    "div",
    { class: "ci-plot" },
    h("div", { class: "ci-layer" }, base, bars, marks.node),
    grid.node,
  );
  let drawnAt = -1;
  let ready = false;
  let rest: ReturnType<typeof setTimeout> | undefined;

  const drawAll = (viewState: ViewState) => {
    const { axis, lanes, palette } = viewState;
    node.style.height = `${HEAD + lanes.height}px`;
    paint(base, axis.width, HEAD + lanes.height, palette.ratio, context => drawBase(context, viewState));
    paint(bars, axis.width, lanes.height, palette.ratio, context =>
      drawBins(context, viewState, viewState.place),
    );
    drawnAt = viewState.place;
    ready = false;
    clearTimeout(rest);
    rest = setTimeout(() => prepare(viewState), REST);
  };

  const prepare = (viewState: ViewState) => {
    if (ready) return;
    clearTimeout(rest);
    ready = true;
    const { scene, axis, lanes, palette } = viewState;
    for (const [canvas, place] of [
      [older, scene.entries],
      [keptCanvas, 0],
    ] as const) {
      paint(canvas, axis.width, lanes.height, palette.ratio, context => drawBins(context, viewState, place));
    }
  };

  /** Redraws the bins from `first` to `last` of the visible canvas. */
  const copy = (context: CanvasRenderingContext2D, viewState: ViewState, first: number, last: number) => {
    const { scene, axis, lanes, palette, place } = viewState;
    const cut = binOfPlace(scene, axis, place);
    const left = edge(viewState, first);
    context.clearRect(left, 0, edge(viewState, last + 1) - left, lanes.height);
    const blit = (source: HTMLCanvasElement, from: number, to: number) => {
      if (from >= to) return;
      const x = edge(viewState, from);
      const width = edge(viewState, to) - x;
      if (width <= 0) return;
      const { ratio } = palette;
      context.drawImage(source, x * ratio, 0, width * ratio, source.height, x, 0, width, lanes.height);
    };
    blit(older, first, Math.min(cut, last + 1));
    blit(keptCanvas, Math.max(cut + 1, first), last + 1);
    if (first <= cut && cut <= last) drawBin(context, viewState, cut, place);
  };

  return {
    node,
    draw(viewState, parts) {
      for (const view of [grid, marks]) view.draw(viewState, parts);
      if (hasAny(parts, "scene", "fates", "size", "range", "theme")) drawAll(viewState);
      else if (parts.has("place") && drawnAt !== viewState.place && viewState.axis.bins > 0) {
        const [first, last] = changedBins(viewState.scene, viewState.axis, drawnAt, viewState.place);
        const context = bars.getContext("2d");
        prepare(viewState);
        if (context !== null && first <= last) copy(context, viewState, first, last);
        drawnAt = viewState.place;
      }
    },
    dispose: () => clearTimeout(rest),
  };
};

/** The left edge of a bin, on a device pixel so that columns can be copied exactly. */
const edge = ({ axis, palette }: ViewState, bin: number): number =>
  snap(axis.binX[bin] as number, palette.ratio);

/** The width of a bin's bars, with a thin gap if there is room. */
const widthOf = (viewState: ViewState, bin: number): number => {
  const room = edge(viewState, bin + 1) - edge(viewState, bin);
  return Math.min(WIDEST_BAR, room > 4 ? room - 1 : room);
};

const drawBase = (context: CanvasRenderingContext2D, viewState: ViewState) => {
  const { axis, lanes, palette } = viewState;
  const height = HEAD + lanes.height;
  const hair = 1 / palette.ratio;
  context.fillStyle = palette.band;
  for (const { turn, x, end } of axis.turns) {
    const left = snap(x, palette.ratio);
    if (turn % 2 === 1 && end - x >= NARROWEST_BAND)
      context.fillRect(left, 0, snap(end, palette.ratio) - left, height);
  }
  if (axis.level === "block") {
    // If single blocks are visible, a thin line separates requests.
    for (let at = axis.first + 1; at < axis.end; at++) {
      context.fillRect(snap((at - axis.first) * axis.step, palette.ratio), HEAD, 1, lanes.height);
    }
  }
  context.fillStyle = palette.line;
  for (const floor of lanes.floors) context.fillRect(0, HEAD + floor - hair, axis.width, hair);
  context.font = `${TYPE * palette.scale}px ${palette.font}`;
  context.fillStyle = palette.dim;
  context.textBaseline = "middle";
  let free = 0;
  for (const { turn, x } of axis.turns) {
    const label = String(turn + 1);
    const width = context.measureText(label).width;
    if (x < free || x + 3 + width > axis.width) continue;
    context.fillText(label, x + 3, HEAD / 2 + 0.5);
    free = x + 3 + width + 6;
  }
  context.fillStyle = palette.text;
  lanes.list.forEach((lane, i) => {
    if (isTall(lane)) writeClipped(context, viewState, i);
  });
};

/** A clipped bar has its number next to it, unless another bar or number is there. */
const writeClipped = (context: CanvasRenderingContext2D, viewState: ViewState, lane: number) => {
  const { axis, lanes, palette } = viewState;
  const sums = lanes.sums[lane] as Float64Array;
  const type = TYPE * palette.scale;
  const low = roomOf(lanes, lane) - type - 2;
  const isFree = (bin: number) => barHeight(lanes, lane, sums[bin] ?? 0) < low;
  let endX = 0;
  sums.forEach((tokens, bin) => {
    if (!isClipped(lanes, lane, tokens)) return;
    const words = short(tokens);
    const room = context.measureText(words).width + 8;
    const left = edge(viewState, bin);
    const right = left + widthOf(viewState, bin);
    const over = (from: number, to: number, way: 1 | -1) => {
      for (let at = bin + way; at >= 0 && at < axis.bins; at += way) {
        if (edge(viewState, at + 1) <= from || edge(viewState, at) >= to) return true;
        if (!isFree(at)) return false;
      }
      return from >= 0 && to <= axis.width;
    };
    const x =
      left - room >= endX && over(left - room, left, -1)
        ? left - room + 4
        : over(right, right + room, 1)
          ? right + 4
          : -1;
    if (x < 0) return;
    context.fillText(words, x, HEAD + (lanes.floors[lane] as number) - roomOf(lanes, lane) + type / 2);
    endX = x + room;
  });
};

const drawBins = (context: CanvasRenderingContext2D, viewState: ViewState, place: number) => {
  for (let bin = 0; bin < viewState.axis.bins; bin++) drawBin(context, viewState, bin, place);
};

const drawBin = (context: CanvasRenderingContext2D, viewState: ViewState, bin: number, place: number) => {
  const { scene, plan, axis, lanes, palette } = viewState;
  const left = edge(viewState, bin);
  const width = widthOf(viewState, bin);
  const pieces = piecesOf(scene, plan, axis, lanes, bin, place);
  for (let i = 0; i < pieces.length; ) {
    const { lane } = pieces[i] as Piece;
    const total = lanes.sums[lane]?.[bin] ?? 0;
    const height = snap(barHeight(lanes, lane, total), palette.ratio);
    const floor = (lanes.floors[lane] as number) - 1 / palette.ratio;
    let y = floor;
    for (; pieces[i]?.lane === lane; i++) {
      const piece = pieces[i] as Piece;
      const part = total === 0 ? 0 : (height * piece.tokens) / total;
      y -= part;
      drawPiece(context, viewState, piece, left, y, width, part);
    }
    if (!isClipped(lanes, lane, total)) continue;
    const notch = NOTCH[isTall(lanes.list[lane]) ? "tall" : "low"];
    context.clearRect(left, snap(floor - height + notch, palette.ratio), width, NOTCH.height);
  }
};

/** The tint shows the outcome: full colour for kept, part of it for removed, only an outline for dropped. */
const drawPiece = (
  context: CanvasRenderingContext2D,
  { scene, palette }: ViewState,
  { section, fate, tokens, after }: Piece,
  x: number,
  y: number,
  width: number,
  height: number,
) => {
  const id = scene.fates[fate]?.id ?? "";
  const stays = id === "verbatim" ? height : tokens === 0 ? 0 : Math.min(1, after / tokens) * height;
  const goes = height - stays;
  // What is not in the file has its pattern.
  context.fillStyle = context.strokeStyle = palette.fill(section, "verbatim");
  context.fillRect(x, y + goes, width, stays);
  if (goes <= 0) return;
  if (id === "dropped" && goes > 2) {
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, width - 1, goes - 1);
    return;
  }
  context.globalAlpha = TINT;
  context.fillRect(x, y, width, goes);
  context.globalAlpha = 1;
};
