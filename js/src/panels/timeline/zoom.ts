// The buttons and the wheel that change how many steps are in sight.

import type { Range } from "../../model/axis";
import { plural } from "../../model/format";
import { pan, sayRange, showsAll, zoomAround } from "../../model/range";
import type { Actions, Picture, View } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";

const NOTCH = 0.002;
const LINES = 16;

export interface Zoom extends View {
  /** Hears the wheel over the lanes and all that stands over them. */
  listen(turns: HTMLElement): void;
}

export const makeZoom = (actions: Actions): Zoom => {
  const button = (words: string, name: string, act: () => void) => {
    const made = h("button", { "aria-label": name, title: name }, words);
    listen(made, "click", act);
    return made;
  };
  let shown: Picture | undefined;
  const show = (range: Range) => actions.brush(...range);
  const by = (factor: number) => {
    if (shown !== undefined) show(zoomAround(shown.range, shown.scene.steps, middle(shown), factor));
  };
  const less = button("−", "Zoom out", () => by(2));
  const more = button("+", "Zoom in", () => by(0.5));
  const all = button("all", "Show all steps", () => actions.brush(0, Number.POSITIVE_INFINITY));
  const seen = h("span");
  const whole = h("div", { class: "ci-seen" }, seen, all);
  const node = h("div", { class: "ci-zoom", role: "group", "aria-label": "Zoom" }, less, more, whole);

  return {
    node,
    listen(turns) {
      listen(
        turns,
        "wheel",
        event => {
          if (shown === undefined || shown.scene.steps === 0) return;
          const { range, scene, axis } = shown;
          const unit = event.deltaMode === 0 ? 1 : LINES;
          if (event.ctrlKey || event.metaKey) {
            const x = event.clientX - node.getBoundingClientRect().left - node.offsetWidth;
            const at = axis.first + Math.max(0, x) / Math.max(axis.step, 1e-9);
            const turn = Math.max(-400, Math.min(400, event.deltaY * unit));
            show(zoomAround(range, scene.steps, at, Math.exp(turn * NOTCH * 2)));
          } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !showsAll(range, scene.steps)) {
            const steps = (event.deltaX * unit) / Math.max(axis.step, 1e-9);
            show(pan(range, scene.steps, Math.sign(steps) * Math.max(1, Math.abs(steps))));
          } else return;
          event.preventDefault();
        },
        { passive: false },
      );
    },
    draw(picture, parts) {
      shown = picture;
      if (!parts.has("scene") && !parts.has("range") && !parts.has("size")) return;
      const { scene, range, axis } = picture;
      const everything = showsAll(range, scene.steps);
      setText(seen, plural(range[1] - range[0], "step"));
      setAttributes(node, { title: sayRange(scene, range), "data-level": axis.level });
      // A button that hides under the focus passes it on.
      if (everything && whole.contains(document.activeElement)) more.focus({ preventScroll: true });
      setShown(whole, !everything);
      setAttributes(less, { "aria-disabled": everything ? "true" : undefined });
      setAttributes(more, { "aria-disabled": range[1] - range[0] <= 2 ? "true" : undefined });
    },
  };
};

/** What a button or a key zooms around: the cut while it is in sight, else the middle. */
export const middle = ({ axis, place, range: [first, end] }: Picture): number => {
  const x = axis.placeX[place] as number;
  return x >= 0 && x <= axis.width && axis.step > 0 ? first + x / axis.step : (first + end) / 2;
};
