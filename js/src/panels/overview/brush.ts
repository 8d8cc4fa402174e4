// The brush on the overview: the steps that the lanes show. The whole overview handles the pointer.
import type { Range } from "../../model/axis";
import {
  between,
  fromOverview,
  onOverview,
  pan,
  pressKey,
  resize,
  sayRange,
  showsAll,
} from "../../model/range";
import type { Actions, ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown } from "../../ui/dom";
import { followPointer } from "../../ui/follow-pointer";
import { claim, isModified } from "../../ui/keys";

const GRIP = 6;
const SLACK = 3;
/** A brush narrower than this has no room for grips. */
const THIN = 18;

type Zone = "first" | "end" | "move" | "draw" | "other";

/** `stage` is the overview; a press outside the current stretch is left to `choose`. */
export const makeBrush = (actions: Actions, stage: HTMLElement, choose: (overviewStep: number) => void) => {
  const node = h("div", {
    class: "ci-brush",
    role: "slider",
    tabindex: 0,
    "aria-label": "Steps in sight",
    "aria-orientation": "horizontal",
    "data-testid": "brush",
  });
  let shown: ViewState | undefined;

  const stepAt = (event: PointerEvent | MouseEvent, { scene }: ViewState): number => {
    const box = stage.getBoundingClientRect();
    return ((event.clientX - box.left) / Math.max(1, box.width)) * scene.overview.steps;
  };

  const zoneOf = (event: PointerEvent | MouseEvent, viewState: ViewState): Zone => {
    const { scene, range } = viewState;
    const at = stepAt(event, viewState);
    const [first, end] = onOverview(scene, range) ?? [-1, -1];
    const near = (GRIP * scene.overview.steps) / Math.max(1, stage.clientWidth);
    const { first: from, last } = scene.overview;
    const [whole] = onOverview(scene, [0, scene.steps]) ?? [from];
    if (end > 0 && end - first > 4 * near) {
      if (Math.abs(at - first) <= near) return "first";
      if (Math.abs(at - end) <= near) return "end";
    }
    if (first <= at && at <= end) return showsAll(range, scene.steps) ? "draw" : "move";
    return Math.min(from, whole) <= at && at <= last + 1 ? "draw" : "other";
  };

  followPointer(stage, event => {
    if (shown === undefined) return;
    const zone = zoneOf(event, shown);
    const viewState = shown;
    const start = stepAt(event, viewState);
    const { scene, range } = viewState;
    const origin = event.clientX;
    const from = fromOverview(scene, start);
    event.preventDefault();
    if (zone !== "other") node.focus({ preventScroll: true });
    let moved = false;
    const follow = (later: PointerEvent) => {
      moved ||= Math.abs(later.clientX - origin) > SLACK;
      if (!moved || zone === "other") return;
      const to = fromOverview(scene, stepAt(later, viewState));
      const next: Range =
        zone === "move"
          ? pan(range, scene.steps, to - from)
          : zone === "draw"
            ? between(from, to, scene.steps)
            : resize(range, scene.steps, zone, zone === "end" ? to + 1 : to);
      actions.brush(...next);
    };
    const end = () => {
      if (moved) return;
      if (zone === "other") choose(Math.floor(start));
      else if (zone === "draw" && !showsAll(range, scene.steps))
        actions.brush(...pan(range, scene.steps, from - (range[0] + range[1]) / 2));
    };
    return { move: follow, end };
  });
  listen(stage, "pointermove", event => {
    if (shown !== undefined && event.buttons === 0) stage.style.cursor = CURSORS[zoneOf(event, shown)];
  });
  listen(stage, "dblclick", event => {
    if (shown !== undefined && zoneOf(event, shown) !== "other") actions.brush(0, Number.POSITIVE_INFINITY);
  });
  listen(node, "keydown", event => {
    if (shown === undefined || isModified(event)) return;
    const next = pressKey(shown.range, shown.scene.steps, event.key, event.shiftKey);
    if (next === undefined) return;
    claim(event);
    actions.brush(...next);
  });

  return {
    node,
    /** `width` of the overview in CSS pixels. */
    draw(viewState: ViewState, width: number) {
      shown = viewState;
      const { scene, range } = viewState;
      const shownRange = onOverview(scene, range);
      setShown(node, scene.steps > 0);
      const [first, end] = shownRange ?? [0, scene.overview.steps];
      const share = (steps: number) => `${(100 * steps) / Math.max(1, scene.overview.steps)}%`;
      node.style.left = share(first);
      node.style.width = share(end - first);
      node.classList.toggle("ci-thin", ((end - first) * width) / Math.max(1, scene.overview.steps) < THIN);
      node.classList.toggle("ci-whole", showsAll(range, scene.steps));
      node.classList.toggle("ci-nowhere", shownRange === undefined);
      setAttributes(node, {
        "aria-valuemin": 1,
        "aria-valuemax": Math.max(1, scene.steps),
        "aria-valuenow": range[0] + 1,
        "aria-valuetext": sayRange(scene, range),
        title: sayRange(scene, range),
      });
    },
  };
};

const CURSORS: Record<Zone, string> = {
  first: "ew-resize",
  end: "ew-resize",
  move: "grab",
  draw: "crosshair",
  other: "pointer",
};
