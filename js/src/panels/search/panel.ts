// Search: a field in the header, and below it over the page a dozen rows: facts, blocks, turns and keys.
import { exact, plural } from "../../model/format";
import { fateAt } from "../../model/plan";
import { type FactHit, KIND_NAMES, type SearchHit, type SearchReply } from "../../payloads/types";
import type { Actions, View, ViewState } from "../../store/view";
import { h, listen, makeId, setAttributes, setShown, setText } from "../../ui/dom";
import { claim, upOrDown } from "../../ui/keys";
import { makePopover } from "../../ui/popover";

const PAUSE = 220;
/** Rows of the list, and of each group at least, if it has them. */
const [ROWS, FAIR] = [12, 3];

/** A key by what it says of itself, and how to press it. */
export interface SearchedKeys {
  readonly words: readonly { readonly shown: string; readonly help: string }[];
  press(at: number): void;
}

export interface Search extends View {
  focus(): void;
  /** Goes to the next or previous matching block; false without one. */
  step(way: 1 | -1): boolean;
}

interface Row {
  node: HTMLElement;
  go(): void;
}

export const makeSearch = (actions: Actions, keys: SearchedKeys): Search => {
  const list = makeId("hits");
  const input = h("input", {
    type: "search",
    class: "ci-search",
    role: "combobox",
    placeholder: "Search",
    "aria-label": "Search the whole session",
    "aria-controls": list,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    "data-testid": "search",
  });
  const note = h("p", { class: "ci-quiet", "data-testid": "found-note" });
  const hits = h("div", { class: "ci-hits", id: list, role: "listbox", "aria-label": "Found" });
  const box = h("div", { class: "ci-popover ci-found", "data-testid": "found" }, hits, note);
  const node = h("span", { class: "ci-find" }, input, h("kbd", { "aria-hidden": "true" }, "/"), box);
  let reply: SearchReply | null = null;
  let shown: ViewState | undefined;
  let rows: Row[] = [];
  let blockRows = 0;
  let active = -1;
  let hit = -1;
  let back: HTMLElement | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = (query: string) => {
    clearTimeout(timer);
    actions.search(query);
  };
  const popover = makePopover(input, box, () => undefined);
  const show = () => {
    const hasFocus = document.activeElement === input && input.value.trim() !== "";
    if (hasFocus && !popover.isOpen) popover.open();
    else if (!hasFocus && popover.isOpen) popover.close();
  };
  const leave = () => {
    popover.close();
    const target = back?.isConnected ? back : null;
    back = null;
    if (target === null) input.blur();
    else target.focus();
  };

  const goTo = (at: number) => {
    const chosenHit = reply?.hits[at];
    if (chosenHit === undefined) return;
    hit = at;
    actions.goTo(chosenHit.ref, chosenHit.at);
  };
  const go = (at: number) => {
    const row = rows[at];
    if (row === undefined) return;
    popover.close();
    row.go();
  };

  const mark = (at: number) => {
    active = Math.max(-1, Math.min(at, rows.length - 1));
    for (const [i, { node }] of rows.entries())
      setAttributes(node, { "aria-selected": String(i === active) });
    rows[active]?.node.scrollIntoView?.({ block: "nearest" });
    setAttributes(input, { "aria-activedescendant": active >= 0 ? `${list}-${active}` : undefined });
  };

  const render = () => {
    rows = [];
    if (reply === null || shown === undefined) return hits.replaceChildren();
    const viewState = shown;
    const pressed = findKeys(keys, reply.query);
    const [facts = 0, blocks = 0, turns = 0, rest] = shareRows(reply.facts, reply.hits, reply.turns, pressed);
    blockRows = blocks;
    const draw = (hit: SearchHit, go: () => void): Row => ({ node: drawHit(hit, viewState), go });
    const groups: Record<string, Row[]> = {
      facts: reply.facts.slice(0, facts).map(fact => drawFact(fact, actions)),
      blocks: reply.hits.slice(0, blocks).map((hit, at) => draw(hit, () => goTo(at))),
      turns: reply.turns.slice(0, turns).map(hit => draw(hit, () => actions.goTo(hit.ref, hit.at))),
      keys: pressed.slice(0, rest).map(([at, { help, shown }]) => ({
        node: drawRow(help, [], shown),
        go: () => keys.press(at),
      })),
    };
    hits.replaceChildren(
      ...Object.entries(groups).flatMap(([title, group]) => {
        if (group.length === 0) return [];
        rows.push(...group);
        const nodes = group.map(row => row.node);
        return [h("div", { role: "group", "aria-label": title }, h("h4", {}, title), ...nodes)];
      }),
    );
    for (const [i, { node }] of rows.entries()) setAttributes(node, { id: `${list}-${i}` });
    setShown(hits, rows.length > 0);
    mark(Math.min(active, rows.length - 1));
  };

  listen(input, "focus", show);
  listen(input, "input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(input.value), PAUSE);
    show();
  });
  listen(input, "keydown", event => {
    const way = upOrDown(event);
    if (way !== undefined) mark(active + way);
    else if (event.key === "Enter") {
      show();
      if (reply === null || reply.query !== input.value) ask(input.value);
      else go(Math.max(0, active));
    } else if (event.key === "Escape") {
      input.value = "";
      ask("");
      leave();
    } else return;
    claim(event);
  });
  listen(hits, "click", event => {
    const line = (event.target as Element).closest("[role=option]");
    go(rows.findIndex(row => row.node === line));
  });

  return {
    node,
    focus() {
      const { activeElement } = document;
      if (activeElement !== input) back = activeElement instanceof HTMLElement ? activeElement : null;
      input.focus();
      input.select();
    },
    step(way) {
      const size = reply?.hits.length ?? 0;
      if (size === 0) return false;
      goTo(hit < 0 ? (way > 0 ? 0 : size - 1) : (hit + way + size) % size);
      return true;
    },
    draw(viewState, parts) {
      shown = viewState;
      if (!parts.has("found") && !parts.has("scene")) return;
      if (reply?.query !== viewState.matches?.query) [active, hit] = [-1, -1];
      reply = viewState.matches;
      render();
      setText(note, explain(viewState, rows.length, blockRows));
      setShown(note, note.textContent !== "");
    },
    dispose: () => clearTimeout(timer),
  };
};

