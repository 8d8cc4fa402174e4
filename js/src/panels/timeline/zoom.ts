// The buttons and the wheel that change how many steps are in sight.

import type { Range } from "../../model/axis";
import { plural } from "../../model/format";
import { pan, sayRange, showsAll, zoomAround } from "../../model/range";
import type { Actions, View, ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";

const NOTCH = 0.002;
const LINES = 16;

export interface Zoom extends View {
  /** Handles the wheel over the lanes and everything above them. */
  listen(turns: HTMLElement): void;
}

export const makeZoom = (actions: Actions): Zoom => {
  const button = (words: string, name: string, onclick: () => void) =>
    h("button", { "aria-label": name, title: name, onclick }, words);
  let shown: ViewState | undefined;
  const show = (range: Range) => actions.brush(...range);
  const by = (factor: number) => {
    if (shown !== undefined) show(zoomAround(shown.range, shown.scene.steps, middle(shown), factor));
  };
  const less = button("−", "Zoom out", () => by(2));
  const more = button("+", "Zoom in", () => by(0.5));
  const all = button("all", "Show all steps", () => actions.brush(0, Number.POSITIVE_INFINITY));
  const rangeText = h("span");
  const whole = h("div", { class: "ci-seen" }, rangeText, all);
  const node = h("div", { class: "ci-zoom", role: "group", "aria-label": "Zoom" }, less, more, whole);

  return {
    node,
    listen(turns) {
      const stepAt = (event: MouseEvent, { axis }: ViewState) => {
        const x = event.clientX - node.getBoundingClientRect().left - node.offsetWidth;
        return x < 0 ? -1 : axis.first + x / Math.max(axis.step, 1e-9);
      };
      listen(turns, "pointermove", event => {
        if (shown !== undefined && event.buttons === 0) shown.pointer = stepAt(event, shown);
      });
      listen(turns, "pointerleave", () => {
        if (shown !== undefined) shown.pointer = -1;
      });
      listen(
        turns,
        "wheel",
        event => {
          if (shown === undefined || shown.scene.steps === 0) return;
          const { range, scene, axis } = shown;
          const unit = event.deltaMode === 0 ? 1 : LINES;
          const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
          if (event.ctrlKey || event.metaKey || (!sideways && !canScroll(turns))) {
            const at = Math.max(axis.first, stepAt(event, shown));
            const turn = Math.max(-400, Math.min(400, event.deltaY * unit));
            show(zoomAround(range, scene.steps, at, Math.exp(turn * NOTCH * 2)));
          } else if (sideways && !showsAll(range, scene.steps)) {
            const steps = (event.deltaX * unit) / Math.max(axis.step, 1e-9);
            show(pan(range, scene.steps, Math.sign(steps) * Math.max(1, Math.abs(steps))));
          } else return;
          event.preventDefault();
        },
        { passive: false },
      );
    },
    draw(viewState, parts) {
      shown = viewState;
      if (!parts.has("scene") && !parts.has("range") && !parts.has("size")) return;
      const { scene, range, axis } = viewState;
      const everything = showsAll(range, scene.steps);
      setText(rangeText, plural(range[1] - range[0], "step"));
      setAttributes(node, { title: sayRange(scene, range), "data-level": axis.level });
      // A button that hides under the focus passes it on.
      if (everything && whole.contains(document.activeElement)) more.focus({ preventScroll: true });
      setShown(whole, !everything);
      setAttributes(less, { "aria-disabled": everything ? "true" : undefined });
      setAttributes(more, { "aria-disabled": range[1] - range[0] <= 2 ? "true" : undefined });
    },
  };
};

const SCROLLS = new Set(["auto", "scroll"]);

/** Whether something around an element scrolls by the wheel. */
const canScroll = (node: Element): boolean => {
  for (
    let at: Element | undefined = node;
    at;
    at = at.parentElement ?? (at.getRootNode() as ShadowRoot).host
  ) {
    const scrolls = at === document.documentElement || SCROLLS.has(getComputedStyle(at).overflowY);
    if (scrolls && at.scrollHeight > at.clientHeight + 1) return true;
  }
  return false;
};

/**
 * The centre of a zoom by button or key: the pointer if it is over the lanes, else the selection, else the cut if it is
 * visible, else the middle.
 */
export const middle = ({ axis, place, pointer, selection, range: [first, end] }: ViewState): number => {
  if (pointer >= first && pointer <= end) return pointer;
  if (selection !== null) return (selection[0] + selection[1]) / 2;
  const x = axis.placeX[place] as number;
  return x >= 0 && x <= axis.width && axis.step > 0 ? first + x / axis.step : (first + end) / 2;
};
