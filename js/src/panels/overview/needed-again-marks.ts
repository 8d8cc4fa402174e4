// ↺ on the overview for everything needed again after a compaction removed it; red for the open fact.
import { plural } from "../../model/format";
import type { ViewState } from "../../store/view";
import { paint } from "../../ui/canvas/canvas";
import { h, setAttributes, setShown } from "../../ui/dom";

/** The line of the marks, and their smallest distance. */
const LINE = 37;
const APART = 12;

export const makeNeededAgainMarks = (height: number) => {
  const node = h("canvas", { class: "ci-canvas", role: "img", "data-testid": "again-marks", hidden: true });
  node.style.pointerEvents = "none";
  return {
    node,
    draw(viewState: ViewState, width: number) {
      const { scene, palette, tracing } = viewState;
      const { marks = [], rebuilds = [] } = tracing.regret ?? {};
      const own = marks.filter(({ number }) => number === tracing.story?.number);
      const count = marks.length + rebuilds.length;
      setShown(node, count > 0);
      if (count === 0) return;
      const labels = [
        `Needed again ${plural(marks.length, "time")}.`,
        `Cache rebuilt ${plural(rebuilds.length, "time")}.`,
      ];
      setAttributes(node, { "aria-label": [...labels, ...own.map(({ sentence }) => sentence)].join(" ") });
      // The marks of the last steps are not clipped.
      const x = (step: number) => Math.min(((step + 0.5) * width) / scene.overview.steps, width - 5);
      paint(node, width, height, palette.ratio, context => {
        context.font = `${12 * palette.scale}px ${palette.font}`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillStyle = palette.dim;
        for (const step of thin(rebuilds, x)) context.fillText("$", x(step), LINE + 16);
        const red = new Set(own.map(({ step }) => step));
        for (const step of thin(marks, x)) if (!red.has(step)) context.fillText("↺", x(step), LINE);
        context.fillStyle = palette.bad;
        for (const step of thin(own, x)) context.fillText("↺", x(step), LINE);
      });
    },
  };
};

/** The mark nearest to a step, within a distance in steps. */
export const nearest = <T extends { step: number }>(all: readonly T[], step: number, within: number) =>
  all
    .filter(mark => mark.step >= 0 && Math.abs(mark.step - step) <= within)
    .sort((a, b) => Math.abs(a.step - step) - Math.abs(b.step - step))[0];

/** What was paid for again nearest to a step: something lost, and what the cache had held. */
export const paidNear = ({ tracing: { regret } }: Pick<ViewState, "tracing">, step: number, within: number) =>
  [regret?.marks, regret?.rebuilds].flatMap(all => nearest(all ?? [], step, within)?.sentence ?? []);

/** Steps whose signs do not cover one another. */
const thin = (items: readonly { step: number }[], x: (step: number) => number): number[] => {
  const steps: number[] = [];
  for (const step of items.map(item => item.step).sort((a, b) => a - b)) {
    const last = steps.at(-1);
    if (step >= 0 && (last === undefined || x(step) - x(last) >= APART)) steps.push(step);
  }
  return steps;
};
