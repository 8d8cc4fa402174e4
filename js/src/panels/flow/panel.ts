// Where the tokens go: before by fate above, what stands of it below, and between them what shrank to what.

import { exact, short } from "../../model/format";
import { type Plan, type Scene, summaryAt } from "../../model/plan";
import type { Part, Picture, View } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { chip, h, setAttributes, setShown, setText } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";
import { addsUp, type Flow, flowAt } from "./flow";

const STRIP = 10;
const GAP = 17;
const HEIGHT = 2 * STRIP + GAP;
/** What may change the width of the strips. */
const WIDTHS: readonly Part[] = ["scene", "other", "size", "theme", "mode"];
const NEWS: readonly Part[] = ["scene", "plan", "place", "other", "size", "theme", "mode", "lesson"];

export const makeFlow = (): View => {
  const [mine, theirs] = [makeBand("flow-a"), makeBand("flow-b")];
  const note = h("p", { class: "ci-quiet" });
  const node = h(
    "section",
    { class: "ci-panel ci-flow", "data-testid": "flow", "aria-label": "Flow" },
    h("h3", {}, "Flow"),
    mine.node,
    theirs.node,
    note,
  );
  return {
    node,
    draw(picture, parts) {
      if (!NEWS.some(part => parts.has(part))) return;
      const { plan, place, other, lesson } = picture;
      const half = lesson.play !== null && plan.flows === null;
      setShown(node, half || plan.flows !== null);
      const measures = WIDTHS.some(part => parts.has(part));
      const capacity = Math.max(plan.before.total, ...[flowAt(plan, place)?.after ?? 0], 1);
      setText(note, half ? "Told of the whole policy only, when the lesson is over." : "");
      setShown(note, half);
      mine.draw(other === null ? "" : "plan A", picture, plan, place, capacity, measures);
      theirs.draw("plan B", picture, other, other?.cut.place ?? 0, capacity, measures);
    },
  };
};

/** A piece of either strip: the patterns are those of the fates, whatever the section. */
interface Piece {
  name: string;
  /** The pattern. */
  look: string;
  before: number;
  after: number;
}

const makeBand = (id: string) => {
  const label = h("span");
  const canvas = h("canvas", { class: "ci-canvas", role: "img" });
  const stage = h("div", { class: "ci-stage", style: `height: ${HEIGHT}px` }, canvas);
  const key = h("p", { class: "ci-parts", "data-testid": `${id}-parts` });
  const node = h(
    "div",
    { class: "ci-lined ci-flowing", "data-testid": id },
    h("div", { class: "ci-label" }, label),
    h("div", {}, stage, key),
  );
  let shown: { pieces: Piece[]; scale: number } | undefined;
  let width = 0;
  let form = "";
  stage.addEventListener("pointermove", event => hint(event, shown));
  stage.addEventListener("pointerleave", event => showHint(event, null));
  return {
    node,
    draw(
      name: string,
      picture: Picture,
      plan: Plan | null,
      place: number,
      capacity: number,
      measures: boolean,
    ) {
      const flow = plan && flowAt(plan, place);
      setShown(node, flow !== null);
      if (flow === null || plan === null) return;
      const pieces = piecesOf(picture.scene, flow, summaryAt(plan, place).name);
      // To measure on every frame of a drag would cost a layout each.
      if (measures || width === 0) width = stage.clientWidth;
      setText(label, name);
      shown = { pieces, scale: width / Math.max(capacity, flow.after) };
      drawBand(canvas, picture, pieces, width, shown.scale);
      const told = tellParts(flow, pieces);
      // Mostly only figures change from one place to the next.
      const now = JSON.stringify(told.map(({ name, look }) => [name, look]));
      if (now !== form) key.replaceChildren(...told.map(drawPart));
      form = now;
      told.forEach(({ words, title }, i) => {
        const part = key.children[i] as HTMLElement;
        setText(part.lastElementChild as HTMLElement, words);
        setAttributes(part, { title });
      });
      node.classList.toggle("ci-wrong", !addsUp(flow));
      const said = [...key.children].map(part => part.textContent).join(", ");
      setAttributes(canvas, { "aria-label": said });
    },
  };
};

/** What stands first, then what is gone, then what is new: so both strips begin alike. */
const piecesOf = (scene: Scene, flow: Flow, written: string): Piece[] => {
  const fixed = (name: string, look: string, tokens: number) => ({
    name,
    look,
    before: tokens,
    after: tokens,
  });
  const parts = flow.parts.map(({ fate, before, after }) => {
    const { id, label } = scene.fates[fate] ?? { id: "", label: "" };
    return { name: label, look: id, before, after };
  });
  return [
    fixed("head", "head", flow.head),
    fixed("unexplained", "unexplained", flow.hidden),
    ...parts.filter(({ after }) => after > 0),
    ...parts.filter(({ after }) => after === 0),
    { name: written, look: "summarised", before: 0, after: flow.summary },
    { name: flow.name, look: "verbatim", before: 0, after: flow.more },
  ].filter(({ before, after }) => before > 0 || after > 0);
};

