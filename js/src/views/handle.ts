// The hand on the cut. It moves with the pointer and the keys, snaps to legal places and never waits for Python.
import {
  firstLegal,
  isLegal,
  lastLegal,
  nearestLegal,
  nextLegal,
  nextTurn,
  previousLegal,
  previousTurn,
} from "../core/cuts";
import { namePlace, sayPlace, short } from "../core/format";
import { placeAt } from "../core/geometry";
import { isUncut, totalAfter } from "../core/state";
import { h, setAttributes, setShown, setText } from "./dom";
import type { Actions, Picture, View } from "./picture";

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

  const follow = (event: PointerEvent) => {
    if (shown === undefined) return;
    const { scene, axis, cuts } = shown;
    const place = placeAt(axis, event.clientX - origin);
    actions.sayWhy(isLegal(scene, place) ? -1 : place);
    const legal = nearestLegal(cuts, place, axis.placeX);
    if (legal >= 0) actions.slideCut(legal, true);
  };

  const begin = (event: PointerEvent) => {
    if (event.button !== 0 || shown === undefined) return;
    event.preventDefault();
    grip.focus({ preventScroll: true });
    grip.setPointerCapture(event.pointerId);
    origin = node.getBoundingClientRect().left;
    start = shown.place;
    grip.addEventListener("pointermove", follow);
    grip.addEventListener("lostpointercapture", end, { once: true });
  };

  const end = () => {
    grip.removeEventListener("pointermove", follow);
    actions.sayWhy(-1);
    actions.dropCut();
  };

  const onKey = (event: KeyboardEvent) => {
    if (shown === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const { scene, cuts, place, dragging } = shown;
    if (event.key === "Escape" && dragging) {
      actions.slideCut(start, true);
      return;
    }
    const target = KEYS[event.key]?.(shown);
    if (target === undefined) return;
    event.preventDefault();
    actions.sayWhy(-1);
    if (target !== place && isLegal(scene, target) && target <= cuts.end) actions.slideCut(target, false);
  };

  grip.addEventListener("pointerdown", begin);
  grip.addEventListener("keydown", onKey);
  grip.addEventListener("blur", () => actions.sayWhy(-1));

  strip.addEventListener("pointerdown", event => {
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
      const x = axis.placeX[place] as number;
      mover.classList.toggle("ci-still", dragging || parts.has("size") || parts.has("scene"));
      mover.style.transform = `translateX(${x}px)`;
      setShown(ghost, why >= 0);
      if (why >= 0) ghost.style.transform = `translateX(${axis.placeX[why]}px)`;
      const after = totalAfter(plan, place);
      const where = isUncut(plan, place) ? "no cut" : namePlace(scene, place);
      setText(pill, after < 0 ? where : `${where} · ${short(after)} after`);
      keepInside(pill, x, axis.width);
      setText(older, sayOlder(plan.summaryTokens[place] ?? 0, x));
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

const keepInside = (pill: HTMLElement, x: number, width: number) => {
  const half = pill.offsetWidth / 2;
  const shift = Math.max(half - x, Math.min(0, width - x - half));
  pill.style.transform = `translateX(calc(-50% + ${Math.round(shift)}px))`;
};

const SIDE = 52;
const LONG_SIDE = 140;

const sayOlder = (summary: number, room: number): string =>
  summary > 0 && room > LONG_SIDE ? `older, summary ${short(summary)} ◂` : "older ◂";

const keepSides = (sides: HTMLElement, x: number, width: number) => {
  sides.classList.toggle("ci-no-left", x < SIDE);
  sides.classList.toggle("ci-no-right", width - x < SIDE);
};
