// The lower edge of the element: dragged or moved by arrows, and remembered with the widget. A document fills its panel
// and has none.
import type { Host } from "../payloads/host";
import { h, setAttributes } from "../ui/dom";

const STANDARD = 720;
const [LEAST, MOST] = [480, 1200];
const STEP = 20;

export const makeEdge = (host: Host, root: HTMLElement) => {
  const node = h("div", {
    ...{ class: "ci-edge", role: "separator", tabindex: 0, "data-testid": "edge" },
    ...{ "aria-orientation": "horizontal", "aria-label": "Height" },
    ...{ "aria-valuemin": LEAST, "aria-valuemax": MOST },
  });
  let height = STANDARD;
  let grip: { y: number; from: number } | null = null;

  const show = (wanted: number) => {
    height = Math.round(Math.max(LEAST, Math.min(MOST, wanted)));
    root.style.setProperty("--ci-own-height", `${height}px`);
    setAttributes(node, { "aria-valuenow": height, "aria-valuetext": `${height} pixels` });
  };
  const keep = () => {
    if (host.get("height") === height) return;
    host.set("height", height);
    host.save_changes();
  };
  const receive = () => {
    if (grip === null) show(host.get("height") ?? STANDARD);
  };

  node.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    grip = { y: event.clientY, from: height };
  });
  node.addEventListener("pointermove", event => grip !== null && show(grip.from + event.clientY - grip.y));
  for (const end of ["pointerup", "pointercancel"]) {
    node.addEventListener(end, () => {
      if (grip === null) return;
      grip = null;
      keep();
    });
  }
  node.addEventListener("keydown", event => {
    const moved = { ArrowDown: height + STEP, ArrowUp: height - STEP, Home: LEAST, End: MOST }[event.key];
    if (moved === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    show(moved);
    keep();
  });
  host.on("change:height", receive);
  receive();
  return { node, forget: () => host.off("change:height", receive) };
};
