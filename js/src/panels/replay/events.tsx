// The events of a replay as a list to step through, one page at a time.
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { exact, short } from "../../model/format";
import { neighbour, type Run, type Spot } from "../../model/run";
import type { RunEvent } from "../../payloads/types";

/** The number of events listed at once, around the chosen one. */
const PAGE = 200;
const MARKS: Record<string, string> = { bad: "✕", warn: "!", done: "✓" };

interface Props {
  run: Run;
  spot: Spot;
  /** The pointer is over an event. */
  move(event: number): void;
  /** Enter was pressed on it. */
  open(event: number): void;
}

export const EventList = ({ run, spot, move, open }: Props) => {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const { events } = run;
  const { event: chosen } = spot;
  const start = Math.floor(Math.max(0, chosen) / PAGE) * PAGE;
  const shown = events.slice(start, start + PAGE);
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>(`[data-event="${chosen}"]`);
    if (list.current === null || row == null) return;
    const [upper, lower] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    const { scrollTop, clientHeight } = list.current;
    if (upper < scrollTop || lower > scrollTop + clientHeight)
      list.current.scrollTop = upper - clientHeight / 3;
  }, [run, chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && chosen >= 0) return open(chosen);
    const change = KEYS[event.key];
    if (change === undefined || events.length === 0) return;
    event.preventDefault();
    move(Math.max(0, Math.min(events.length - 1, chosen + change)));
  };
  const step = (way: -1 | 1, words: string, id: string) => {
    const to = neighbour(run, spot, way);
    return (
      <button class="ci-link" data-testid={id} disabled={to === spot} onClick={() => move(to.event)}>
        {words}
      </button>
    );
  };
  return (
    <section aria-label="Events of the replay">
      <h3>
        Events
        <span class="ci-count">
          {chosen < 0 ? "" : `${exact(chosen + 1)} of `}
          {sayCount(run)} {step(-1, "previous", "event-previous")} {step(1, "next", "event-next")}
        </span>
      </h3>
      <div
        ref={list}
        class="ci-rp-events"
        role="listbox"
        tabIndex={0}
        aria-label="Events"
        aria-activedescendant={chosen >= 0 ? `${base}-${chosen}` : undefined}
        data-testid="events"
        onKeyDown={onKeyDown}
      >
        {shown.map((event, i) => (
          <Row
            key={start + i}
            {...{ event, base, index: start + i, isChosen: start + i === chosen, count: events.length, move }}
            again={events[start + i - 1]?.turn === event.turn}
          />
        ))}
      </div>
    </section>
  );
};

interface RowProps {
  event: RunEvent;
  base: string;
  index: number;
  count: number;
  isChosen: boolean;
  /** It is of the same turn as the one before. */
  again: boolean;
  move(event: number): void;
}

const Row = ({ event, base, index, count, isChosen, again, move }: RowProps) => (
  // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
  // biome-ignore lint/a11y/useKeyWithClickEvents: the list hears the keys
  <div
    role="option"
    id={`${base}-${index}`}
    class={isChosen ? "ci-event ci-chosen" : "ci-event"}
    data-event={index}
    aria-selected={isChosen}
    aria-setsize={count}
    aria-posinset={index + 1}
    onClick={() => move(index)}
  >
    <span class={again ? "ci-turn ci-ditto" : "ci-turn"}>{event.turn + 1}</span>
    <span class={event.tone === "bad" ? "ci-sign ci-bad" : "ci-sign"}>{MARKS[event.tone] ?? "·"}</span>
    <span class="ci-what">{event.label}</span>
    <span class="ci-number">{sayChange(event)}</span>
  </div>
);

const KEYS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 8,
  PageUp: -8,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

export const sayChange = ({ before, after }: RunEvent, say = short): string =>
  [before, after].flatMap(tokens => (tokens === null ? [] : [say(tokens)])).join(" → ");

/** How many events there are; and, where Python sent only the first of them, how many are here. */
const sayCount = ({ counts, events }: Run): string =>
  counts.events > events.length
    ? `${exact(events.length)} here, ${exact(counts.events)} in run.events`
    : exact(counts.events);
