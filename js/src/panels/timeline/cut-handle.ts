// The hand on the cut. It moves with the pointer and the keys, snaps to legal places and never waits for Python.

import { type Axis, placeAt } from "../../model/axis";
import {
  firstLegal,
  isLegal,
  lastLegal,
  nearestLegal,
  nextLegal,
  nextTurn,
  previousLegal,
  previousTurn,
} from "../../model/cuts";
import { namePlace, sayPlace, short } from "../../model/format";
import { isUncut, type Plan, summaryAt, totalAfter } from "../../model/plan";
import { pan, reveal, showsAll } from "../../model/range";
import type { Actions, Picture, View } from "../../store/view";
import { h, setAttributes, setShown, setText } from "../../ui/dom";

/** `strip` spans the axis; a press on it moves the cut too. */
export const makeHandle = (actions: Actions, strip: HTMLElement): View => {
  const grip = h("div", {
    class: "ci-grip",
    role: "slider",
    tabindex: 0,
    "aria-label": "Cut",
    "aria-orientation": "horizontal",
    "data-testid": "cut-handle",
  });
  const pill = h("div", { class: "ci-pill", "aria-hidden": "true" });
  const ghost = h("div", { class: "ci-ghost", "aria-hidden": "true", hidden: true });
  const older = h("span");
  const sides = h("div", { class: "ci-sides", "aria-hidden": "true" }, older, h("span", {}, "▸ kept"));
  const mover = h("div", { class: "ci-mover" }, grip, pill, sides);
  const node = h("div", { class: "ci-handle" }, ghost, mover);
  let shown: Picture | undefined;
  let origin = 0;
  let start = 0;
  let free = false;
  let hand = 0;
  let pointer = 0;
  let panning = 0;

  const follow = (event: PointerEvent) => {
    pointer = event.clientX - origin;
    take();
    panning ||= requestAnimationFrame(panOn);
  };

  /** Near an edge behind which there is more, the range moves on under the hand. */
  const panOn = () => {
    panning = 0;
    if (shown === undefined || !shown.dragging) return;
    const { scene, range, axis } = shown;
    const over = pointer < EDGE ? -1 : pointer > axis.width - EDGE ? 1 : 0;
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
    event.preventDefault();
    grip.focus({ preventScroll: true });
    if (event.currentTarget === grip && sideOf(shown.axis, shown.place) !== 0) return showCut(shown);
    grip.setPointerCapture(event.pointerId);
    origin = node.getBoundingClientRect().left;
    start = shown.place;
    free = shown.plan.cut.by !== "you";
    hand = event.pointerId;
    actions.takeCut();
    grip.addEventListener("pointermove", follow);
    grip.addEventListener("lostpointercapture", end, { once: true });
  };

  /** Moves the range to where a place is. */
  const showCut = ({ scene, range, place }: Picture, at = place) => {
    const step = scene.entryStep[Math.min(at, scene.entries - 1)] ?? 0;
    const seen = reveal(range, scene.steps, step);
    if (seen !== range) actions.brush(...seen);
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
    if (shown === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const { scene, cuts, place, dragging } = shown;
    if (event.key === "Escape" && dragging) {
      cancel();
      return;
    }
    const target = KEYS[event.key]?.(shown);
    if (target === undefined) return;
    event.preventDefault();
    actions.sayWhy(-1);
    if (target !== place && isLegal(scene, target) && target <= cuts.end) actions.slideCut(target, false);
    showCut(shown, target);
  };

  pill.addEventListener("click", () => shown && showCut(shown));
  grip.addEventListener("pointerdown", begin);
  grip.addEventListener("keydown", onKey);
  grip.addEventListener("blur", () => actions.sayWhy(-1));

  strip.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    begin(event);
    follow(event);
  });
  strip.addEventListener("pointermove", event => {
    if (shown === undefined || shown.dragging) return;
    const place = placeAt(shown.axis, event.clientX - strip.getBoundingClientRect().left);
    actions.sayWhy(isLegal(shown.scene, place) ? -1 : place);
  });
  strip.addEventListener("pointerleave", () => shown?.dragging || actions.sayWhy(-1));

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      const { scene, plan, axis, cuts, place, why, dragging } = picture;
      const none = scene.entries === 0;
      setShown(node, !none);
      if (none) return;
      const side = sideOf(axis, place);
      const x = side === 0 ? (axis.placeX[place] as number) : side < 0 ? 0 : axis.width;
      mover.classList.toggle("ci-off", side !== 0);
      mover.classList.toggle(
        "ci-still",
        dragging || ["size", "scene", "range"].some(part => parts.has(part as "size")),
      );
      mover.style.transform = `translateX(${x}px)`;
      setShown(ghost, why >= 0 && sideOf(axis, why) === 0);
      if (why >= 0) ghost.style.transform = `translateX(${axis.placeX[why]}px)`;
      const after = totalAfter(plan, place);
      const where = isUncut(plan, place) ? "no cut" : namePlace(scene, place);
      const words = after < 0 ? where : `${where} · ${short(after)} after`;
      setText(pill, side < 0 ? `◂ ${words}` : side > 0 ? `${words} ▸` : words);
      keepInside(pill, x, axis.width, dragging);
      setText(older, sayOlder(plan, place, x));
      keepSides(sides, x, axis.width);
      setAttributes(grip, {
        "aria-valuemin": 0,
        "aria-valuemax": cuts.end,
        "aria-valuenow": place,
        "aria-valuetext": sayPlace(scene, plan, place),
      });
    },
  };
};

