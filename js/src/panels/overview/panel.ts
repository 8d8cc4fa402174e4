// The whole session: a line for what the provider recorded, an area for what is counted, a button for each compaction, and
// a brush over the steps that the lanes show. Another stretch is another moment to plan.

import { lowerBound, stepOfRow } from "../../model/axis";
import { exact } from "../../model/format";
import { isUncut, type Scene } from "../../model/plan";
import type { SearchHit } from "../../payloads/types";
import { type Actions, hasAny, type Part, type View, type ViewState } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h, listen, setShown } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";
import { makeBrush } from "./brush";
import { makeCompactions } from "./compaction-buttons";
import { makeNeededAgainMarks, nearest, paidNear } from "./needed-again-marks";

const HEIGHT = 64;
/** Over the curve is the row of the compactions' buttons. */
const TOP = 30;
const FLOOR = HEIGHT - 2;

export const makeOverview = (actions: Actions): View => {
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const hover = h("div", { class: "ci-hover", hidden: true });
  const cut = h("i", { class: "ci-here", "aria-hidden": "true" }, "▾");
  const stage = h("div", { class: "ci-stage ci-moments", style: `height: ${HEIGHT}px` }, canvas, hover);
  const compactions = makeCompactions(actions);
  const brush = makeBrush(actions, stage, step => {
    const segment = segmentAt(shown?.scene, step);
    if (segment !== undefined && !segment.current) actions.moveTo(segment.at);
  });
  const again = makeNeededAgainMarks(HEIGHT);
  stage.append(again.node, brush.node, cut, compactions.node);
  const key = h("small", { "data-testid": "overview-key" });
  const node = h(
    "section",
    { class: "ci-lined ci-overview", "data-testid": "overview", "aria-label": "Session" },
    h("div", { class: "ci-label" }, h("span", {}, "session"), key),
    stage,
  );
  let shown: ViewState | undefined;
  let width = 0;

  // A press on a button does not count as one on the curve under it.
  compactions.node.addEventListener("pointerdown", event => event.stopPropagation());
  listen(stage, "pointermove", event => {
    if (shown === undefined) return;
    hintAt(event, shown, stage.clientWidth);
    const segment = segmentAt(shown.scene, stepUnder(event, shown.scene, stage.clientWidth));
    setShown(hover, segment !== undefined && !segment.current && event.buttons === 0);
    if (segment !== undefined) place(hover, shown.scene, segment.firstStep, segment.lastStep + 1);
  });
  listen(stage, "pointerleave", event => {
    setShown(hover, false);
    showHint(event, null);
  });

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      const { scene } = viewState;
      const has = (...names: Part[]) => hasAny(parts, ...names);
      if (!has("scene", "range", "size", "theme", "found", "tracing", "tab", "look", "place")) return;
      // Asked in a frame that has written already, it would lay out everything once more.
      if (has("scene", "size")) width = stage.clientWidth;
      if (has("scene", "tracing")) key.replaceChildren(...listSigns(viewState));
      if (has("scene", "range", "size")) brush.draw(viewState, width);
      if (has("scene", "size", "theme", "found")) drawCurve(canvas, viewState, width);
      if (has("scene", "size", "theme", "tracing")) again.draw(viewState, width);
      if (has("scene", "size", "theme", "look")) compactions.draw(viewState, width);
      if (has("scene", "size", "place")) {
        const step = scene.stepOverview[scene.entryStep[viewState.place] ?? scene.steps - 1] ?? -1;
        const end = viewState.place >= scene.entries ? 1 : 0;
        // A cut that is not placed yet has no position in the session.
        setShown(cut, step >= 0 && !isUncut(viewState.plan, viewState.place));
        cut.style.transform = `translateX(${((step + end) * width) / Math.max(1, scene.overview.steps)}px)`;
      }
    },
  };
};

/** The signs that are drawn, with what each means. */
const listSigns = ({ scene, tracing }: ViewState): HTMLElement[] => {
  const has = (kind: string) => scene.boundaries.some(boundary => boundary.kind === kind);
  return [
    ...(has("compact") ? ["◆ compaction"] : []),
    ...(has("micro") ? ["◇ cleared"] : []),
    ...(tracing.regret?.marks.length ? ["↺ needed again"] : []),
    ...(tracing.regret?.rebuilds.length ? ["$ cache rebuilt"] : []),
    ...(scene.segments.some(({ note }) => note) ? ["┄ after a summary"] : []),
  ].map(words => h("span", {}, words));
};

const place = (node: HTMLElement, { overview }: Scene, first: number, end: number) => {
  node.style.left = `${(100 * first) / Math.max(1, overview.steps)}%`;
  node.style.width = `${(100 * (end - first)) / Math.max(1, overview.steps)}%`;
};

const segmentAt = (scene: Scene | undefined, step: number) =>
  scene?.segments.find(({ firstStep, lastStep }) => firstStep <= step && step <= lastStep);

