// The other handle: the beginning of what is compacted. It rests at the left edge, where everything before the cut is.

import { placeAt } from "../../model/axis";
import { nearestStart, nextStart, turnOfPlace } from "../../model/cuts";
import { isUncut } from "../../model/plan";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";
import { followPointer } from "../../ui/follow-pointer";
import { claim, isModified, MOVES } from "../../ui/keys";

export const makeStartHandle = (actions: Actions): View => {
  const words = h("span");
  const grip = h(
    "div",
    {
      ...{ class: "ci-start-grip", role: "slider", tabindex: 0, "data-testid": "start-handle" },
      ...{ "aria-label": "Beginning of what is compacted", "aria-orientation": "horizontal" },
      title: "Drag right to keep what is before it",
    },
    h("i", { class: "ci-dotted", "aria-hidden": "true" }),
    words,
  );
  const line = h("div", { class: "ci-start-line", "aria-hidden": "true" });
  const node = h("div", { class: "ci-start" }, line, grip);
  let shown: ViewState | undefined;

  followPointer(grip, event => {
    if (shown === undefined || shown.needsKernel !== "") return;
    event.preventDefault();
    grip.focus({ preventScroll: true });
    const offset = event.clientX - (shown.axis.placeX[shown.cuts.since] as number);
    actions.takeCut();
    return {
      move({ clientX }) {
        if (shown === undefined) return;
        const { scene, axis } = shown;
        const x = Math.max(0, Math.min(axis.width, clientX - offset));
        const place = placeAt(axis, x);
        actions.slideStart(nearestStart(scene, place, endOf(shown), axis.placeX), true);
      },
      end: actions.dropCut,
    };
  });

  listen(grip, "keydown", event => {
    if (shown === undefined || shown.needsKernel !== "" || isModified(event)) return;
    const next = TARGETS[MOVES[event.key] ?? event.key]?.(shown);
    if (next === undefined) return;
    claim(event);
    // To put it away is a change of its own, for undo.
    if (event.key === "Delete" || event.key === "Backspace") actions.compactRange(next, endOf(shown));
    else actions.slideStart(next, false);
  });

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      const { scene, axis, needsKernel, lesson, dragging } = viewState;
      const { since } = viewState.cuts;
      const x = axis.placeX[since] ?? -1;
      const guessed = lesson.guess !== null;
      const hidden = scene.entries === 0 || guessed || (needsKernel !== "" && since === 0);
      setShown(node, !hidden && x >= -0.5 && x <= axis.width + 0.5);
      if (hidden) return;
      node.classList.toggle("ci-rests", since === 0);
      node.classList.toggle("ci-still", dragging || hasAny(parts, "size", "scene", "range"));
      node.style.transform = `translateX(${Math.max(0, x)}px)`;
      // Its words keep clear of the pill, if there is room.
      const end = endOf(viewState);
      const clear = end < scene.entries ? PILL - ((axis.placeX[end] as number) - x) : 0;
      const shift = since === 0 ? 0 : Math.max(0, Math.min(clear, x - WORDS));
      grip.style.transform = `translateX(${-Math.round(shift)}px)`;
      const turn = turnOfPlace(scene, since) + 1;
      setText(words, since === 0 ? "" : `from turn ${turn}`);
      setAttributes(grip, {
        "aria-disabled": needsKernel !== "",
        "aria-valuemin": 0,
        "aria-valuemax": Math.max(0, end - 1),
        "aria-valuenow": since,
        "aria-valuetext": since === 0 ? "everything before the cut" : `from turn ${turn} on`,
      });
    },
  };
};

/** Half of a pill and its words, at most. */
const PILL = 124;
const WORDS = 110;

/** What is compacted begins before the cut, or before the end without one. */
const endOf = ({ scene, plan, place }: ViewState): number => (isUncut(plan, place) ? scene.entries : place);

const step = (way: 1 | -1) => (viewState: ViewState) =>
  nextStart(viewState.scene, viewState.cuts.since, way, endOf(viewState));

const turn = (way: 1 | -1) => (viewState: ViewState) => {
  const { scene } = viewState;
  const { since } = viewState.cuts;
  for (let at = since; ; ) {
    const next = nextStart(scene, at, way, endOf(viewState));
    if (
      next === at ||
      (turnOfPlace(scene, next) !== turnOfPlace(scene, since) && scene.placeSplits[next] === 0)
    )
      return next;
    at = next;
  }
};

const TARGETS: Partial<Record<string, (viewState: ViewState) => number>> = {
  later: step(1),
  earlier: step(-1),
  laterTurn: turn(1),
  earlierTurn: turn(-1),
  first: () => 0,
  Delete: () => 0,
  Backspace: () => 0,
};
