// The pill: the hand on the cut. It moves with the pointer and the keys, snaps to valid cut points and never waits for Python.

import { type Axis, placeAt } from "../../model/axis";
import {
  type Cuts,
  firstLegal,
  isLegal,
  lastLegal,
  nearestLegal,
  nextLegal,
  nextTurn,
  previousLegal,
  previousTurn,
  turnOfPlace,
  whyNot,
} from "../../model/cuts";
import { namePlace, plural, sayPlace, short } from "../../model/format";
import { isUncut, totalAfter } from "../../model/plan";
import { pan, reveal, showsAll } from "../../model/range";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";
import { isModified, MOVES, type Move } from "../../ui/keys";

/** `strip` spans the axis; a press on it moves the cut too. */
export const makeCutPill = (actions: Actions, strip: HTMLElement): View => {
  const words = h("span");
  const grip = h(
    "div",
    {
      class: "ci-grip",
      role: "slider",
      tabindex: 0,
      "aria-label": "Cut",
      "aria-orientation": "horizontal",
      "data-testid": "cut-handle",
    },
    h("i", { class: "ci-dotted", "aria-hidden": "true" }),
    words,
  );
  const step = (sign: string, name: string, next: (cuts: Cuts, place: number) => number) => {
    // The keys of the slider do the same.
    const button = h("button", { class: "ci-step", "aria-label": name, title: name, tabindex: -1 }, sign);
    listen(button, "click", () => {
      if (shown === undefined) return;
      const from = placeOf(shown);
      const target = next(shown.cuts, from);
      if (isLegal(shown.scene, target) && target !== shown.place) actions.slideCut(target, false);
      showCut(shown, target);
      grip.focus({ preventScroll: true });
    });
    return button;
  };
  const earlier = step("◂", "Earlier valid cut point", previousLegal);
  const later = step("▸", "Later valid cut point", nextLegal);
  const pill = h("div", { class: "ci-pill" }, earlier, grip, later);
  const ghost = h("div", { class: "ci-ghost", "aria-hidden": "true", hidden: true });
  const refusal = h("div", { class: "ci-refusal", "data-testid": "cut-refusal", hidden: true });
  const line = h("div", { class: "ci-cutline-over", "aria-hidden": "true" });
  const mover = h("div", { class: "ci-mover" }, line, pill);
  const node = h("div", { class: "ci-handle" }, ghost, mover, refusal);
  let shown: ViewState | undefined;
  let origin = 0;
  /** The distance from the cut to the pointer on the pill, which is shifted near the edges. */
  let offset = 0;
  let start = 0;
  let free = false;
  let hand = 0;
  let pointer = 0;
  let panning = 0;

  const follow = (event: PointerEvent) => {
    pointer = event.clientX - origin - offset;
    take();
    panning ||= requestAnimationFrame(panOn);
  };

  /** Near an edge with more content behind it, the range scrolls during a drag. */
  const panOn = () => {
    panning = 0;
    if (shown === undefined || !shown.dragging) return;
    const { scene, range, axis } = shown;
    const [left, right] = [pointer + Math.min(0, offset), pointer + Math.max(0, offset)];
    const over = left < EDGE ? -1 : right > axis.width - EDGE ? 1 : 0;
    const moved = over === 0 ? range : pan(range, scene.steps, over * Math.ceil((range[1] - range[0]) / 60));
    if (moved[0] === range[0]) return;
    actions.brush(...moved);
    take();
    panning = requestAnimationFrame(panOn);
  };

  const take = () => {
    if (shown === undefined) return;
    const { scene, axis, cuts, range } = shown;
    const x = showsAll(range, scene.steps) ? pointer : Math.max(0, Math.min(axis.width, pointer));
    const place = placeAt(axis, x);
    actions.sayWhy(isLegal(scene, place) ? -1 : place);
    const legal = nearestLegal(cuts, place, axis.placeX);
    if (legal >= 0) actions.slideCut(legal, true);
  };

  const begin = (event: PointerEvent) => {
    if (event.button !== 0 || shown === undefined) return;
    const place = placeOf(shown);
    if ((event.target as Element).closest(".ci-step") !== null) return;
    if (sideOf(shown.axis, place) !== 0) return showCut(shown, place);
    event.preventDefault();
    grip.focus({ preventScroll: true });
    grip.setPointerCapture(event.pointerId);
    origin = node.getBoundingClientRect().left;
    offset = event.clientX - origin - (shown.axis.placeX[place] as number);
    start = shown.place;
    free = shown.plan.cut.by !== "you";
    hand = event.pointerId;
    actions.takeCut();
    listen(grip, "pointermove", follow);
    listen(grip, "lostpointercapture", end, { once: true });
  };

  /** Moves the range so that it contains a place. */
  const showCut = ({ scene, range, place }: ViewState, at = place) => {
    const step = scene.entryStep[Math.min(at, scene.entries - 1)] ?? 0;
    const shownRange = reveal(range, scene.steps, step);
    if (shownRange !== range) actions.brush(...shownRange);
  };

  const letGo = () => {
    cancelAnimationFrame(panning);
    panning = 0;
    grip.removeEventListener("pointermove", follow);
    actions.sayWhy(-1);
  };

  const end = () => {
    letGo();
    actions.dropCut();
  };

  /** The hand may still be down, but what it does from here on is no drag. */
  const cancel = () => {
    grip.removeEventListener("lostpointercapture", end);
    grip.releasePointerCapture(hand);
    letGo();
    actions.cancelCut(start, free);
  };

  const onKey = (event: KeyboardEvent) => {
    if (shown === undefined || isModified(event)) return;
    const { scene, cuts, place, dragging } = shown;
    if (event.key === "Escape" && dragging) {
      cancel();
      return;
    }
    const move = MOVES[event.key];
    const target = move && TARGETS[move](shown);
    if (target === undefined) return;
    event.preventDefault();
    actions.sayWhy(-1);
    if (target !== place && isLegal(scene, target) && target <= cuts.end) actions.slideCut(target, false);
    showCut(shown, target);
  };

  listen(pill, "pointerdown", begin);
  listen(grip, "keydown", onKey);
  listen(grip, "blur", () => actions.sayWhy(-1));

  listen(strip, "pointermove", event => {
    if (shown === undefined || shown.dragging) return;
    const place = placeAt(shown.axis, event.clientX - strip.getBoundingClientRect().left);
    actions.sayWhy(isLegal(shown.scene, place) ? -1 : place);
  });
  listen(strip, "pointerleave", () => shown?.dragging || actions.sayWhy(-1));

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      const { scene, plan, axis, cuts, why, dragging } = viewState;
      const none = scene.entries === 0;
      setShown(node, !none);
      if (none) return;
      const place = placeOf(viewState);
      const side = sideOf(axis, place);
      const x = side === 0 ? (axis.placeX[place] as number) : side < 0 ? 0 : axis.width;
      mover.classList.toggle("ci-off", side !== 0);
      mover.classList.toggle("ci-nobody", isUncut(plan, viewState.place));
      mover.classList.toggle("ci-refused", why >= 0);
      if (parts.has("theme")) widths.delete(pill);
      mover.classList.toggle("ci-still", dragging || hasAny(parts, "size", "scene", "range"));
      mover.style.transform = `translateX(${x}px)`;
      setShown(ghost, why >= 0 && sideOf(axis, why) === 0);
      if (why >= 0) ghost.style.transform = `translateX(${axis.placeX[why]}px)`;
      setText(words, sayPill(viewState));
      earlier.classList.toggle("ci-none", side >= 0 && previousLegal(cuts, place) === place);
      later.classList.toggle("ci-none", side <= 0 && nextLegal(cuts, place) === place);
      keepInside(pill, x, axis.width, dragging);
      drawRefusal(refusal, viewState, x);
      setAttributes(grip, {
        "aria-valuemin": 0,
        "aria-valuemax": cuts.end,
        "aria-valuenow": viewState.place,
        "aria-valuetext": sayPlace(scene, plan, viewState.place),
      });
    },
  };
};

