// Draws a replay: the recorded context as an area, the replayed one as a line, the states as a band below.
import { short } from "../../model/format";
import type { Scene } from "../../model/plan";
import { bandStates, type Line, type Run, reachOf } from "../../model/run";
import { paint, snap } from "../../ui/canvas/canvas";
import type { Palette } from "../../ui/canvas/canvas-colours";

export const HEIGHT = 132;
/** The lines of the compaction marks. */
const RECORDED = 7;
const REPLAYED = 19;
const TOP = 32;
const FLOOR = 110;
const TICKS = FLOOR + 2;
const BAND = 119;
const SIZE = 4.5;

export interface ChartCanvas {
  run: Run;
  scene: Scene;
  palette: Palette;
  width: number;
}

type Scale = (value: number) => number;

export const drawChartCanvas = (canvas: HTMLCanvasElement, chart: ChartCanvas): void => {
  const { run, scene, palette, width } = chart;
  const { top, lines } = reachOf(run);
  const x: Scale = step => ((step + 0.5) * width) / run.steps;
  const y: Scale = tokens => FLOOR - (Math.max(0, tokens) / top) * (FLOOR - TOP);
  paint(canvas, width, HEIGHT, palette.ratio, context => {
    context.font = `12px ${palette.font}`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    drawRecorded(context, chart, x, y);
    drawLimits(context, chart, lines, y);
    drawReplayed(context, chart, x, y);
    nameLimits(context, chart, lines, y);
    drawEvents(context, chart, x);
    drawBand(context, chart);
    const boundaries = scene.boundaries.filter(({ kind }) => kind === "compact");
    drawMarks(
      context,
      palette,
      width,
      boundaries.map(mark => ({ ...mark, x: x(mark.step), draw: diamond })),
      RECORDED,
    );
    const ownMarks = run.compactions.map(mark => ({
      ...mark,
      x: x(mark.step),
      draw: mark.adopted ? triangle : hollow,
    }));
    drawMarks(context, palette, width, ownMarks, REPLAYED);
  });
};

const drawRecorded = (
  context: CanvasRenderingContext2D,
  { run, scene, palette, width }: ChartCanvas,
  x: Scale,
  y: Scale,
) => {
  const { recorded, steps } = run;
  // Between two steps with a compaction between them the recorded context falls; it does not slope.
  const falls = new Set(scene.boundaries.filter(({ kind }) => kind === "compact").map(({ step }) => step));
  const trace = () => {
    for (let step = 0; step < steps; step++) {
      const tokens = recorded[step] as number;
      if (step > 0 && falls.has(step)) context.lineTo(x(step), y(recorded[step - 1] as number));
      context.lineTo(x(step), y(tokens));
    }
  };
  context.fillStyle = palette.area;
  context.beginPath();
  context.moveTo(0, FLOOR);
  context.lineTo(0, y(recorded[0] ?? 0));
  trace();
  context.lineTo(width, y(recorded[steps - 1] ?? 0));
  context.lineTo(width, FLOOR);
  context.fill();
  context.strokeStyle = palette.faint;
  context.lineWidth = 1;
  context.beginPath();
  trace();
  context.stroke();
};

/** The replayed line: up to the size before a compaction, then straight down to the size after it. */
const drawReplayed = (
  context: CanvasRenderingContext2D,
  { run, palette }: ChartCanvas,
  x: Scale,
  y: Scale,
) => {
  const cuts = new Map<number, Run["compactions"]>();
  for (const compaction of run.compactions) {
    if (compaction.adopted) cuts.set(compaction.step, [...(cuts.get(compaction.step) ?? []), compaction]);
  }
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.5;
  context.beginPath();
  run.replayed.subarray(0, run.lived).forEach((tokens, step) => {
    for (const { before, after } of cuts.get(step) ?? []) {
      context.lineTo(x(step), y(before));
      context.lineTo(x(step), y(after));
    }
    context.lineTo(x(step), y(tokens));
  });
  context.stroke();
};

/** Window and thresholds as lines; their names come last, so that no line runs through them. */
const drawLimits = (
  context: CanvasRenderingContext2D,
  { palette, width }: ChartCanvas,
  lines: readonly Line[],
  y: Scale,
) => {
  context.lineWidth = 1;
  for (const { label, tokens } of lines) {
    const at = snap(y(tokens), palette.ratio) + 0.5 / palette.ratio;
    context.strokeStyle = label === "window" ? palette.dim : palette.faint;
    context.setLineDash(label === "window" ? [] : [4, 3]);
    context.beginPath();
    context.moveTo(0, at);
    context.lineTo(width, at);
    context.stroke();
  }
  context.setLineDash([]);
};

