// Search: a field in the header, and below it over the page a dozen rows: facts, blocks, turns and keys.
import { exact, plural } from "../../model/format";
import { fateAt } from "../../model/plan";
import type { FactHit, SearchHit, SearchReply } from "../../payloads/types";
import type { Actions, Picture, View } from "../../store/view";
import { h, listen, makeId, setAttributes, setShown, setText } from "../../ui/dom";
import { makePopover } from "../../ui/popover";

const PAUSE = 220;

/** A key by what it says of itself, and how to press it. */
export interface SearchedKeys {
  readonly words: readonly { readonly shown: string; readonly help: string }[];
  press(at: number): void;
}

export interface Search extends View {
  focus(): void;
  /** Goes to the next block that was found, or the one before; false when there is none. */
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
  const box = h("div", { class: "ci-found", "data-testid": "found" }, hits, note);
  const node = h("span", { class: "ci-find" }, input, h("kbd", { "aria-hidden": "true" }, "/"), box);
  let found: SearchReply | null = null;
  let shown: Picture | undefined;
  let rows: Row[] = [];
  let active = -1;
  let hit = -1;
  let back: HTMLElement | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = (query: string) => {
    clearTimeout(timer);
    actions.search(
      query,
      keys.words.map(({ shown, help }) => `${shown} ${help}`),
    );
  };
  const popover = makePopover(input, box, () => undefined);
  const show = () => {
    const wanted = document.activeElement === input && input.value.trim() !== "";
    if (wanted && !popover.isOpen) popover.open();
    else if (!wanted && popover.isOpen) popover.close();
  };
  const leave = () => {
    popover.close();
    const target = back?.isConnected ? back : null;
    back = null;
    if (target === null) input.blur();
    else target.focus();
  };

  const goTo = (at: number) => {
    const one = found?.hits[at];
    if (one === undefined) return;
    hit = at;
    actions.goTo(one.ref, one.at);
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
    if (found === null || shown === undefined) return hits.replaceChildren();
    const picture = shown;
    const [facts = 0, blocks = 0, turns = 0, pressed = 0] = found.rows;
    const add = (title: string, made: Row[]): HTMLElement[] => {
      if (made.length === 0) return [];
      rows.push(...made);
      return [
        h("div", { role: "group", "aria-label": title }, h("h4", {}, title), ...made.map(row => row.node)),
      ];
    };
    const all = found;
    hits.replaceChildren(
      ...add(
        "facts",
        all.facts.slice(0, facts).map(fact => drawFact(fact, actions)),
      ),
      ...add(
        "blocks",
        all.hits.slice(0, blocks).map((one, at) => ({ node: drawHit(one, picture), go: () => goTo(at) })),
      ),
      ...add(
        "turns",
        all.turns
          .slice(0, turns)
          .map(one => ({ node: drawHit(one, picture), go: () => actions.goTo(one.ref, one.at) })),
      ),
      ...add(
        "keys",
        all.keys.slice(0, pressed).flatMap(at => {
          const key = keys.words[at];
          if (key === undefined) return [];
          const node = drawRow(key.help, [], key.shown);
          return [{ node, go: () => keys.press(at) }];
        }),
      ),
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
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way !== undefined) mark(active + way);
    else if (event.key === "Enter") {
      show();
      if (found === null || found.query !== input.value) ask(input.value);
      else go(Math.max(0, active));
    } else if (event.key === "Escape") {
      input.value = "";
      ask("");
      leave();
    } else return;
    event.preventDefault();
    event.stopPropagation();
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
      const size = found?.hits.length ?? 0;
      if (size === 0) return false;
      goTo(hit < 0 ? (way > 0 ? 0 : size - 1) : (hit + way + size) % size);
      return true;
    },
    draw(picture, parts) {
      shown = picture;
      if (!parts.has("found") && !parts.has("scene")) return;
      if (found?.query !== picture.found?.query) [active, hit] = [-1, -1];
      found = picture.found;
      render();
      setText(note, explain(picture, rows.length));
      setShown(note, note.textContent !== "");
    },
    dispose: () => clearTimeout(timer),
  };
};

const explain = ({ finding, found, needsKernel }: Picture, shown: number): string => {
  if (finding !== "") return finding;
  if (found === null) return "";
  const nowhere = needsKernel === "" ? "in this session, in no stretch of it" : "in the texts on this page";
  if (shown === 0) return `“${found.query}” is nowhere ${nowhere}.`;
  const more = found.total - (found.rows[1] ?? 0);
  return more > 0 ? `${plural(found.total, "block")} in all; n and N go through them.` : "";
};

/** One line: what it is, the words, and at the right what becomes of it. */
const drawRow = (what: string, words: readonly (Node | string)[], end: string): HTMLElement =>
  h(
    "div",
    { role: "option", class: "ci-hit", "aria-selected": "false" },
    h("small", {}, what),
    h("span", {}, ...words),
    h("i", {}, end),
  );

const drawFact = (fact: FactHit, actions: Actions): Row => ({
  node: drawRow(`turn ${fact.turn + 1} · ${fact.kind}`, [fact.form], fact.outcome),
  go() {
    actions.openTab("facts");
    actions.facts.open(fact);
  },
});

const drawHit = (hit: SearchHit, picture: Picture): HTMLElement =>
  drawRow(
    `turn ${exact(hit.turn + 1)} · ${hit.label}`,
    markSpans(hit.preview, hit.spans),
    becomes(hit, picture),
  );

/** What the plan makes of a block; where this moment does not hold it, the stretch of the session in which it stands. */
const becomes = (hit: SearchHit, { scene, plan, place }: Picture): string => {
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