/** The position of the handle: at the cut, or its start position without a cut. */
export const placeOf = ({ plan, place }: ViewState): number => {
  const { rest = -1 } = plan.cut;
  return isUncut(plan, place) && rest >= 0 ? rest : place;
};

const sayPill = ({ scene, plan, place }: ViewState): string => {
  const after = totalAfter(plan, place);
  const lines = after < 0 ? [] : [`${short(after)} after`];
  if (isUncut(plan, place)) return ["no cut", ...lines].join(" · ");
  // A recorded cut is labelled as such.
  const where =
    plan.entry !== undefined && plan.label !== undefined && place === plan.cut.place
      ? `${plan.label} cut`
      : place >= scene.entries
        ? `end of turn ${turnOfPlace(scene, place) + 1}`
        : namePlace(scene, place);
  return [where, ...lines].join(" · ");
};

const sayWhy = ({ scene, cuts, axis, why }: ViewState): string => {
  const nearest = nearestLegal(cuts, why, axis.placeX);
  const where = `No cut in ${namePlace(scene, why)}, here: ${whyNot(scene, why)}`;
  if (nearest < 0) return `${where} No place here is valid.`;
  const distance = plural(Math.abs(nearest - why), "entry", "entries");
  return `${where} Nearest: ${distance} ${nearest < why ? "earlier" : "later"}.`;
};