/** -1 for a place left of what the axis covers, 1 for right of it. */
const sideOf = ({ placeX, width }: Axis, place: number): number => {
  const x = placeX[place] as number;
  return x < -0.5 ? -1 : x > width + 0.5 ? 1 : 0;
};

const EDGE = 14;

const KEYS: Record<string, (picture: Picture) => number> = {
  ArrowRight: ({ cuts, place }) => nextLegal(cuts, place),
  ArrowUp: ({ cuts, place }) => nextLegal(cuts, place),
  ArrowLeft: ({ cuts, place }) => previousLegal(cuts, place),
  ArrowDown: ({ cuts, place }) => previousLegal(cuts, place),
  Home: ({ cuts, place }) => firstLegal(cuts, place),
  End: ({ cuts, place }) => lastLegal(cuts, place),
  PageDown: ({ scene, cuts, place }) => nextTurn(scene, cuts, place),
  PageUp: ({ scene, cuts, place }) => previousTurn(scene, cuts, place),
};

/** Widths of the pill by the length of its words: to measure it in a frame of a drag would cost a layout. */
const widths = new WeakMap<HTMLElement, Map<number, number>>();

const widthOf = (pill: HTMLElement, dragging: boolean): number => {
  const known = widths.get(pill) ?? new Map<number, number>();
  widths.set(pill, known);
  const length = pill.textContent?.length ?? 0;
  // A length that is new is as wide as its letters are elsewhere, near enough to stay inside.
  const [[letters, wide] = [0, 0]] = known;
  if (dragging && !known.has(length) && wide > 0) return (wide * length) / letters;
  const width = known.get(length) || pill.offsetWidth;
  known.set(length, width);
  return width;
};

const keepInside = (pill: HTMLElement, x: number, width: number, dragging: boolean) => {
  const half = widthOf(pill, dragging) / 2;
  const shift = Math.max(half - x, Math.min(0, width - x - half));
  pill.style.transform = `translateX(calc(-50% + ${Math.round(shift)}px))`;
};

const SIDE = 52;
const LONG_SIDE = 140;

const sayOlder = (plan: Plan, place: number, room: number): string => {
  const tokens = plan.summaryTokens[place] ?? 0;
  return tokens > 0 && room > LONG_SIDE
    ? `older, ${summaryAt(plan, place).name} ${short(tokens)} ◂`
    : "older ◂";
};

const keepSides = (sides: HTMLElement, x: number, width: number) => {
  sides.classList.toggle("ci-no-left", x < SIDE);
  sides.classList.toggle("ci-no-right", width - x < SIDE);
};
