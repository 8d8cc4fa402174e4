// Outcomes of the context on the axis of the lanes: a strip with a pattern for each outcome, and labels in it.

import { binOfPlace } from "../../model/axis";
import {
  type FateSums,
  findMostFates,
  findSplit,
  type MostFates,
  runFates,
  sayTotal,
  sumFates,
  totalOf,
} from "../../model/becomes";
import { hasAny, type View, type ViewState } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h, listen, setAttributes } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";
import { placeOf } from "./cut-pill";

const STRIP = 16;
const TYPE = 12;

/** A part of the strip: its fate, and from where to where. */
interface Part {
  fate: number;
  left: number;
  right: number;
  /** In words and in few; empty where another part of the fate has them. */
  words: readonly [string, string] | null;
  /** The beginning of a turn that the cut splits, which a second call summarises. */
  isSecond?: boolean;
}

export const makeBecomes = (): View => {
  const canvas = h("canvas", { class: "ci-canvas", role: "img", "data-testid": "becomes" });
  // Words on a canvas of the page ask for the page's style at once; on one outside they do not.
  const back = h("canvas");
  const stage = h(
    "div",
    {
      ...{ class: "ci-stage", style: `height: ${STRIP}px` },
      onpointerleave: event => showHint(event, null),
    },
    canvas,
  );
  const node = h(
    "div",
    { class: "ci-lined ci-becomes" },
    h("div", { class: "ci-label" }, h("span", {}, "outcome")),
    stage,
  );
  let fates: MostFates = { older: new Int8Array(), kept: new Int8Array() };
  let sums: FateSums = { older: new Map(), kept: new Map() };
  let parts: Part[] = [];
  let shown: ViewState | undefined;
  let drawn: { plan?: object; place: number } = { place: -1 };

  listen(stage, "pointermove", event => {
    if (shown === undefined || shown.dragging) return showHint(event, null);
    const x = event.clientX - stage.getBoundingClientRect().left;
    const part = parts.find(({ left, right }) => left <= x && x < right);
    const words = part?.isSecond ? part.words : part && sayOf(shown, sums, part.fate);
    showHint(event, words ? [words[0]] : null);
  });

  return {
    node,
    draw(viewState, news) {
      shown = viewState;
      const { scene, plan, place, axis, palette } = viewState;
      const decided = hasAny(news, "scene", "fates");
      const renewed = decided || hasAny(news, "size", "range", "theme");
      if (decided) sums = sumFates(scene, plan);
      if (renewed) fates = findMostFates(scene, plan, axis, viewState.pins);
      else if (drawn.place === place && drawn.plan === plan) return;
      drawn = { plan, place };
      parts = findParts(viewState, fates, sums);
      drawStrip(back, viewState, parts, axis.placeX[placeOf(viewState)] as number);
      paint(canvas, axis.width, STRIP, palette.ratio, context => {
        if (back.width > 0) context.drawImage(back, 0, 0, axis.width, STRIP);
      });
      setAttributes(canvas, { "aria-label": sayStrip(parts) });
    },
  };
};

const sayOf = ({ scene, plan, place }: ViewState, sums: FateSums, fate: number): [string, string] => {
  const fateInfo = scene.fates[fate];
  if (fateInfo === undefined) return ["", ""];
  const calls = findSplit(scene, plan, place) < 0 ? 1 : 2;
  return sayTotal(fateInfo, totalOf(scene, sums, fate, place), plan.summaryTokens[place] ?? 0, calls);
};

/** Parts from left to right; of each fate the widest has the words. */
const findParts = (viewState: ViewState, fates: MostFates, sums: FateSums): Part[] => {
  const { scene, axis, palette, place } = viewState;
  const cut = binOfPlace(scene, axis, place);
  const edge = (bin: number) => snap(axis.binX[bin] as number, palette.ratio);
  const parts: Part[] = [];
  const add = (fate: number, left: number, right: number) => {
    if (fate < 0 || right <= left) return;
    const last = parts.at(-1);
    if (last?.fate === fate) last.right = right;
    else parts.push({ fate, left, right, words: null });
  };
  const x = axis.placeX[place] as number;
  for (const [fate, first, end] of runFates(fates, cut)) {
    // The bin that the cut splits is old on its left.
    const split = first === cut && x > edge(cut) ? x : edge(first);
    if (split > edge(first)) add(fates.older[cut] as number, edge(first), split);
    add(fate, split, edge(end));
  }
  const widest = new Map<number, Part>();
  for (const part of parts) {
    const best = widest.get(part.fate);
    if (best === undefined || part.right - part.left > best.right - best.left) widest.set(part.fate, part);
  }
  for (const part of widest.values()) part.words = sayOf(viewState, sums, part.fate);
  return divide(viewState, parts);
};

/** Parts what a second call summarises from what the first does. */
const divide = ({ scene, plan, axis, place, palette }: ViewState, parts: Part[]): Part[] => {
  const split = findSplit(scene, plan, place);
  if (split < 0) return parts;
  const x = snap(axis.placeX[split] as number, palette.ratio);
  const turn = (scene.entryTurn[split] ?? 0) + 1;
  return parts.flatMap(part => {
    if (scene.fates[part.fate]?.id !== "summarised" || x <= part.left + 1 || part.right <= x) return [part];
    const words = [`call 2: turn ${turn} up to the cut`, "call 2"] as const;
    return [
      { ...part, right: x - 1 },
      { ...part, left: x + 1, words, isSecond: true },
    ];
  });
};

const sayStrip = (parts: readonly Part[]): string =>
  `Outcome: ${parts.flatMap(({ words }) => (words === null ? [] : [words[0]])).join("; ") || "nothing"}`;

/** The room for words between two edges: on the wider side of the handle's line, if that crosses. */
export const findRoom = (left: number, right: number, line: number): readonly [from: number, to: number] => {
  if (line <= left || right <= line) return [left, right];
  return 2 * line > left + right ? [left, line] : [line, right];
};

const drawStrip = (
  canvas: HTMLCanvasElement,
  { scene, axis, palette }: ViewState,
  parts: readonly Part[],
  line: number,
) => {
  const summary = scene.sections.findIndex(({ id }) => id === "compacted");
  paint(canvas, axis.width, STRIP, palette.ratio, context => {
    context.font = `${TYPE * palette.scale}px ${palette.font}`;
    context.textBaseline = "middle";
    for (const { fate, left, right, words } of parts) {
      const id = scene.fates[fate]?.id ?? "";
      const solid = id === "verbatim";
      if (id === "dropped" && right - left > 2) {
        context.strokeStyle = palette.gone;
        context.lineWidth = 1;
        context.strokeRect(left + 0.5, 0.5, right - left - 1, STRIP - 1);
      } else {
        context.fillStyle = id === "summarised" ? palette.fill(summary, id) : palette.fate(id);
        context.fillRect(left, 0, right - left, STRIP);
      }
      const [from, to] = findRoom(left, right, line);
      // A narrower part has its words only under the pointer.
      const label = words?.find(candidate => context.measureText(candidate).width + 12 <= to - from);
      if (label === undefined) continue;
      const room = context.measureText(label).width + 12;
      const at = (from + to - room) / 2;
      if (!solid) {
        context.fillStyle = palette.ground;
        context.fillRect(at, 1, room, STRIP - 2);
      }
      context.fillStyle = solid ? palette.ground : palette.text;
      context.fillText(label, at + 6, STRIP / 2 + 0.5);
    }
  });
};
