// The selected range over the lanes: a frame with an edge to take hold of at either end, and a veil over the rest.

import { between, pressKey, resize, sayTurns } from "../../model/range";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown } from "../../ui/dom";
import { followPointer } from "../../ui/follow-pointer";
import { claim, isModified } from "../../ui/keys";

export const makeSelectionFrame = (actions: Actions): View => {
  const edges = (["first", "end"] as const).map(edge => {
    const control = h("i", { class: `ci-sel-edge ci-sel-${edge}`, "data-testid": `selection-${edge}` });
    followPointer(control, event => {
      claim(event);
      frame.focus({ preventScroll: true });
      return {
        move({ clientX }) {
          if (shown === undefined || shown.selection === null) return;
          const { axis, scene, selection } = shown;
          const x = clientX - node.getBoundingClientRect().left;
          const step = Math.round(axis.first + x / Math.max(axis.step, 1e-9));
          actions.selection.select(resize(selection, scene.steps, edge, step));
        },
      };
    });
    return control;
  });
  const frame = h(
    "div",
    {
      ...{ class: "ci-sel-frame", role: "slider", tabindex: 0, "data-testid": "selection" },
      ...{ "aria-label": "Selected range", "aria-orientation": "horizontal" },
    },
    ...edges,
  );
  const [left, right] = [h("i", { class: "ci-sel-veil" }), h("i", { class: "ci-sel-veil" })];
  const node = h("div", { class: "ci-sel", hidden: true }, left, frame, right);
  let shown: ViewState | undefined;

  listen(frame, "keydown", event => {
    if (shown?.selection == null || isModified(event)) return;
    const { key, shiftKey } = event;
    const next = pressKey(shown.selection, shown.scene.steps, key, shiftKey);
    if (key === "Enter") actions.selection.zoom();
    else if (next === undefined || key === "0" || key === "Escape") return;
    else actions.selection.select(next);
    claim(event);
  });

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      actions.selection.follow();
      if (!hasAny(parts, "scene", "size", "range", "selection")) return;
      const { selection, scene, axis } = viewState;
      const had = frame.contains(document.activeElement);
      setShown(node, selection !== null);
      const turns = node.closest(".ci-turns");
      if (turns !== null) setAttributes(turns, { "data-selected": selection !== null });
      if (selection === null) {
        // Return the focus to the lanes, in which the selection began.
        if (had) turns?.querySelector<HTMLElement>(".ci-grid")?.focus({ preventScroll: true });
        return;
      }
      const x = (step: number) => Math.max(0, Math.min(axis.width, (step - axis.first) * axis.step));
      const [from, to] = [x(selection[0]), x(selection[1])];
      left.style.width = `${from}px`;
      right.style.left = `${to}px`;
      frame.style.left = `${from}px`;
      frame.style.width = `${to - from}px`;
      setShown(frame, to > from);
      setAttributes(frame, {
        "aria-valuemin": 1,
        "aria-valuemax": Math.max(1, scene.steps),
        "aria-valuenow": selection[0] + 1,
        "aria-valuetext": `${sayTurns(scene, selection)}, steps ${selection[0] + 1} to ${selection[1]}`,
      });
    },
  };
};

/** Pixels that a click may move. */
const SLACK = 4;

/** Selects by a drag over the lanes; the result says afterwards whether the last press was only a click. */
export const selectByDrag = (
  actions: Actions,
  node: HTMLElement,
  stepOf: (clientX: number) => { step: number; steps: number } | null,
): (() => boolean) => {
  let moved = false;
  followPointer(node, ({ clientX }) => {
    const start = stepOf(clientX);
    moved = false;
    if (start === null) return;
    return {
      move(later) {
        const to = stepOf(later.clientX);
        moved ||= Math.abs(later.clientX - clientX) > SLACK;
        if (moved && to !== null) actions.selection.select(between(start.step, to.step, start.steps, 1));
      },
    };
  });
  return () => !moved;
};
