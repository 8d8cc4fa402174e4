// Two edges that are dragged or moved by arrows: the lower one of the element in a notebook, which is remembered with the
// widget, and the upper one of the dock. A document fills its panel and has no lower edge.
import type { Host } from "../payloads/host";
import { h, listen, setAttributes } from "../ui/dom";

const STANDARD = 720;
const [LEAST, MOST] = [480, 1200];
const STEP = 20;

interface Pull {
  readonly name: string;
  readonly id: string;
  /** Whether a hand that goes down makes it higher. */
  readonly down: boolean;
  /** The height now, its least and its most. */
  measure(): readonly [now: number, least: number, most: number];
  show(height: number): void;
  /** The hand has let go, or a key was pressed. */
  keep?(): void;
}

const makePull = ({ name, id, down, measure, show, keep }: Pull): HTMLElement => {
  const node = h("div", {
    ...{ role: "separator", tabindex: 0, class: `ci-${id}`, "data-testid": id },
    ...{ "aria-orientation": "horizontal", "aria-label": name },
  });
  const way = down ? 1 : -1;
  let grip: { y: number; from: number } | null = null;
  const move = (wanted: number) => {
    const [, least, most] = measure();
    show(Math.round(Math.max(least, Math.min(most, wanted))));
  };
  listen(node, "pointerdown", event => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    grip = { y: event.clientY, from: measure()[0] };
  });
  listen(node, "pointermove", ({ clientY }) => {
    if (grip !== null && clientY !== grip.y) move(grip.from + way * (clientY - grip.y));
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    listen(node, end, () => {
      if (grip !== null) keep?.();
      grip = null;
    });
  }
  listen(node, "keydown", event => {
    const [now, least, most] = measure();
    const step = way * STEP;
    const moved = { ArrowDown: now + step, ArrowUp: now - step, Home: least, End: most }[event.key];
    if (moved === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(moved);
    keep?.();
  });
  return node;
};

const tell = (node: HTMLElement, now: number, least: number, most: number) =>
  setAttributes(node, {
    ...{ "aria-valuenow": now, "aria-valuemin": least, "aria-valuemax": most },
    "aria-valuetext": `${now} pixels`,
  });

export const makeEdge = (host: Host, root: HTMLElement) => {
  let height = STANDARD;
  const show = (wanted: number) => {
    height = Math.max(LEAST, Math.min(MOST, wanted));
    root.style.setProperty("--ci-own-height", `${height}px`);
    tell(node, height, LEAST, MOST);
  };
  const node = makePull({
    ...{ name: "Height", id: "edge", down: true, show },
    measure: () => [height, LEAST, MOST],
    keep() {
      if (host.get("height") === height) return;
      host.set("height", height);
      host.save_changes();
    },
  });
  const receive = () => show(host.get("height") ?? STANDARD);
  host.on("change:height", receive);
  receive();
  return { node, forget: () => host.off("change:height", receive) };
};

/** A dock is never lower than this, unless it is folded to its tabs. */
const LOWEST = 220;

/** Where a hand makes the dock higher, what is above it goes out of sight at the top, the header first. */
export const makeDockEdge = (host: Host, dock: HTMLElement) => {
  const bench = () => dock.parentElement as HTMLElement;
  const measure = () => {
    const room = Math.max(LOWEST, (dock.parentElement?.clientHeight ?? 0) - LOWEST);
    return [dock.offsetHeight, LOWEST, room] as const;
  };
  const show = (height: number) => {
    dock.classList.remove("ci-folded");
    dock.style.flexBasis = `${height}px`;
    dock.style.flexGrow = "0";
    dock.style.flexShrink = "0";
    bench().scrollTop = bench().scrollHeight;
    const [, least, most] = measure();
    tell(node, height, least, most);
  };
  const keep = () => {
    const height = dock.classList.contains("ci-folded") ? -1 : dock.offsetHeight;
    if (host.get("dock") === height) return;
    host.set("dock", height);
    host.save_changes();
  };
  const node = makePull({ name: "Height of the tabs", id: "dock-edge", down: false, measure, show, keep });
  tell(node, LOWEST, LOWEST, MOST);
  listen(node, "focus", () => tell(node, ...measure()));
  listen(node, "dblclick", () => {
    dock.classList.toggle("ci-folded");
    tell(node, ...measure());
    keep();
  });
  let restored = false;
  return {
    node,
    keep,
    /** As it was left, once there is room to tell; a smaller element gives it less. */
    restore() {
      if (restored || (dock.parentElement?.clientHeight ?? 0) === 0) return;
      restored = true;
      const height = host.get("dock") ?? 0;
      if (height < 0) dock.classList.add("ci-folded");
      const [, least, most] = measure();
      if (height > 0) show(Math.max(least, Math.min(most, height)));
    },
  };
};