/** Each name on its own line at the left, while a session is still small. */
const nameLimits = (
  context: CanvasRenderingContext2D,
  { palette, width }: ChartCanvas,
  lines: readonly Line[],
  y: Scale,
) => {
  let above = Number.NEGATIVE_INFINITY;
  let left = 6;
  for (const { label, tokens, mark } of [...lines].sort((a, b) => b.tokens - a.tokens)) {
    const at = y(tokens) + 0.5;
    const text = `${mark}${label} ${short(tokens)}`;
    const room = context.measureText(text).width + 8;
    // Lines too near for one name above the other have their names side by side.
    if (at - above >= 12 || left + room > width) left = 6;
    context.fillStyle = palette.ground;
    context.fillRect(left, at - 5.5, room, 11);
    context.fillStyle = palette.dim;
    context.fillText(text, left + 4, at + 0.5);
    above = at;
    left += room + 6;
  }
};

const drawEvents = (context: CanvasRenderingContext2D, { run, palette }: ChartCanvas, x: Scale) => {
  let last = -1;
  for (const { step, tone } of run.events) {
    const at = snap(x(step), palette.ratio);
    if (at === last && tone !== "bad") continue;
    last = at;
    context.fillStyle = tone === "bad" ? palette.bad : palette.dim;
    context.fillRect(at - 0.5, TICKS, 1, tone === "bad" ? 6 : 4);
  }
};

const drawBand = (context: CanvasRenderingContext2D, { run, palette, width }: ChartCanvas) => {
  const edge = (step: number) => snap((step * width) / run.steps, palette.ratio);
  context.textAlign = "center";
  for (const { state, from, to } of bandStates(run)) {
    const label = run.states[state];
    const left = edge(from);
    // A state of a part of a step among thousands is still seen.
    const room = Math.max(edge(to) - left, 1);
    context.fillStyle = palette.ground;
    context.fillRect(left, BAND, room, HEIGHT - BAND);
    context.fillStyle = palette.tone(label?.tone ?? "plain");
    context.fillRect(left, BAND, room, HEIGHT - BAND);
    if (label === undefined || room < 13) continue;
    const middle = left + room / 2;
    const half = context.measureText(label.mark).width / 2 + 3;
    context.fillStyle = palette.ground;
    context.fillRect(middle - half, BAND, 2 * half, HEIGHT - BAND);
    context.fillStyle = palette.ink;
    context.fillText(label.mark, middle, (BAND + HEIGHT) / 2 + 0.5);
  }
  context.textAlign = "left";
};

type Shape = (context: CanvasRenderingContext2D, x: number, y: number) => void;

const diamond: Shape = (context, x, y) => {
  context.moveTo(x, y - SIZE);
  context.lineTo(x + SIZE, y);
  context.lineTo(x, y + SIZE);
  context.lineTo(x - SIZE, y);
  context.closePath();
  context.fill();
};

const outline = (context: CanvasRenderingContext2D, x: number, y: number) => {
  context.moveTo(x, y + SIZE - 0.5);
  context.lineTo(x + SIZE, y - SIZE + 0.5);
  context.lineTo(x - SIZE, y - SIZE + 0.5);
  context.closePath();
};

const triangle: Shape = (context, x, y) => {
  outline(context, x, y);
  context.fill();
};

/** A compaction that came to nothing. */
const hollow: Shape = (context, x, y) => {
  outline(context, x, y);
  context.stroke();
};

interface Mark {
  x: number;
  before: number | null;
  after: number | null;
  draw: Shape;
}

const drawMarks = (
  context: CanvasRenderingContext2D,
  palette: Palette,
  width: number,
  marks: readonly Mark[],
  y: number,
) => {
  let free = 0;
  marks.forEach(({ x, before, after, draw }, i) => {
    context.fillStyle = palette.ink;
    context.strokeStyle = palette.ink;
    context.lineWidth = 1;
    context.beginPath();
    draw(context, x, y);
    if (before === null) return;
    const label = after === null ? short(before) : `${short(before)} → ${short(after)}`;
    const room = context.measureText(label).width;
    const edge = (marks[i + 1]?.x ?? width + 8) - 8;
    const leftward = x - 8 - room;
    // To the right if it fits before the next mark, else to the left if it fits behind the last one.
    const left = x + 8 + room <= edge ? x + 8 : leftward >= free ? leftward : -1;
    free = Math.max(free, x + 8, left + room + 8);
    if (left < 0) return;
    context.fillStyle = palette.dim;
    context.fillText(label, left, y + 0.5);
  });
};
