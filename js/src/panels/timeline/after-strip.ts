// What each plan leaves, on the axis of the lanes: a strip of fates for plan A, one for plan B, and B's own cut as a line.

import { binOfPlace } from "../../model/axis";
import { findMostFates, type MostFates, runFates } from "../../model/bars";
import { namePlace, short } from "../../model/format";
import { isUncut, type Plan, summaryAt, totalAfter } from "../../model/plan";
import type { Picture, View } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h, setShown, setText } from "../../ui/dom";

const STRIP = 11;
/** Words stand in a run that has this much room for them. */
const ROOM = 10;

export interface After extends View {
  /** B's cut, over the lanes. */
  readonly line: HTMLElement;
}

export const makeAfter = (): After => {
  const mine = makeStrip("after-a");
  const theirs = makeStrip("after-b");
  const tag = h("span");
  const line = h("div", { class: "ci-cutb", "aria-hidden": "true", hidden: true }, tag);
  const node = h("div", { class: "ci-after" }, mine.node, theirs.node);
  return {
    node,
    line,
    draw(picture, parts) {
      const { plan, other, place, axis, scene } = picture;
      mine.draw(other === null ? "after" : "after A", picture, plan, place, parts);
      setShown(theirs.node, other !== null);
      if (other === null) return setShown(line, false);
      const name = other.label ?? other.policyTitle;
      theirs.draw("after B", picture, other, other.cut.place, parts);
      theirs.node.title = `B: ${name}`;
      const x = axis.placeX[other.cut.place] ?? -1;
      setShown(line, !isUncut(other, other.cut.place) && x >= 0 && x <= axis.width);
      line.style.transform = `translateX(${x}px)`;
      setText(tag, `B · ${name} · ${namePlace(scene, other.cut.place)}`);
      line.classList.toggle("ci-leftward", x > axis.width / 2);
    },
  };
};

const makeStrip = (id: string) => {
  const name = h("span");
  const total = h("small");
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  // Words on a canvas of the page ask for the page's style at once; on one outside they do not.
  const back = h("canvas");
  const stage = h("div", { class: "ci-stage", style: `height: ${STRIP}px` }, canvas);
  const node = h(
    "div",
    { class: "ci-lined", "data-testid": id },
    h("div", { class: "ci-label" }, name, total),
    stage,
  );
  let fates: MostFates | undefined;
  let drawn: { plan?: Plan; place: number } = { place: -1 };
  return {
    node,
    draw(label: string, picture: Picture, plan: Plan, place: number, parts: ReadonlySet<string>) {
      const after = totalAfter(plan, place);
      setText(name, label);
      setText(total, after < 0 ? "" : short(after));
      const renewed = ["scene", "fates", "other", "size", "range", "theme"].some(part => parts.has(part));
      if (renewed || fates === undefined) fates = findMostFates(picture.scene, plan, picture.axis);
      else if (drawn.place === place && drawn.plan === plan) return;
      drawn = { plan, place };
      drawStrip(back, picture, plan, place, fates);
      const { axis, palette } = picture;
      paint(canvas, axis.width, STRIP, palette.ratio, context => {
        if (back.width > 0) context.drawImage(back, 0, 0, axis.width, STRIP);
      });
    },
  };
};

const drawStrip = (
  canvas: HTMLCanvasElement,
  { scene, axis, palette }: Picture,
  plan: Plan,
  place: number,
  fates: MostFates,
) => {
  const cut = binOfPlace(scene, axis, place);
  const edge = (bin: number) => snap(axis.binX[bin] as number, palette.ratio);
  const summary = plan.summaryTokens[place] ?? 0;
  paint(canvas, axis.width, STRIP, palette.ratio, context => {
    const fill = (fate: number, left: number, right: number) => {
      const id = scene.fates[fate]?.id ?? "";
      if (fate < 0 || right <= left) return;
      context.fillStyle = palette.fate(id);
      if (id === "dropped" && right - left > 2) {
        context.strokeStyle = palette.gone;
        context.strokeRect(left + 0.5, 1.5, right - left - 1, STRIP - 3);
      } else context.fillRect(left, 1, right - left, STRIP - 2);
    };
    const runs = runFates(fates, cut);
    for (const [fate, first, end] of runs) fill(fate, edge(first), edge(end));
    // The bin that the cut splits is old on its left.
    const x = axis.placeX[place] as number;
    if (cut >= 0 && cut < axis.bins && x > edge(cut)) {
      context.clearRect(edge(cut), 0, x - edge(cut), STRIP);
      fill(fates.older[cut] as number, edge(cut), x);
    }
    context.font = `10px ${palette.font}`;
    context.textBaseline = "middle";
    /** False where there is no room for it. */
    const say = (words: string, left: number, right: number) => {
      if (words === "") return false;
      const room = context.measureText(words).width + 8;
      if (right - left < room + 2 * ROOM) return false;
      const at = (left + right - room) / 2;
      context.fillStyle = palette.ground;
      context.fillRect(at, 0, room, STRIP);
      context.fillStyle = palette.dim;
      context.fillText(words, at + 4, STRIP / 2 + 0.5);
      return true;
    };
    if (isUncut(plan, place)) return void say("no cut", 0, axis.width);
    const at = Math.max(0, Math.min(x, axis.width));
    const older = widest(runs.filter(([, first]) => first < cut));
    const tail = widest(runs.filter(([, first]) => first >= cut));
    const word = scene.fates[older?.[0] ?? -1]?.label ?? "";
    const last = scene.fates[tail?.[0] ?? -1]?.label ?? "";
    // Where a rule has not come yet, both sides of the cut are alike.
    if (summary === 0 && word === last) return void say(word, 0, axis.width);
    const { name, by } = summaryAt(plan, place);
    const words = `${name} ${short(summary)}`;
    if (summary > 0) (by !== "" && say(`${words} by ${by}`, 0, at)) || say(words, 0, at);
    else if (word !== "") say(word, 0, at);
    say(last, at, axis.width);
  });
};

const widest = (runs: readonly [number, number, number][]) =>
  runs.reduce<[number, number, number] | undefined>(
    (most, run) => (most === undefined || run[2] - run[1] > most[2] - most[1] ? run : most),
    undefined,
  );
