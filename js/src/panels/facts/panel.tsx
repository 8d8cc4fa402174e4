// Facts: everything the session says that may have to be remembered, with what each compaction and this plan left of it.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { countFacts, type FactFilter, isAnswered, isChosen, type Tracing } from "../../model/facts";
import { exact, plural } from "../../model/format";
import { TRAITS } from "../../model/outcomes";
import type { Outcome } from "../../payloads/replies";
import { type FactRound, type FactRow, type FactsReply, KIND_NAMES, OUTCOMES } from "../../payloads/types";
import { makeComponentView, type PanelProps } from "../../store/component";
import { PAGE } from "../../store/facts";
import type { Actions, View } from "../../store/view";
import { claim, upOrDown } from "../../ui/keys";
import { breakPath, isLiteral, Story } from "./story";

const PAUSE = 220;
const FEW = 40;

export interface Facts extends View {
  focus(): void;
}

export const makeFacts = (actions: Actions): Facts => {
  const view = makeComponentView(Panel, actions, ["scene", "tracing", "tab", "settled"], {
    class: "ci-fx",
    "aria-label": "Facts",
    "data-testid": "facts",
  });
  return {
    ...view,
    draw(viewState, parts) {
      actions.facts.follow();
      const { list } = viewState.tracing;
      if (list !== null) actions.countTab("facts", exact(countFacts(list.kinds, "", "")));
      if (!viewState.dragging) view.draw(viewState, parts);
    },
    focus() {
      actions.openTab("facts");
      // A panel that was closed is there from the next frame on.
      requestAnimationFrame(() => {
        const input = view.node.querySelector<HTMLInputElement>("input");
        input?.focus();
        input?.select();
      });
    },
  };
};

const Panel = ({ viewState, actions }: PanelProps) => {
  const { tracing } = viewState;
  const { list, note, failed, story, storyNote, chosen } = tracing;
  const [aside, showList] = useState(false);
  const [many, setMany] = useState({ of: "", count: FEW });
  const shown = many.of === JSON.stringify(tracing.filter) ? many.count : FEW;
  const rows = Array.from({ length: Math.min(shown, list?.total ?? 0) }, (_, at) => tracing.rows.get(at));
  const more = (list?.total ?? 0) - rows.length;
  const showMore = () => setMany({ of: JSON.stringify(tracing.filter), count: shown + PAGE });
  // What is in sight and not here yet comes now, or as soon as the list itself has.
  useLayoutEffect(() => {
    const missing = list === null ? -1 : rows.indexOf(undefined);
    if (missing >= 0) actions.facts.fetch(missing);
  });
  const open = (row: FactRow) => {
    showList(false);
    actions.facts.open(row);
  };
  return (
    <>
      <div class={`ci-fx-list${aside || chosen === null ? " ci-first" : ""}`}>
        <Filter {...{ tracing, actions, open }} />
        {(note !== "" || failed) && (
          <p class="ci-quiet">
            <span data-testid="facts-note">{note}</span>{" "}
            {failed && viewState.needsKernel === "" && (
              <button class="ci-link" onClick={() => actions.facts.again()}>
                try again
              </button>
            )}
          </p>
        )}
        {list !== null && list.total > 0 && <Table {...{ list, rows, viewState, open }} />}
        {more > 0 && (
          <button class="ci-link" onClick={showMore}>
            Show {exact(Math.min(more, PAGE))} more
          </button>
        )}
      </div>
      <div class={`ci-fx-master${aside || chosen === null ? "" : " ci-first"}`}>
        <nav class="ci-fx-turner" aria-label="Facts">
          <button class="ci-link" onClick={() => showList(true)}>
            ‹ Facts
          </button>
        </nav>
        {viewState.tab !== "facts" ? null : story === null ? (
          <p class="ci-quiet">
            {storyNote || "Choose a fact to see what happened to it, why, and how to keep it."}
          </p>
        ) : (
          <Story
            {...{ story, actions, isPage: viewState.needsKernel !== "" }}
            onPick={pick => actions.facts.open(story, pick)}
          />
        )}
      </div>
    </>
  );
};

interface FilterProps {
  tracing: Tracing;
  actions: Actions;
  open(row: FactRow): void;
}

const Filter = ({ tracing, actions, open }: FilterProps) => {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const { list, filter } = tracing;
  const ask = (changes: Partial<FactFilter>) => {
    clearTimeout(timer.current);
    actions.facts.setFilter(changes);
  };
  return (
    <>
      <p class="ci-lookup">
        <input
          type="search"
          class="ci-search"
          placeholder="a path, an error, a command"
          aria-label="Find a fact"
          autocomplete="off"
          spellcheck={false}
          data-testid="facts-search"
          onInput={({ currentTarget: { value } }) => {
            clearTimeout(timer.current);
            timer.current = setTimeout(() => ask({ query: value }), PAUSE);
          }}
          onKeyDown={event => {
            const { value } = event.currentTarget;
            if (event.isComposing) return;
            const [first] = tracing.rows.values();
            if (event.key === "Enter" && filter.query !== value) ask({ query: value });
            else if (event.key === "Enter") isAnswered(tracing) && first !== undefined && open(first);
            else if (event.key === "Escape") event.currentTarget.blur();
            else if (event.key === "ArrowDown") focusRow(event.currentTarget, 0);
            else return;
            claim(event);
          }}
        />
        <span class="ci-quiet" data-testid="facts-count">
          {list === null ? "" : sayCount(list)}
        </span>
      </p>
      {list !== null && (
        <div class="ci-filters">
          <Choice
            name="Kind"
            chosen={filter.kind}
            choose={kind => ask({ kind })}
            options={[["", "all"], ...list.kinds.map(({ id, label }): [string, string] => [id, label])].map(
              ([id = "", label = ""]) => [id, label, countFacts(list.kinds, id, filter.outcome)],
            )}
          />
          <Choice
            name="Outcome"
            chosen={filter.outcome}
            choose={outcome => ask({ outcome })}
            options={["" as const, ...OUTCOMES.map(({ name }) => name)].map(id => [
              id,
              id === "" ? "any" : `${TRAITS[id].sign} ${nameOutcome(id, list)}`,
              countFacts(list.kinds, filter.kind, id),
            ])}
          />
        </div>
      )}
    </>
  );
};

