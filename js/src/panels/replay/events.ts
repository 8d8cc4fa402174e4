// The events of a replay as a list to step through; only those in sight exist.
import { short } from "../../model/format";
import type { Run } from "../../model/run";
import type { RunEvent } from "../../payloads/types";
import { h, makeId, setAttributes } from "../../ui/dom";
import { makeScroller } from "../../ui/list/virtual-list";

const ROW = 24;
const MARKS: Record<string, string> = { bad: "✕", warn: "!", done: "✓" };

export interface Events {
  readonly node: HTMLElement;
  /** Another run; none of its events is chosen yet. */
  fill(run: Run): void;
  /** Marks an event and brings it into sight; -1 for none. */
  choose(event: number): void;
  dispose(): void;
}

/** `chosen` hears of an event under the hand, `opened` of one that Enter was pressed on. */
export const makeEvents = (chosen: (event: number) => void, opened: (event: number) => void): Events => {
  const base = makeId("event");
  let events: readonly RunEvent[] = [];
  let active = -1;

  const scroller = makeScroller({
    height: ROW,
    role: "presentation",
    keyOf: String,
    draw: index => ({ node: drawEvent(events, index, index === active, base), tall: false }),
    drawn(first, end) {
      const exists = first <= active && active < end;
      setAttributes(node, { "aria-activedescendant": exists ? `${base}-${active}` : undefined });
    },
  });
  const { node } = scroller;
  node.classList.add("ci-events");
  setAttributes(node, { role: "listbox", tabindex: 0, "aria-label": "Events", "data-testid": "events" });

  node.addEventListener("click", event => {
    const line = (event.target as Element).closest<HTMLElement>(".ci-event");
    if (line !== null) chosen(Number(line.dataset.event));
  });
  node.addEventListener("keydown", event => {
    if (event.key === "Enter" && active >= 0) return opened(active);
    const change = KEYS[event.key];
    if (change === undefined || events.length === 0) return;
    event.preventDefault();
    chosen(Math.max(0, Math.min(events.length - 1, active + change)));
  });

  return {
    node,
    fill(run) {
      events = run.events;
      active = -1;
      node.scrollTop = 0;
      scroller.show(events.length);
    },
    choose(event) {
      active = event;
      scroller.show(events.length);
      if (event >= 0) scroller.reveal(event);
    },
    dispose: () => scroller.dispose(),
  };
};

const KEYS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 8,
  PageUp: -8,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

const drawEvent = (events: readonly RunEvent[], index: number, chosen: boolean, base: string) => {
  const { turn, label, tone } = events[index] as RunEvent;
  const again = events[index - 1]?.turn === turn;
  return h(
    "div",
    {
      role: "option",
      id: `${base}-${index}`,
      class: `ci-event${chosen ? " ci-chosen ci-active" : ""}`,
      "data-event": index,
      "aria-selected": String(chosen),
      "aria-setsize": events.length,
      "aria-posinset": index + 1,
    },
    h("span", { class: `ci-turn${again ? " ci-ditto" : ""}` }, String(turn + 1)),
    h("span", { class: tone === "bad" ? "ci-sign ci-bad" : "ci-sign" }, MARKS[tone] ?? "·"),
    h("span", { class: "ci-what" }, label),
    h("span", { class: "ci-number" }, sayChange(events[index] as RunEvent)),
  );
};

export const sayChange = ({ before, after }: RunEvent, say = short): string =>
  [before, after].flatMap(tokens => (tokens === null ? [] : [say(tokens)])).join(" → ");