/** The provider's words, on the side of the hand that has the room. */
const drawRefusal = (node: HTMLElement, viewState: ViewState, x: number) => {
  const { axis, why } = viewState;
  setShown(node, why >= 0);
  if (why < 0) return;
  setText(node, sayWhy(viewState));
  const left = x > axis.width / 2;
  const room = Math.max(120, (left ? x : axis.width - x) - PILL);
  node.style.cssText = left
    ? `right: ${axis.width - x + PILL}px; max-width: ${room}px`
    : `left: ${x + PILL}px; max-width: ${room}px`;
};

/** -1 for a place left of what the axis covers, 1 for right of it. */
const sideOf = ({ placeX, width }: Axis, place: number): number => {
  const x = placeX[place] as number;
  return x < -0.5 ? -1 : x > width + 0.5 ? 1 : 0;
};

const EDGE = 14;
/** Half of the pill, at most. */
const PILL = 124;

const TARGETS: Record<Move, (viewState: ViewState) => number> = {
  later: ({ cuts, place }) => nextLegal(cuts, place),
  earlier: ({ cuts, place }) => previousLegal(cuts, place),
  laterTurn: ({ scene, cuts, place }) => nextTurn(scene, cuts, place),
  earlierTurn: ({ scene, cuts, place }) => previousTurn(scene, cuts, place),
  first: ({ cuts, place }) => firstLegal(cuts, place),
  last: ({ cuts, place }) => lastLegal(cuts, place),
};

/** Widths of the pill by the length of its words: to measure it in a frame of a drag would cost a layout. */
const widths = new WeakMap<HTMLElement, Map<number, number>>();

const widthOf = (pill: HTMLElement, dragging: boolean): number => {
  const widthOfText = widths.get(pill) ?? new Map<number, number>();
  widths.set(pill, widthOfText);
  const length = pill.textContent?.length ?? 0;
  // A length that is new is as wide as its letters are elsewhere, near enough to stay inside.
  const [[letters, wide] = [0, 0]] = widthOfText;
  if (dragging && !widthOfText.has(length) && wide > 0) return (wide * length) / letters;
  const width = widthOfText.get(length) || pill.offsetWidth;
  widthOfText.set(length, width);
  return width;
};

const keepInside = (pill: HTMLElement, x: number, width: number, dragging: boolean) => {
  const half = widthOf(pill, dragging) / 2;
  const shift = Math.max(half - x, Math.min(0, width - x - half));
  pill.style.transform = `translateX(calc(-50% + ${Math.round(shift)}px))`;
};
