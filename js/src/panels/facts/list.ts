// The facts as a list of which only those in sight exist; the hand is on it from the search box as well.
import { isAnswered, isChosen, NO_TRACING, type Tracing } from "../../model/facts";
import type { Inquiry } from "../../store/facts";
import { h, makeId, setAttributes } from "../../ui/dom";
import { makeScroller } from "../../ui/list/virtual-list";
import { drawFact, tellFact } from "./row";

const ROW = 24;

/** `input` steps through the list as its own keys do. */
export const makeFactList = (facts: Inquiry, input: HTMLElement) => {
  const base = makeId("fact");
  let shown: Tracing = NO_TRACING;
  let active = -1;
  /** A row is to be opened as soon as the list is what was asked for. */
  let eager = false;

  const size = () => shown.list?.total ?? 0;
  const scroller = makeScroller({
    height: ROW,
    role: "presentation",
    keyOf: String,
    draw(index) {
      const row = shown.rows.get(index);
      if (row === undefined) facts.fetch(index);
      const chosen = row !== undefined && isChosen(shown, row);
      const node = h(
        "div",
        {
          role: "option",
          id: `${base}-${index}`,
          class: `ci-fact${chosen ? " ci-chosen" : ""}${index === active ? " ci-active" : ""}`,
          title: row && tellFact(row),
          "aria-selected": String(chosen),
          "aria-setsize": size(),
          "aria-posinset": index + 1,
          "data-testid": "fact",
        },
        ...drawFact(row),
      );
      return { node, tall: false };
    },
    // A row that is drawn anew under a finger loses the click.
    tell(index) {
      const row = shown.rows.get(index);
      if (row === undefined) return undefined;
      return JSON.stringify([row, isChosen(shown, row), index === active, size()]);
    },
    drawn(first, end) {
      const exists = first <= active && active < end;
      for (const node of [input, list])
        setAttributes(node, { "aria-activedescendant": exists ? `${base}-${active}` : undefined });
    },
  });
  const list = scroller.node;
  setAttributes(list, {
    ...{ id: base, role: "listbox", tabindex: 0, "aria-label": "Facts", "data-testid": "facts-list" },
  });
  setAttributes(input, { "aria-controls": base });
  const names = ["kind", "fact", "becomes", "by", "turn"].map(name => h("span", {}, name));

  const mark = (at: number) => {
    active = Math.max(0, Math.min(size() - 1, at));
    scroller.show(size());
    scroller.reveal(active);
  };

  const open = (index: number) => {
    const row = shown.rows.get(index);
    if (row === undefined) return;
    mark(index);
    facts.open(row);
  };

  const onKey = (event: KeyboardEvent) => {
    const change = KEYS[event.key];
    if (change !== undefined && size() > 0) mark(active < 0 ? change - 1 : active + change);
    else if (event.key !== "Enter") return;
    // What is meant is a row of the list that is on its way.
    else if (isAnswered(shown)) open(Math.max(0, active));
    else eager = true;
    event.preventDefault();
  };

  list.addEventListener("keydown", event => {
    if (event.key === "Escape") facts.open(null);
    else onKey(event);
  });
  list.addEventListener("click", event => {
    const line = (event.target as Element).closest<HTMLElement>("[role=option]");
    if (line !== null) open(Number(line.id.slice(base.length + 1)));
  });
  const resized = new ResizeObserver(() => size() > 0 && scroller.show(size()));
  resized.observe(list);

  return {
    nodes: [h("p", { class: "ci-fact ci-columns", "aria-hidden": "true" }, ...names), list],
    onKey,
    draw(tracing: Tracing) {
      const fresh = shown.wish !== tracing.wish;
      if (fresh || (shown.chosen !== null && tracing.chosen === null)) active = -1;
      shown = tracing;
      scroller.show(size(), fresh ? { index: 0, hidden: 0 } : undefined);
      eager &&= !fresh && !tracing.failed;
      if (!eager || !isAnswered(tracing)) return;
      eager = false;
      open(Math.max(0, active));
    },
    dispose() {
      resized.disconnect();
      scroller.dispose();
    },
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