/** The label of an outcome in a plan, which may have no summary yet. */
const nameOutcome = (outcome: Outcome, { absent }: FactsReply): string =>
  outcome === "absent" ? absent : TRAITS[outcome].label;

interface ChoiceProps {
  name: string;
  chosen: string;
  choose(id: string): void;
  options: (readonly [id: string, label: string, count: number])[];
}

const Choice = ({ name, chosen, choose, options }: ChoiceProps) => (
  <fieldset class="ci-choice" aria-label={name}>
    {options
      .filter(([id, , count]) => count > 0 || id === chosen || id === "")
      .map(([id, label, count]) => (
        <button
          key={id}
          aria-pressed={id === chosen}
          data-testid={`facts-${id || name}`}
          onClick={() => choose(id)}
        >
          {label}
          <small>{exact(count)}</small>
        </button>
      ))}
  </fieldset>
);

interface TableProps {
  list: FactsReply;
  rows: readonly (FactRow | undefined)[];
  viewState: PanelProps["viewState"];
  open(row: FactRow): void;
}

const Table = ({ list, rows, viewState, open }: TableProps) => {
  const sign = viewState.scene.boundaries.find(({ look }) => look === viewState.look)?.sign ?? "";
  const shown = list.marks.includes(sign) ? sign : "";
  /** A narrow screen has room for the outcome that it shows, and for a second one; "" is the plan. */
  const place = (mark: string) =>
    mark === shown ? undefined : mark === "" || list.marks.length === 1 ? "ci-fx-second" : "ci-fx-other";
  return (
    <table class="ci-fx-table" data-testid="facts-list">
      <thead>
        <tr>
          <th scope="col">fact</th>
          <th scope="col">kind</th>
          {list.marks.map(mark => (
            <th scope="col" key={mark} class={place(mark)}>
              in {mark}
            </th>
          ))}
          <th scope="col" class={place("")}>
            this plan
          </th>
          <th scope="col" class="ci-number">
            turn
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) =>
          row === undefined ? (
            <tr key={`empty ${at}`}>
              <td class="ci-quiet">…</td>
            </tr>
          ) : (
            <tr key={row.number} class={isChosen(viewState.tracing, row) ? "ci-chosen" : ""}>
              <td>
                <button
                  class={`ci-fx-fact${isLiteral(row.kind) ? " ci-st-literal" : ""}`}
                  data-testid="fact"
                  title={row.form}
                  aria-current={isChosen(viewState.tracing, row) ? "true" : undefined}
                  onClick={() => open(row)}
                  onKeyDown={event => {
                    const way = upOrDown(event);
                    if (way === undefined) return;
                    claim(event);
                    focusRow(event.currentTarget, at + way);
                  }}
                >
                  {breakPath(row.title)}
                </button>
              </td>
              <td class="ci-quiet">{KIND_NAMES[row.sort]}</td>
              {row.rounds.map((round, i) => (
                <td key={list.marks[i]} class={place(list.marks[i] ?? "")}>
                  {drawRound(round)}
                </td>
              ))}
              <td class={place("")}>{drawRound(row, list.absent)}</td>
              <td class="ci-number">{row.lastTurn + 1}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
};

/** The fact's row of that place; -1 goes back to the search. */
const focusRow = (from: HTMLElement, at: number) => {
  const list = from.closest(".ci-fx-list");
  const rows = [...(list?.querySelectorAll<HTMLElement>(".ci-fx-fact") ?? [])];
  (at < 0 ? list?.querySelector<HTMLElement>("input") : rows[at])?.focus();
};

const drawRound = ({ outcome, stood, bad, judged }: FactRound, absent: string = TRAITS.absent.label) => {
  if (outcome === "") return <span class="ci-quiet">–</span>;
  const { label, sentence, sign, colour } = TRAITS[outcome];
  const words = judged ? "not lost (you)" : outcome !== "absent" ? label : stood ? absent : "gone before";
  const look = bad
    ? "ci-bad"
    : stood && colour === "amber"
      ? "ci-unsure"
      : colour === "grey"
        ? "ci-quiet"
        : "";
  return (
    <span class={look} title={sentence}>
      <i aria-hidden="true">{sign}</i> {words}
    </span>
  );
};

/** Python counts the facts that were still present; the others were lost before. */
const sayCount = ({ total, query, kind, outcome, kinds }: FactsReply): string => {
  if (total === 0) return query === "" ? "No fact matches." : `No fact contains “${query}”.`;
  const gone = query === "" && outcome === "" ? total - countFacts(kinds, kind, "") : 0;
  return gone > 0 ? `${plural(total, "fact")}, ${exact(gone)} gone before` : plural(total, "fact");
};
