// Over the bars: the arc that joins a call and its output, a tick where something was found, a mark for each pinned block.

import { lowerBound, middleOf } from "../../model/axis";
import { barHeight, HEAD } from "../../model/bars";
import { rowOf } from "../../model/block-refs";
import { splitPairs } from "../../model/cuts";
import { hasAny, type View, type ViewState } from "../../store/view";
import { paint } from "../../ui/canvas/canvas";
import type { Palette } from "../../ui/canvas/canvas-colours";
import { h } from "../../ui/dom";

/** The largest number of pairs drawn under one cut. */
const MOST_ARCS = 12;
const TICK = 5;
const PIN = 9;
/** Halves closer than this are joined by an arc next to them. */
const NEAR = 28;
const TYPE = 12;
/** Pixels of ground around the word, and all that it has. */
const RIM = 3;
const WIDE = 48;

export const makeMarks = (): View & { readonly node: HTMLCanvasElement } => {
  const node = h("canvas", { class: "ci-canvas", "aria-hidden": "true", "data-testid": "marks" });
  let drawn = "";
  return {
    node,
    draw(viewState, parts) {
      const { scene, axis, lanes, palette, matches, why, row } = viewState;
      const pairs = why >= 0 ? splitPairs(scene, why).slice(0, MOST_ARCS) : pairOf(viewState);
      const hits = matches?.hits.filter(hit => hit.row >= 0) ?? [];
      const pinned = (viewState.pins ?? []).map(ref => rowOf(scene, ref)).filter(row => row >= 0);
      const key = `${pairs} ${why} ${row} ${pinned}`;
      const changed = hasAny(parts, "scene", "size", "range", "theme", "found");
      if (!changed && key === drawn) return;
      drawn = key;
      node.dataset.pairs = String(pairs.length);
      node.dataset.hits = String(hits.length);
      paint(node, axis.width, HEAD + lanes.height, palette.ratio, context => {
        context.fillStyle = palette.ink;
        const mark = (row: number, size: number) => {
          const x = middleOf(scene, axis, row);
          if (x < 0 || x > axis.width) return;
          context.beginPath();
          context.moveTo(x - size / 2 - 0.5, HEAD - size);
          context.lineTo(x + size / 2 + 0.5, HEAD - size);
          context.lineTo(x, HEAD);
          context.fill();
        };
        for (const { row } of hits) mark(row, TICK);
        for (const row of pinned) mark(row, PIN);
        for (const [call, output] of pairs)
          drawArc(context, viewState, call, output, why >= 0 ? palette.bad : palette.ink, pairs.length === 1);
      });
    },
  };
};

const pairOf = ({ scene, row }: ViewState): [number, number][] => {
  const other = scene.blockPair[row] ?? -1;
  return other < 0 ? [] : [[Math.min(row, other), Math.max(row, other)]];
};

const drawArc = (
  context: CanvasRenderingContext2D,
  viewState: ViewState,
  call: number,
  output: number,
  hue: string,
  named: boolean,
) => {
  const { axis, palette } = viewState;
  const [x1, y1] = topOf(viewState, call);
  const [x2, y2] = topOf(viewState, output);
  if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > axis.width) return;
  const near = Math.abs(x2 - x1) < NEAR;
  // A bow to the side that has room; else an arc over both.
  const side = Math.max(x1, x2) + 2 * NEAR < axis.width ? 1 : -1;
  const bend = (near ? side * NEAR : 0) + (x1 + x2) / 2;
  const rise = near ? (y1 + y2) / 2 : Math.max(4, Math.min(y1, y2) - 22);
  context.strokeStyle = context.fillStyle = hue;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x1, y1);
  context.quadraticCurveTo(bend, rise, x2, y2);
  context.stroke();
  for (const [x, y] of [
    [x1, y1],
    [x2, y2],
  ] as const) {
    context.beginPath();
    context.arc(x, y, 2.75, 0, 2 * Math.PI);
    context.fill();
  }
  if (!named) return;
  const [x, y] = [(x1 + 2 * bend + x2) / 4, (y1 + 2 * rise + y2) / 4];
  const word = wordIn(palette, hue);
  const left = near ? (side > 0 ? x + 6 : x - 6 - word.room) : x - word.room / 2;
  context.drawImage(word.canvas, left - RIM, y - TYPE, WIDE, 2 * TYPE);
};

/** The word last drawn: "pair" in a hue, and how wide it is. */
let last: { palette: Palette; hue: string; canvas: HTMLCanvasElement; room: number } | undefined;

/** The word on a canvas of its own: letters on one of the page cost the frame of a drag a layout. */
const wordIn = (palette: Palette, hue: string) => {
  if (last?.palette === palette && last.hue === hue) return last;
  const canvas = h("canvas");
  const word = { palette, hue, canvas, room: 0 };
  paint(canvas, WIDE, 2 * TYPE, palette.ratio, context => {
    context.font = `${TYPE * palette.scale}px ${palette.font}`;
    context.textBaseline = "middle";
    context.fillStyle = hue;
    context.strokeStyle = palette.ground;
    context.lineWidth = 3;
    context.strokeText("pair", RIM, TYPE + 0.5);
    context.fillText("pair", RIM, TYPE + 0.5);
    word.room = context.measureText("pair").width;
  });
  last = word;
  return word;
};

/** The top of the bar that a block is part of. */
const topOf = ({ scene, axis, lanes }: ViewState, row: number): [number, number] => {
  const lane = lanes.laneOf[scene.blockSection[row] as number] as number;
  const bin = lowerBound(axis.binRow, row + 1) - 1;
  const floor = lane < 0 ? 0 : (lanes.floors[lane] as number);
  const height = lane < 0 ? 0 : barHeight(lanes, lane, lanes.sums[lane]?.[bin] ?? 0);
  return [middleOf(scene, axis, row), HEAD + floor - height];
};