const drawBand = (
  canvas: HTMLCanvasElement,
  { palette }: Picture,
  pieces: Piece[],
  width: number,
  scale: number,
) =>
  paint(canvas, width, HEIGHT, palette.ratio, context => {
    const fill = (look: string, x: number, end: number, y: number) => {
      const [left, right] = [snap(x * scale, palette.ratio), snap(end * scale, palette.ratio)];
      if (right <= left) return;
      context.fillStyle = palette.ground;
      context.fillRect(left, y, right - left, STRIP);
      if (look === "dropped") {
        context.strokeStyle = palette.faint;
        context.lineWidth = 1;
        if (right - left > 2) context.strokeRect(left + 0.5, y + 0.5, right - left - 1, STRIP - 1);
        return;
      }
      context.fillStyle = look === "head" ? palette.faint : palette.fate(look);
      if (look === "truncated") {
        context.fillRect(left, y, right - left, 1);
        context.fillRect(left, y + STRIP * 0.55, right - left, STRIP * 0.45);
      } else context.fillRect(left, y, right - left, STRIP);
      // A hair of ground between neighbours of one pattern.
      context.fillStyle = palette.ground;
      context.fillRect(right - 0.5, y, 0.5, STRIP);
    };
    const ribbon = (a: number, b: number, c: number, d: number) => {
      const [top, bottom, middle] = [STRIP + 1, STRIP + GAP - 1, STRIP + GAP / 2];
      context.beginPath();
      context.moveTo(a * scale, top);
      context.bezierCurveTo(a * scale, middle, c * scale, middle, c * scale, bottom);
      context.lineTo(d * scale, bottom);
      context.bezierCurveTo(d * scale, middle, b * scale, middle, b * scale, top);
      context.closePath();
      context.fillStyle = palette.area;
      context.fill();
    };
    let [above, below] = [0, 0];
    let gone: [number, number] | undefined;
    for (const { look, before, after } of pieces) {
      fill(look, above, above + before, 0);
      fill(look, below, below + after, STRIP + GAP);
      if (before > 0 && after > 0) ribbon(above, above + before, below, below + after);
      if (look === "summarised" && before > 0) gone = [above, above + before];
      if (look === "summarised" && before === 0 && gone !== undefined) ribbon(...gone, below, below + after);
      above += before;
      below += after;
    }
  });

interface Told {
  name: string;
  /** The pattern of its chip, "" for a sum, "bad" for what is missing. */
  look: string;
  words: string;
  title?: string;
}

/** "before 155.0k = head 14.2k + verbatim 20.1k + pointer 40.1k → 2.1k + …  after 41.7k". */
const tellParts = (flow: Flow, pieces: Piece[]): Told[] => [
  tell("before", flow.before),
  ...pieces.map(({ name, look, before, after }) => {
    const [was, is] = [short(before), short(after)];
    const words = before === after ? was : before === 0 ? `+${is}` : `${was} → ${is}`;
    const what = look === "head" ? "head, which is the system prompt, the tools and what was provided" : name;
    return { name, look, words, title: `${what}: ${exact(before)} → ${exact(after)} tokens` };
  }),
  tell("after", flow.after),
  ...(["before", "after"] as const)
    .filter(side => flow.missing[side] !== 0)
    .map(side => ({
      name: `the parts of “${side}” do not add up: off by`,
      look: "bad",
      words: exact(flow.missing[side]),
    })),
];

const tell = (name: string, tokens: number): Told => ({
  name,
  look: "",
  words: short(tokens),
  title: `${name}: ${exact(tokens)} tokens`,
});

/** Without its figures, which stand in the last child. */
const drawPart = ({ name, look }: Told): HTMLElement => {
  if (look === "bad") return h("span", { class: "ci-bad", role: "alert" }, `${name} `, h("span"));
  if (look === "") return h("span", {}, h("b", {}, name), " ", h("span"));
  const mark =
    look === "head" ? h("i", { class: "ci-chip ci-is-head", "aria-hidden": "true" }) : chip("ink", look);
  return h("span", {}, mark, `${name} `, h("span"));
};

const hint = (event: PointerEvent, shown: { pieces: Piece[]; scale: number } | undefined) => {
  if (shown === undefined) return;
  const side = event.offsetY < HEIGHT / 2 ? "before" : "after";
  const tokens = event.offsetX / shown.scale;
  let end = 0;
  for (const piece of shown.pieces) {
    end += piece[side];
    if (tokens < end)
      return showHint(event, [piece.name, `${exact(piece.before)} → ${exact(piece.after)} tokens`]);
  }
  showHint(event, null);
};