const stepUnder = (event: PointerEvent, scene: Scene, width: number): number => {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return Math.floor(((event.clientX - box.left) / width) * scene.overview.steps);
};

const hintAt = (event: PointerEvent, viewState: ViewState, width: number) => {
  const { scene } = viewState;
  const step = stepUnder(event, scene, width);
  const estimated = scene.overviewEstimated[step];
  if (estimated === undefined) return showHint(event, null);
  const reported = scene.overviewReported[step] as number;
  const segment = segmentAt(scene, step);
  const reach = (6 * scene.overview.steps) / width;
  const near = nearest(scene.boundaries, step, reach);
  showHint(event, [
    `turn ${(scene.overviewTurn[step] as number) + 1}`,
    reported < 0 ? "nothing recorded" : `recorded ${exact(reported)}`,
    `estimated ${exact(estimated)}`,
    ...(near === undefined ? [] : [near.label]),
    ...(segment?.note ? ["downstream of a summary"] : []),
    ...paidNear(viewState, step, reach),
  ]);
};

const drawCurve = (canvas: HTMLCanvasElement, { scene, palette, matches }: ViewState, width: number) => {
  const count = scene.overview.steps;
  const { overviewEstimated: estimated, overviewReported: reported } = scene;
  let peak = 1;
  for (let i = 0; i < count; i++) peak = Math.max(peak, estimated[i] as number, reported[i] as number);
  const x = (step: number) => ((step + 0.5) * width) / count;
  const y = (tokens: number) => FLOOR - (tokens / peak) * (FLOOR - TOP);
  paint(canvas, width, HEIGHT, palette.ratio, context => {
    context.fillStyle = palette.area;
    context.beginPath();
    context.moveTo(0, FLOOR);
    context.lineTo(0, y(estimated[0] ?? 0));
    for (let i = 0; i < count; i++) context.lineTo(x(i), y(estimated[i] as number));
    context.lineTo(width, y(estimated[count - 1] ?? 0));
    context.lineTo(width, FLOOR);
    context.fill();
    drawDownstream(context, scene, palette, width);
    context.lineJoin = context.lineCap = "round";
    // One line leads over steps without a record, but never over a compaction.
    const breaks = scene.boundaries.filter(({ kind }) => kind === "compact").map(({ step }) => step);
    context.strokeStyle = palette.dim;
    context.lineWidth = 1.25;
    traceLine(context, reported, x, y, breaks);
    drawDiamonds(context, scene, palette, x);
    context.fillStyle = palette.ink;
    for (const hit of matches?.hits ?? []) {
      const at = snap(x(stepOfHit(scene, hit)), palette.ratio);
      context.fillRect(at - 0.5, TOP - 4, 1, 5);
    }
  });
};

/** The step of a search hit: that of its block, or the start of its turn. */
const stepOfHit = (scene: Scene, { row, turn }: SearchHit): number => {
  const step = row < 0 ? -1 : (scene.stepOverview[stepOfRow(scene, row)] ?? -1);
  return step >= 0 ? step : Math.min(lowerBound(scene.overviewTurn, turn), scene.overview.steps - 1);
};

/** All that happens in these stretches follows a summary which a model wrote. */
const drawDownstream = (
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: ViewState["palette"],
  width: number,
) => {
  const code = scene.sections.findIndex(({ id }) => id === "compacted");
  context.fillStyle = palette.sections[code] ?? palette.dim;
  for (const { note, firstStep, lastStep } of scene.segments) {
    if (!note) continue;
    const end = ((lastStep + 1) * width) / scene.overview.steps;
    for (let at = (firstStep * width) / scene.overview.steps; at < end; at += 5)
      context.fillRect(at, HEIGHT - 1, 2, 1);
  }
};

/** Joins each record with the one before, unless a break is between them, and marks each that stands alone. */
const traceLine = (
  context: CanvasRenderingContext2D,
  reported: Int32Array,
  x: (step: number) => number,
  y: (tokens: number) => number,
  breaks: readonly number[],
) => {
  context.beginPath();
  let last = -1;
  reported.forEach((tokens, step) => {
    if (tokens < 0) return;
    if (last >= 0 && !breaks.some(at => last < at && at <= step))
      context.moveTo(x(last), y(reported[last] as number));
    else context.moveTo(x(step) - 0.01, y(tokens));
    context.lineTo(x(step), y(tokens));
    last = step;
  });
  context.stroke();
};

/** A line at each drop of the context; the buttons above explain it. */
const drawDiamonds = (
  context: CanvasRenderingContext2D,
  { boundaries }: Scene,
  { faint }: ViewState["palette"],
  x: (step: number) => number,
) => {
  context.fillStyle = faint;
  for (const { step, kind } of boundaries)
    if (kind === "compact") context.fillRect(Math.round(x(step)), TOP - 5, 1, FLOOR - TOP + 5);
};
