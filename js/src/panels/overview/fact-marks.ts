// Facts on the overview: ▾ where the open one was said, its fate at each ◆, and ↺ wherever something was needed again.
// The shape of a fate says whose word it is, as in the list: a square, a dot, a diamond.

import { nameTurns, plural } from "../../model/format";
import type { Scene } from "../../model/plan";
import type { FactFate, Tier } from "../../payloads/replies";
import type { Picture } from "../../store/view";
import { paint } from "../../ui/canvas/canvas";
import { h, setAttributes, setShown } from "../../ui/dom";
import { nameFate } from "../../ui/fate";

/** The lines on which things stand, and how near two signs of a kind may be. */
const [SAID, OUTCOME, AGAIN] = [22, 32, 64];
const [APART, WIDE] = [7, 13];
/** Below the sign of a compaction, from which a line leads to what became of the fact there. */
const DIAMOND_END = 13;
/** As the words beside them in the list. */
const DASHES: Record<Tier, number[]> = { recorded: [], planned: [4, 3], inferred: [1, 3] };

export const makeFactMarks = (height: number) => {
  const node = h("canvas", { class: "ci-canvas", role: "img", "data-testid": "fact-marks", hidden: true });
  node.style.pointerEvents = "none";
  return {
    node,
    draw(picture: Picture, width: number) {
      const { scene, palette, tracing, tab } = picture;
      const [story, marks] = [tracing.story, tracing.regret?.marks ?? []];
      const shown = tab === "facts" && picture.needsKernel === "" && (story !== null || marks.length > 0);
      setShown(node, shown);
      if (!shown) return;
      setAttributes(node, { "aria-label": sayMarks(picture) });
      const x = (step: number) => ((step + 0.5) * width) / scene.overview.steps;
      paint(node, width, height, palette.ratio, context => {
        context.font = `12px ${palette.font}`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillStyle = palette.dim;
        for (const step of thin(marks, x)) context.fillText("↺", x(step), AGAIN);
        if (story === null) return;
        // What stands over the curve keeps clear of it.
        context.strokeStyle = palette.ground;
        context.lineWidth = 3;
        context.fillStyle = palette.ink;
        for (const step of thin(story.said, x)) drawTriangle(context, x(step));
        context.fillStyle = palette.bad;
        for (const step of thin(story.regrets, x)) {
          context.strokeText("↺", x(step), SAID);
          context.fillText("↺", x(step), SAID);
        }
        const taken: number[] = [];
        story.chain.forEach(({ step, fate, tier, stood }, i) => {
          const isPlan = story.fate !== "" && i === story.chain.length - 1;
          const wanted = Math.min(width - 7, x(isPlan ? endOf(scene) : step));
          if ((fate === "lost" && !stood) || wanted < 0) return;
          // Where the plan would be carried out there often was a compaction: the two stand side by side.
          const at = taken.some(other => Math.abs(other - wanted) < WIDE) ? wanted - WIDE : wanted;
          taken.push(at);
          drawOutcome(context, at, fate, tier, picture);
        });
      });
    },
  };
};

/** What is nearest to a step, within so many steps. */
export const nearest = <T extends { step: number }>(all: readonly T[], step: number, within: number) =>
  all
    .filter(one => one.step >= 0 && Math.abs(one.step - step) <= within)
    .sort((a, b) => Math.abs(a.step - step) - Math.abs(b.step - step))[0];

/** The mark of something needed again that is nearest to a step. */
export const regretNear = ({ tracing, tab }: Picture, step: number, within: number) =>
  tab === "facts" ? nearest(tracing.regret?.marks ?? [], step, within) : undefined;

/** The last step of the stretch that is planned: there the plan would be carried out. */
const endOf = ({ segments, overview }: Scene): number =>
  segments.find(({ current }) => current)?.lastStep ?? overview.steps - 1;

/** Steps whose signs do not cover one another. */
const thin = (items: readonly { step: number }[], x: (step: number) => number): number[] => {
  const steps: number[] = [];
  for (const step of items.map(item => item.step).sort((a, b) => a - b)) {
    const last = steps.at(-1);
    if (step >= 0 && (last === undefined || x(step) - x(last) >= APART)) steps.push(step);
  }
  return steps;
};

const drawTriangle = (context: CanvasRenderingContext2D, x: number) => {
  context.beginPath();
  context.moveTo(x - 3, SAID - 2);
  context.lineTo(x + 3, SAID - 2);
  context.lineTo(x, SAID + 3);
  context.closePath();
  context.stroke();
  context.fill();
};

const drawOutcome = (
  context: CanvasRenderingContext2D,
  x: number,
  fate: FactFate,
  tier: Tier,
  { palette }: Picture,
) => {
  const hue = fate === "lost" ? palette.bad : palette.ink;
  context.strokeStyle = hue;
  context.lineWidth = 1;
  context.setLineDash(DASHES[tier]);
  context.beginPath();
  context.moveTo(x, DIAMOND_END);
  context.lineTo(x, OUTCOME - 5);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  if (tier === "recorded") context.rect(x - 4.5, OUTCOME - 4.5, 9, 9);
  else if (tier === "planned") context.arc(x, OUTCOME, 5, 0, 2 * Math.PI);
  else for (const [dx, dy] of DIAMOND) context.lineTo(x + dx, OUTCOME + dy);
  context.closePath();
  context.fillStyle = palette.ground;
  context.fill();
  if (fate !== "lost") {
    context.save();
    context.clip();
    context.fillStyle = palette.fate(PATTERNS[fate]);
    context.fillRect(x - 6, fate === "weakened" ? OUTCOME : OUTCOME - 6, 12, 12);
    context.restore();
  }
  context.lineWidth = 1.5;
  context.stroke();
};

const DIAMOND = [
  [0, -6],
  [6, 0],
  [0, 6],
  [-6, 0],
] as const;
const PATTERNS: Record<FactFate, string> = {
  verbatim: "verbatim",
  restated: "summarised",
  "pointed to": "pointer",
  weakened: "verbatim",
  lost: "",
};

const sayMarks = ({ tracing: { story, regret } }: Picture): string => {
  const again = regret?.marks ?? [];
  const parts =
    again.length === 0
      ? []
      : [`Something was needed again after a compaction ${plural(again.length, "time")}.`];
  const [first, last] = [story?.said[0], story?.said.at(-1)];
  if (story === null || first === undefined || last === undefined) return parts.join(" ");
  const fates = story.chain.map(
    ({ label, fate, tier, stood }) => `${label}: ${nameFate(fate, stood)}, ${tier}`,
  );
  const needed = story.regrets.map(({ sentence }) => sentence);
  const said = `${story.form} is said in ${nameTurns(first.turn, last.turn)}`;
  return [`${[said, ...fates].join("; ")}.`, ...needed, ...parts].join(" ");
};