const explain = (
  { finding, matches: reply, needsKernel }: ViewState,
  shown: number,
  blocks: number,
): string => {
  if (finding !== "") return finding;
  if (reply === null) return "";
  const isPage = needsKernel !== "";
  const where = isPage ? "in the blocks and facts of this context" : "anywhere in this session";
  if (shown === 0) return `“${reply.query}” does not occur ${where}.`;
  const more = reply.total - blocks;
  const rest = more > 0 ? `${plural(reply.total, "block")} in all; n and N go through them. ` : "";
  return isPage ? `${rest}Searched: this context, not the whole session.` : rest.trim();
};

/** The keys whose label or help contains the query, with their positions. */
const findKeys = ({ words }: SearchedKeys, query: string) => {
  const needle = query.trim().toLowerCase();
  return [...words.entries()].filter(
    ([, { shown, help }]) => needle !== "" && `${shown} ${help}`.toLowerCase().includes(needle),
  );
};

/** The rows of each group: blocks take what the others leave, then facts. */
const shareRows = (...groups: readonly (readonly unknown[])[]): number[] => {
  const rows = groups.map(({ length }) => Math.min(length, FAIR));
  for (const at of [1, 0, 2, 3]) {
    const room = ROWS - rows.reduce((sum, count) => sum + count);
    rows[at] = Math.min(groups[at]?.length ?? 0, (rows[at] ?? 0) + room);
  }
  return rows;
};

/** One line: the kind, the text, and the outcome at the right. */
const drawRow = (what: string, words: readonly (Node | string)[], end: string): HTMLElement =>
  h(
    "div",
    { role: "option", class: "ci-hit", "aria-selected": "false" },
    h("small", {}, what),
    h("span", {}, ...words),
    h("i", {}, end),
  );

const drawFact = (fact: FactHit, actions: Actions): Row => ({
  node: drawRow(`turn ${fact.turn + 1} · ${KIND_NAMES[fact.sort]}`, [fact.form], fact.outcome),
  go() {
    actions.openTab("facts");
    actions.facts.open(fact);
  },
});

const drawHit = (hit: SearchHit, viewState: ViewState): HTMLElement =>
  drawRow(
    `turn ${exact(hit.turn + 1)} · ${hit.label}`,
    markSpans(hit.preview, hit.spans),
    describeOutcome(hit, viewState),
  );

/** The outcome of a block in the plan, or the part of the session in which it is, if not at this point in time. */
const describeOutcome = (hit: SearchHit, { scene, plan, place }: ViewState): string => {
  if (hit.row >= 0 && hit.row < scene.blocks)
    return scene.fates[fateAt(scene, plan, hit.row, place).fate]?.label ?? "";
  const at = scene.segments.findIndex(segment => segment.at === hit.at);
  return at < 0 ? "another moment" : `stretch ${at + 1}`;
};

/** The text with what was searched for marked; Python found it, so nothing is searched here. */
const markSpans = (text: string, spans: readonly number[]): (Node | string)[] => {
  const parts: (Node | string)[] = [];
  let from = 0;
  for (let i = 0; i + 1 < spans.length; i += 2) {
    const [start, end] = [spans[i] as number, spans[i + 1] as number];
    parts.push(text.slice(from, start), h("mark", {}, text.slice(start, end)));
    from = end;
  }
  return [...parts, text.slice(from)];
};
