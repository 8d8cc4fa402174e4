// Search: a box in the header and the list of what was found, in this moment and in every other.
import { exact, plural } from "../../model/format";
import type { SearchHit, SearchReply } from "../../payloads/types";
import type { Actions, Picture, View } from "../../store/view";
import { h, makeId, setAttributes, setShown, setText } from "../../ui/dom";

const PAUSE = 220;
/** So many hits exist at once; more are shown when asked for. */
const PAGE = 50;

export interface Search extends View {
  readonly box: HTMLElement;
  focus(): void;
  /** Goes to the next hit, or the one before; false when there is none. */
  step(way: 1 | -1): boolean;
}

export const makeSearch = (actions: Actions): Search => {
  const list = makeId("hits");
  const input = h("input", {
    type: "search",
    class: "ci-search",
    role: "combobox",
    placeholder: "search",
    "aria-label": "Search the whole session",
    "aria-expanded": "false",
    "aria-controls": list,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    "data-testid": "search",
  });
  const box = h("span", { class: "ci-find" }, input, h("kbd", { "aria-hidden": "true" }, "/"));
  const count = h("span", { "data-testid": "found-count" });
  const note = h("p", { class: "ci-quiet", "data-testid": "found-note" });
  const hits = h("div", { class: "ci-hits", id: list, role: "listbox", "aria-label": "Found" });
  const more = h("button", { class: "ci-link" });
  const node = h(
    "section",
    { class: "ci-panel ci-found", "data-testid": "found", "aria-label": "Found" },
    h("h3", {}, "Found", h("span", { class: "ci-count" }, count)),
    note,
    hits,
    more,
  );
  let found: SearchReply | null = null;
  let shown: Picture | undefined;
  let active = -1;
  let room = PAGE;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = (query: string) => {
    clearTimeout(timer);
    actions.search(query);
  };

  const go = (at: number) => {
    const hit = found?.hits[at];
    if (hit === undefined) return;
    active = at;
    room = Math.max(room, at + 1);
    render();
    actions.goTo(hit.ref, hit.at);
  };

  const mark = (at: number) => {
    const last = Math.min(room, found?.hits.length ?? 0) - 1;
    active = Math.max(-1, Math.min(at, last));
    render();
  };

  const render = () => {
    const all = found?.hits ?? [];
    const nodes = all.slice(0, room).map((hit, at) => drawHit(hit, `${list}-${at}`, at === active, shown));
    hits.replaceChildren(...nodes);
    nodes[active]?.scrollIntoView?.({ block: "nearest" });
    setShown(hits, all.length > 0);
    const left = all.length - room;
    setShown(more, left > 0);
    setText(more, `show ${Math.min(PAGE, left)} of ${exact(left)} more`);
    setAttributes(input, {
      "aria-expanded": String(all.length > 0),
      "aria-activedescendant": active >= 0 ? `${list}-${active}` : undefined,
    });
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(input.value), PAUSE);
  });
  input.addEventListener("keydown", event => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way !== undefined) mark(active + way);
    else if (event.key === "Enter") {
      if (found === null || found.query !== input.value) ask(input.value);
      else go(Math.max(0, active));
    } else if (event.key === "Escape" && input.value !== "") {
      input.value = "";
      ask("");
    } else if (event.key === "Escape") input.blur();
    else return;
    event.preventDefault();
  });
  hits.addEventListener("click", event => {
    const line = (event.target as Element).closest<HTMLElement>("[role=option]");
    if (line !== null) go(Number(line.id.slice(list.length + 1)));
  });
  more.addEventListener("click", () => {
    room += PAGE;
    render();
  });

  return {
    node,
    box,
    focus() {
      input.focus();
      input.select();
    },
    step(way) {
      const size = found?.hits.length ?? 0;
      if (size === 0) return false;
      go(active < 0 ? (way > 0 ? 0 : size - 1) : (active + way + size) % size);
      return true;
    },
    draw(picture, parts) {
      shown = picture;
      if (!parts.has("found") && !parts.has("scene")) return;
      if (found?.query !== picture.found?.query) [active, room] = [-1, PAGE];
      found = picture.found;
      setText(count, found === null ? "" : plural(found.total, "block"));
      setText(note, explain(picture));
      setShown(note, note.textContent !== "");
      render();
    },
    dispose: () => clearTimeout(timer),
  };
};

const explain = ({ finding, found, scene }: Picture): string => {
  if (finding !== "") return finding;
  if (found === null) {
    const turns = (scene.overviewTurn.at(-1) ?? -1) + 1;
    return `Type a path, an error, a command or a symbol (press /). All ${plural(turns, "turn")} are searched, and the inputs and outputs of tools.`;
  }
  if (found.hits.length === 0) return `“${found.query}” is nowhere in this session, in no stretch of it.`;
  return found.total > found.hits.length
    ? `The first ${exact(found.hits.length)} are listed. A longer word finds fewer.`
    : "";
};

const drawHit = (hit: SearchHit, id: string, active: boolean, shown: Picture | undefined): HTMLElement => {
  const here = hit.row >= 0;
  const where = here ? [] : [h("i", {}, stretchOf(hit, shown))];
  return h(
    "div",
    { role: "option", id, class: "ci-hit", "aria-selected": String(active) },
    h("small", {}, `turn ${hit.turn + 1} · `, h("b", {}, hit.label), ...where),
    h("span", {}, ...markSpans(hit.preview, hit.spans)),
  );
};

/** The stretch of the session in which a hit stands that this moment no longer holds. */
const stretchOf = (hit: SearchHit, shown: Picture | undefined): string => {
  const at = shown?.scene.segments.findIndex(segment => segment.at === hit.at) ?? -1;
  return at < 0 ? " · another moment" : ` · stretch ${at + 1}`;
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
