// The chart of a replay, to be stepped through: a canvas, and the selected step next to it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { short } from "../../model/format";
import type { Scene } from "../../model/plan";
import {
  bandStates,
  nearestEvent,
  type Run,
  reachOf,
  type Spot,
  sayStep,
  spotAt,
  spotOf,
  stateAt,
  turnStep,
} from "../../model/run";
import type { Palette } from "../../ui/canvas/canvas-colours";
import { isModified } from "../../ui/keys";
import { StateLegend } from "../../ui/state-legend";
import { showHint } from "../../ui/tooltip";
import { drawChartCanvas, HEIGHT } from "./chart-canvas";

/** How near the pointer must be to an event to mean it, in pixels. */
const NEAR = 5;

interface Props {
  run: Run;
  scene: Scene;
  palette: Palette;
  spot: Spot;
  move(to: Spot): void;
  /** Shows what can happen at the spot. */
  open(): void;
}

export const Chart = ({ run, scene, palette, spot, move, open }: Props) => {
  const plot = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  // Another width comes with another palette.
  useLayoutEffect(() => {
    const width = plot.current?.clientWidth ?? 0;
    if (canvas.current !== null) drawChartCanvas(canvas.current, { run, scene, palette, width });
  }, [run, scene, palette]);

  const stepUnder = (event: PointerEvent): number => {
    const box = plot.current?.getBoundingClientRect();
    return box ? Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * run.steps) : 0;
  };
  const scrub = (event: PointerEvent) => {
    const step = stepUnder(event);
    const near = nearestEvent(run, step, (NEAR * run.steps) / Math.max(1, plot.current?.clientWidth ?? 0));
    move(near < 0 ? spotAt(run, step) : spotOf(run, near));
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    plot.current?.setPointerCapture(event.pointerId);
    scrub(event);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (event.buttons & 1) scrub(event);
    showHint(event, sayStep(run, spotAt(run, stepUnder(event)).step));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") return open();
    const to = isModified(event) ? undefined : KEYS[event.key]?.(run, spot);
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  };
  const label = sayStep(run, spot.step);
  const event = run.events[spot.event];
  return (
    <>
      <div class="ci-lined">
        <Key run={run} />
        <div
          ref={plot}
          class="ci-rp-plot"
          style={`height: ${HEIGHT}px`}
          role="slider"
          tabIndex={0}
          aria-label="Replay, step by step"
          aria-orientation="horizontal"
          aria-valuemin={1}
          aria-valuemax={run.steps}
          aria-valuenow={spot.step + 1}
          aria-valuetext={[...label, ...(event === undefined ? [] : [event.label])].join(", ")}
          data-testid="sawtooth"
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerLeave={event => showHint(event, null)}
          onKeyDown={onKeyDown}
        >
          <canvas ref={canvas} class="ci-canvas" />
          {run.scenario.chosen.map(
            ({ label, step }, i) =>
              step >= 0 && (
                <i
                  key={i}
                  class="ci-rp-act"
                  style={`left: ${(100 * (step + 0.5)) / run.steps}%`}
                  title={label}
                  aria-hidden="true"
                >
                  ⚑
                </i>
              ),
          )}
          <div
            class={event === undefined ? "ci-cursor" : "ci-cursor ci-on"}
            style={`left: ${(100 * (spot.step + 0.5)) / run.steps}%`}
            aria-hidden="true"
          />
        </div>
      </div>
      <StateLegend
        states={run.states}
        current={stateAt(run, spot)?.id}
        used={new Set(bandStates(run).map(({ state }) => state))}
      />
      <p class="ci-rp-readout">
        <span data-testid="replay-readout">{label.join(" · ")}</span>
        <span class="ci-quiet">← → step · Page ↑ ↓ turn · , and . event · Enter what if</span>
      </p>
    </>
  );
};

/** The legend: lines and marks. */
const Key = ({ run }: { run: Run }) => {
  const { top, beyond } = reachOf(run);
  const scale = [`to ${short(top)}`, ...beyond.map(({ label, tokens }) => `${label} ${short(tokens)}`)];
  return (
    <ul class="ci-rp-key" data-testid="replay-key">
      <li>
        <i class="ci-line" aria-hidden="true" />
        replayed ▼
      </li>
      <li>
        <i class="ci-line ci-recorded" aria-hidden="true" />
        recorded ◆
      </li>
      {run.compactions.some(({ adopted }) => !adopted) && <li>▽ not adopted</li>}
      <li class="ci-quiet">{scale.join(", ")}</li>
    </ul>
  );
};

const KEYS: Record<string, (run: Run, spot: Spot) => Spot> = {
  ArrowLeft: (run, { step }) => spotAt(run, step - 1),
  ArrowRight: (run, { step }) => spotAt(run, step + 1),
  PageUp: (run, { step }) => spotAt(run, turnStep(run, step, -1)),
  PageDown: (run, { step }) => spotAt(run, turnStep(run, step, 1)),
  Home: run => spotAt(run, 0),
  End: run => spotAt(run, run.steps - 1),
};
