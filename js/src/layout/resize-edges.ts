// Two edges that are dragged or moved by arrows: the lower one of the element in a notebook, which is remembered with the
// widget, and the upper one of the dock. A document fills its panel and has no lower edge.
import { type Host, keep } from "../payloads/host";
import { h, listen, setAttributes } from "../ui/dom";
import { followPointer } from "../ui/follow-pointer";
import { claim } from "../ui/keys";

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
  keep(): void;
}

const makePull = ({ name, id, down, measure, show, keep }: Pull): HTMLElement => {
  const node = h("div", {
    ...{ role: "separator", tabindex: 0, class: `ci-${id}`, "data-testid": id },
    ...{ "aria-orientation": "horizontal", "aria-label": name },
  });
  const way = down ? 1 : -1;
  const move = (size: number) => {
    const [, least, most] = measure();
    show(Math.round(Math.max(least, Math.min(most, size))));
  };
  followPointer(node, ({ clientY: y }) => {
    const [from] = measure();
    return {
      move({ clientY }) {
        if (clientY !== y) move(from + way * (clientY - y));
      },
      end: keep,
    };
  });
  listen(node, "keydown", event => {
    const [now, least, most] = measure();
    const step = way * STEP;
    const moved = { ArrowDown: now + step, ArrowUp: now - step, Home: least, End: most }[event.key];
    if (moved === undefined) return;
    claim(event);
    move(moved);
    keep();
  });
  return node;
};

const describeSize = (node: HTMLElement, now: number, least: number, most: number) =>
  setAttributes(node, {
    ...{ "aria-valuenow": now, "aria-valuemin": least, "aria-valuemax": most },
    "aria-valuetext": `${now} pixels`,
  });

export const makeEdge = (host: Host, root: HTMLElement) => {
  let height = STANDARD;
  const show = (size: number) => {
    height = Math.max(LEAST, Math.min(MOST, size));
    root.style.setProperty("--ci-own-height", `${height}px`);
    describeSize(node, height, LEAST, MOST);
  };
  const node = makePull({
    ...{ name: "Height", id: "edge", down: true, show },
    measure: () => [height, LEAST, MOST],
    keep: () => keep(host, "height", height),
  });
  const receive = () => show(host.get("height") ?? STANDARD);
  host.on("change:height", receive);
  receive();
  return { node, forget: () => host.off("change:height", receive) };
};

/** A dock is never lower than this, unless it is folded to its tabs. */
const LOWEST = 220;

/** When the user makes the dock higher, the content above it is hidden from the top, the header first. */
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
    describeSize(node, height, least, most);
  };
  const keepHeight = () => keep(host, "dock", dock.classList.contains("ci-folded") ? -1 : dock.offsetHeight);
  const node = makePull({
    ...{ name: "Height of the tabs", id: "dock-edge", down: false, measure, show, keep: keepHeight },
  });
  describeSize(node, LOWEST, LOWEST, MOST);
  listen(node, "focus", () => describeSize(node, ...measure()));
  listen(node, "dblclick", () => {
    dock.classList.toggle("ci-folded");
    describeSize(node, ...measure());
    keepHeight();
  });
  let restored = false;
  return {
    node,
    keep: keepHeight,
    /** Restores the stored height once the available room is known; a smaller element limits it. */
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
