// The whole session: a line for what the provider recorded, an area for our estimate, a diamond per compaction.
// A stretch between two compactions is a moment that can be planned.
import { exact, plural, short } from "../core/format";
import type { Scene } from "../core/state";
import { h, setText } from "./dom";
import { showHint } from "./hint";
import type { Actions, Picture, View } from "./picture";
import { paint } from "./surface";

const HEIGHT = 78;
const TOP = 20;
/** The line of the diamonds and their labels. */
const ROW = 7;
const FLOOR = HEIGHT - 1;
const LABEL_ROOM = 92;

export const makeOverview = (actions: Actions): View => {
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const moments = h("div", { class: "ci-moments", role: "radiogroup", "aria-label": "Moment to plan" });
  const frame = h("div", { class: "ci-frame" });
  const stage = h("div", { class: "ci-stage", style: `height: ${HEIGHT}px` }, canvas, frame, moments);
  const steps = h("small");
  const node = h(
    "section",
    { class: "ci-lined", "data-testid": "overview", "aria-label": "Session" },
    h("div", { class: "ci-label" }, h("span", {}, "session"), steps),
    stage,
  );
  let shown: Picture | undefined;

  moments.addEventListener("keydown", event => moveBetween(moments, event));
  stage.addEventListener("pointermove", event => shown && hintAt(event, shown, stage.clientWidth));
  stage.addEventListener("pointerleave", event => showHint(event, null));

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      const { scene } = picture;
      if (parts.has("scene")) {
        setText(steps, plural(scene.overview.steps, "step"));
        const focused = moments.contains(document.activeElement);
        moments.replaceChildren(...scene.segments.map(segment => makeMoment(segment, scene, actions)));
        if (focused) moments.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
        const { first, last } = scene.overview;
        frame.hidden = last < first || scene.overview.steps === 0;
        frame.style.left = percentOf(first, scene);
        frame.style.width = percentOf(last + 1 - first, scene);
      }
      if (parts.has("scene") || parts.has("size") || parts.has("theme"))
        drawCurve(canvas, picture, stage.clientWidth);
    },
  };
};

const percentOf = (step: number, scene: Scene): string =>
  `${(100 * step) / Math.max(1, scene.overview.steps)}%`;

const makeMoment = (segment: Scene["segments"][number], scene: Scene, actions: Actions): HTMLElement => {
  const { label, at, firstStep, lastStep, tokens, current, note = "" } = segment;
  const moment = h("button", {
    type: "button",
    role: "radio",
    class: note === "" ? "ci-moment" : "ci-moment ci-downstream",
    "aria-checked": String(current),
    "aria-label": [label, `${short(tokens)} tokens`, ...(note === "" ? [] : [note])].join(", "),
    tabindex: current ? 0 : -1,
    style: `left: ${percentOf(firstStep, scene)}; width: ${percentOf(lastStep + 1 - firstStep, scene)}`,
  });
  moment.addEventListener("click", () => current || actions.moveTo(at));
  return moment;
};

const moveBetween = (group: HTMLElement, event: KeyboardEvent) => {
  const change = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (change === undefined) return;
  const all = [...group.querySelectorAll("button")];
  const next = all[all.indexOf(event.target as HTMLButtonElement) + change];
  if (next === undefined) return;
  event.preventDefault();
  for (const button of all) button.tabIndex = button === next ? 0 : -1;
  next.focus();
};

const hintAt = (event: PointerEvent, { scene }: Picture, width: number) => {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const step = Math.floor(((event.clientX - box.left) / width) * scene.overview.steps);
  const estimated = scene.overviewEstimated[step];
  if (estimated === undefined) return showHint(event, null);
  const reported = scene.overviewReported[step] as number;
  const stretch = scene.segments.find(({ firstStep, lastStep }) => firstStep <= step && step <= lastStep);
  const near = scene.boundaries.find(b => Math.abs(b.step - step) <= (6 * scene.overview.steps) / width);
  showHint(event, [
    `turn ${(scene.overviewTurn[step] as number) + 1}`,
    reported < 0 ? "nothing recorded" : `recorded ${exact(reported)}`,
    `estimated ${exact(estimated)}`,
    ...(near === undefined ? [] : [near.label]),
    ...(stretch?.note ? ["downstream of a summary"] : []),
  ]);
};

const drawCurve = (canvas: HTMLCanvasElement, { scene, palette }: Picture, width: number) => {
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
    context.lineJoin = context.lineCap = "round";
    // A thin line leads over steps without a record, but never over a compaction.
    const breaks = new Set(scene.boundaries.filter(({ kind }) => kind === "compact").map(({ step }) => step));
    context.strokeStyle = palette.faint;
    context.lineWidth = 0.6;
    traceLine(context, reported, x, y, (from, to) => to - from > 1 && !crosses(breaks, from, to));
    context.strokeStyle = palette.dim;
    context.lineWidth = 1.25;
    traceLine(context, reported, x, y, (from, to) => to - from === 1 && !breaks.has(to));
    drawBoundaries(context, scene, palette, x, width);
  });
};

/** Joins neighbouring records where `joined` allows, and marks each that stands alone. */
const traceLine = (
  context: CanvasRenderingContext2D,
  reported: Int32Array,
  x: (step: number) => number,
  y: (tokens: number) => number,
  joined: (from: number, to: number) => boolean,
) => {
  context.beginPath();
  let last = -1;
  reported.forEach((tokens, step) => {
    if (tokens < 0) return;
    if (last >= 0 && joined(last, step)) context.moveTo(x(last), y(reported[last] as number));
    else context.moveTo(x(step) - 0.01, y(tokens));
    context.lineTo(x(step), y(tokens));
    last = step;
  });
  context.stroke();
};

const crosses = (breaks: ReadonlySet<number>, from: number, to: number): boolean => {
  for (let step = from + 1; step <= to; step++) if (breaks.has(step)) return true;
  return false;
};

const drawBoundaries = (
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: Picture["palette"],
  x: (step: number) => number,
  width: number,
) => {
  context.font = `10.5px ${palette.font}`;
  context.textBaseline = "middle";
  let free = 0;
  for (const { step, kind, before, after } of scene.boundaries) {
    const at = x(step);
    const size = kind === "compact" ? 4.5 : 2.75;
    context.fillStyle = palette.ink;
    context.strokeStyle = palette.faint;
    context.beginPath();
    context.moveTo(at, ROW - size);
    context.lineTo(at + size, ROW);
    context.lineTo(at, ROW + size);
    context.lineTo(at - size, ROW);
    context.closePath();
    if (kind === "compact") context.fill();
    else context.stroke();
    if (kind !== "compact" || before === null || at < free) continue;
    const label = after === null ? short(before) : `${short(before)} → ${short(after)}`;
    const room = context.measureText(label).width;
    const left = at + 8 + room > width ? at - 8 - room : at + 8;
    if (left < free) continue;
    context.fillStyle = palette.dim;
    context.fillText(label, left, ROW + 0.5);
    free = Math.max(at + 8 + room, at) + LABEL_ROOM / 8;
  }
};
