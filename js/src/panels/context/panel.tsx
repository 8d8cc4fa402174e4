// Context: two requests side by side, row by row. Runs of rows that did not change are folded; only the rows in
// sight exist in the page.

import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { whyNot } from "../../model/cuts";
import { exact, plural, short } from "../../model/format";
import { TRAITS } from "../../model/outcomes";
import { totalAfter } from "../../model/plan";
import type { ContextBlock, ContextFacts, ContextReply, ContextRow, ContextRun } from "../../payloads/types";
import { makeComponentView, type PanelProps } from "../../store/component";
import { useReply } from "../../store/use-reply";
import type { Actions, View, ViewState } from "../../store/view";
import { h } from "../../ui/dom";
import { claim, isModified } from "../../ui/keys";
import { makeScroller, type Scroller } from "../../ui/list/virtual-list";
import { joinPieces, type Pieces } from "../../ui/text-diff";

type Pair = ContextReply["pair"];

/** Rows that are asked for at a time. */
const PAGE = 60;
/** Characters of a block that "show all of it" asks for. */
const WHOLE = 200_000;
const PAIRS: Record<Pair, string> = {
  before: "Before | after",
  recorded: "Recorded | plan",
  other: "Plan | plan B",
};

export const makeContext = (actions: Actions): View =>
  makeComponentView(
    Panel,
    actions,
    ["scene", "plan", "look", "place", "row", "why", "settled", "other", "tab"],
    { class: "ci-ctx", "data-testid": "context", "aria-label": "Context" },
  );

/** The inputs of the comparison; if they change, it is requested again. */
const nameRequest = ({ scene, look, plan, planned, other, place, versus }: ViewState): string =>
  JSON.stringify([
    ...[scene.entryIds.at(-1), look, plan.policy, plan.recipe, place, plan.summary],
    ...[planned.recipe, planned.cut.place, other?.recipe, versus],
  ]);

/** An item of the list: a run's fold, or a row. */
interface Item {
  readonly run: ContextRun;
  /** The row's index, -1 for a fold. */
  readonly index: number;
}

const Panel = ({ viewState, actions }: PanelProps) => {
  const { tab, settled, dragging, place, plan, scene, why, needsKernel } = viewState;
  const isPage = needsKernel !== "";
  const [pair, setPair] = useState<Pair>("before");
  const [folds, setFolds] = useState(true);
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const [change, setChange] = useState(0);
  const rows = useRef(new Map<number, ContextRow>());
  const [, redraw] = useState(0);
  const list = useRef<Scroller | null>(null);
  const [aside, showAside] = useState(false);
  const isCurrent = tab === "context" && settled && !dragging;
  const key = isCurrent ? `${nameRequest(viewState)} ${pair}` : null;
  const request = useRef("");
  const requested = useRef(new Set<number>());
  const reply = useReply(key, () => {
    request.current = key ?? "";
    return actions.requests.ask("context", { place, pair, row: viewState.row });
  });
  const { problem, isWaiting } = reply;
  const factsReply = useReply(key, () => actions.requests.ask("context_facts", { place, pair }));
  // What could not be asked is not shown of the requests before.
  const data = problem === "" ? reply.data : null;
  const facts = factsReply.problem === "" ? factsReply.data : null;
  useMemo(() => {
    rows.current = new Map(data?.rows.map(row => [row.index, row]));
    requested.current = new Set();
  }, [data]);
  // A pair that is no longer there, as without plan B, gives way to the first.
  useEffect(() => {
    if (problem !== "" && pair !== "before") setPair("before");
  }, [problem, pair]);
  useEffect(() => {
    setToggled(new Set());
    setChange(0);
  }, [pair, data?.count]);

  const items = useMemo(
    () => (data === null ? [] : listItems(data.runs, folds, toggled)),
    [data, folds, toggled],
  );
  /** Takes the rows of a range, unless something else is compared by the time they come. */
  const take = (at: number, range: { from: number; to: number; most?: number }) => {
    const requestKey = request.current;
    actions.requests.ask("context", { place: at, pair, ...range }).then(
      reply => {
        if (requestKey !== request.current) return;
        for (const row of reply.rows) rows.current.set(row.index, row);
        redraw(count => count + 1);
      },
      (error: Error) => actions.announce(error.message),
    );
  };
  /** Has a page of rows sent. */
  const fetch = (index: number) => {
    const first = Math.floor(index / PAGE) * PAGE;
    if (data === null || isPage || requested.current.has(first)) return;
    requested.current.add(first);
    take(data.place, { from: first, to: first + PAGE });
  };
  const showWhole = (index: number) =>
    take(data?.place ?? place, { from: index, to: index + 1, most: WHOLE });
  const toggle = (run: ContextRun) => {
    const now = new Set(toggled);
    if (!now.delete(run.first)) now.add(run.first);
    setToggled(now);
  };
  const goTo = (number: number) => {
    if (data === null || number < 1 || number > data.changes) return;
    setChange(number);
    const index = items.findIndex(({ run }) => run.change === number);
    if (index >= 0) list.current?.reveal(index, true);
  };
  // The block that is selected elsewhere is shown here, out of its fold.
  const [revealed, setRevealed] = useState("");
  const { row } = viewState;
  useEffect(() => {
    if (data === null || row < 0 || tab !== "context" || revealed === `${row}`) return;
    const requestKey = request.current;
    actions.requests.ask("context", { place: data.place, pair, row, from: 0, to: 0 }).then(
      ({ chosen }) => {
        if (requestKey !== request.current) return;
        setRevealed(`${row}`);
        if (chosen < 0) return;
        const run = data.runs.find(({ first, end }) => chosen >= first && chosen < end);
        if (run !== undefined && isFolded(run, folds, toggled)) toggle(run);
        setTimeout(() =>
          list.current?.reveal(
            latest.current.findIndex(({ index }) => index === chosen),
            true,
          ),
        );
      },
      () => {},
    );
  }, [data, row, tab]);
  const latest = useRef(items);
  latest.current = items;

  const drawn = (first: number, end: number) => {
    for (let at = first; at < end; at++) {
      const index = items[at]?.index ?? -1;
      if (index >= 0 && !rows.current.has(index)) fetch(index);
    }
  };
  const after = isCurrent && data !== null ? data.right.tokens : totalAfter(plan, place);
  const refused = why >= 0 ? whyNot(scene, why) : isCurrent ? (data?.refused ?? "") : "";
  const onKeyDown = (event: KeyboardEvent) => {
    const way = { n: 1, N: -1 }[event.key];
    if (way === undefined || isModified(event)) return;
    claim(event);
    goTo(Math.max(1, change + way));
  };
  return (
    <div class="ci-ctx-columns" aria-busy={isWaiting}>
      <section class="ci-ctx-main" aria-label="Comparison" onKeyDown={onKeyDown}>
        <div class="ci-ctx-bar">
          <fieldset class="ci-choice" aria-label="What is compared">
            {(data?.pairs ?? ["before" as const]).map(id => (
              <button
                key={id}
                aria-pressed={id === pair}
                data-testid={`pair-${id}`}
                onClick={() => setPair(id)}
              >
                {PAIRS[id]}
              </button>
            ))}
          </fieldset>
          <label>
            <input
              type="checkbox"
              class="ci-knob"
              checked={folds}
              data-testid="fold"
              onChange={({ currentTarget }) => {
                setFolds(currentTarget.checked);
                setToggled(new Set());
              }}
            />{" "}
            Fold unchanged
          </label>
          <button class="ci-link ci-ctx-aside" aria-expanded={aside} onClick={() => showAside(!aside)}>
            Facts
          </button>
          <span class="ci-ctx-changes">
            <span data-testid="changes">
              {data === null
                ? ""
                : change > 0
                  ? `change ${change} of ${data.changes}`
                  : plural(data.changes, "change")}
            </span>{" "}
            <Step way={-1} {...{ change, goTo }} changes={data?.changes ?? 0} />
            <Step way={1} {...{ change, goTo }} changes={data?.changes ?? 0} />
          </span>
        </div>
        {refused !== "" && (
          <p class="ci-bad ci-ctx-refused" role="note">
            A provider would refuse it: {`${refused[0]?.toLowerCase()}${refused.slice(1)}`}
          </p>
        )}
        {(problem || data?.sentence) && <p class="ci-quiet">{problem || data?.sentence}</p>}
        {data !== null && (
          <>
            <div class="ci-ctx-heads">
              <Side letter="A" {...data.left} />
              <span />
              <Side letter="B" {...data.right} tokens={Math.max(0, after)} />
            </div>
            <Rows
              list={list}
              count={items.length}
              compared={`${pair} ${data.left.title} ${data.right.title}`}
              keyOf={at => `${pair} ${items[at]?.run.first} ${items[at]?.index}`}
              describe={at =>
                tellItem(items[at] as Item, rows.current, viewState.row, change, folds, toggled)
              }
              draw={at => {
                const item = items[at] as Item;
                if (item.index < 0)
                  return (
                    <Fold
                      run={item.run}
                      isOpen={!isFolded(item.run, folds, toggled)}
                      toggle={toggle}
                      {...{ change }}
                    />
                  );
                const row = rows.current.get(item.index);
                return row === undefined ? (
                  <p class="ci-quiet ci-ctx-row">{isPage ? "Its text is not in this page." : "…"}</p>
                ) : (
                  <Row
                    {...{ row, change, actions, showWhole }}
                    run={item.run}
                    chosen={viewState.row}
                    canAsk={!isPage}
                  />
                );
              }}
              drawn={drawn}
            />
          </>
        )}
      </section>
      {facts !== null && (
        <aside class="ci-ctx-facts" aria-label="Essential facts" data-open={aside}>
          {facts.sentence && <p class="ci-quiet">{facts.sentence}</p>}
          {FACTS.map(([id, title, note, one, side]) => (
            <FactList key={id} {...{ id, title, note, one, isPage, actions }} facts={facts[side]} />
          ))}
        </aside>
      )}
    </div>
  );
};

const isFolded = (run: ContextRun, folds: boolean, toggled: ReadonlySet<number>): boolean =>
  (run.folded && folds) !== toggled.has(run.first);

const listItems = (runs: readonly ContextRun[], folds: boolean, toggled: ReadonlySet<number>): Item[] =>
  runs.flatMap(run => {
    // The line by which it is folded and unfolded.
    const fold = run.folded ? [{ run, index: -1 }] : [];
    if (isFolded(run, folds, toggled)) return fold;
    return [
      ...fold,
      ...Array.from({ length: run.end - run.first }, (_, i) => ({ run, index: run.first + i })),
    ];
  });

/** All that an item shows: two summaries of one length are two. */
const tellItem = (
  { run, index }: Item,
  rows: ReadonlyMap<number, ContextRow>,
  chosen: number,
  change: number,
  folds: boolean,
  toggled: ReadonlySet<number>,
): string => {
  const own = run.change > 0 && run.change === change;
  if (index < 0) return JSON.stringify([run, isFolded(run, folds, toggled), own]);
  const row = rows.get(index);
  return JSON.stringify([row, row?.left?.row === chosen || row?.right?.row === chosen, own]);
};

interface StepProps {
  way: 1 | -1;
  change: number;
  changes: number;
  goTo(change: number): void;
}

const Step = ({ way, change, changes, goTo }: StepProps) => {
  const to = Math.max(1, change + way);
  return (
    <>
      <button
        class="ci-button"
        disabled={to > changes || to === change}
        aria-label={way > 0 ? "Next change" : "Previous change"}
        data-testid={way > 0 ? "change-next" : "change-previous"}
        onClick={() => goTo(to)}
      >
        {way > 0 ? "›" : "‹"}
      </button>
      <kbd>{way > 0 ? "n" : "N"}</kbd>
    </>
  );
};

const Side = ({
  letter,
  title,
  tokens,
  source,
}: {
  letter: string;
  title: string;
  tokens: number;
  source: string;
}) => (
  <span class="ci-ctx-head">
    <b>{letter}</b> {title}{" "}
    <b data-testid={`context-${letter === "A" ? "before" : "total"}`} title={`${exact(tokens)} tokens`}>
      {exact(tokens)}
    </b>{" "}
    <span class="ci-quiet">{source}</span>
  </span>
);

interface RowsProps {
  list: { current: Scroller | null };
  count: number;
  /** What is compared; another comparison begins at its top. */
  compared: string;
  keyOf(at: number): string;
  describe(at: number): string;
  draw(at: number): preact.ComponentChild;
  drawn(first: number, end: number): void;
}

/** The list: Preact draws each row into an element of the scroller. */
const Rows = (props: RowsProps) => {
  const holder = useRef<HTMLDivElement>(null);
  const newest = useRef(props);
  newest.current = props;
  useLayoutEffect(() => {
    const scroller = makeScroller({
      height: 25,
      role: "list",
      keyOf: at => newest.current.keyOf(at),
      describe: at => newest.current.describe(at),
      draw(at) {
        const node = h("div", { role: "listitem", class: "ci-ctx-item" });
        render(newest.current.draw(at), node);
        return { node, tall: true };
      },
      place: (node, at) => node.setAttribute("data-index", `${at}`),
      drawn: (first, end) => newest.current.drawn(first, end),
    });
    scroller.node.classList.add("ci-ctx-text");
    scroller.node.tabIndex = 0;
    scroller.node.setAttribute("role", "region");
    scroller.node.setAttribute("aria-label", "The two requests");
    props.list.current = scroller;
    holder.current?.append(scroller.node);
    return () => {
      scroller.dispose();
      scroller.node.remove();
      props.list.current = null;
    };
  }, []);
  // Other requests are read from their beginning.
  const held = useRef(props.compared);
  useLayoutEffect(() => {
    const { list, count, compared } = newest.current;
    const anchor = held.current === compared ? list.current?.hold() : { index: 0, hidden: 0 };
    held.current = compared;
    list.current?.show(count, anchor);
  });
  return <div class="ci-ctx-list" ref={holder} />;
};

interface FoldProps {
  run: ContextRun;
  isOpen: boolean;
  change: number;
  toggle(run: ContextRun): void;
}

const Fold = ({ run, isOpen, change, toggle }: FoldProps) => {
  const sides = [run.left > 0 || run.right === 0, run.right > 0];
  const both = run.kind === "same";
  const words = (
    <button
      class="ci-link ci-ctx-fold"
      aria-expanded={isOpen}
      data-testid="fold-run"
      onClick={() => toggle(run)}
    >
      <i aria-hidden="true">{isOpen ? "▾" : "▸"}</i> {run.label}
    </button>
  );
  return (
    <div class={`ci-ctx-row ci-ctx-${run.kind} ci-ctx-folded`} data-both={both}>
      <div class="ci-ctx-cell" data-empty={!sides[0]}>
        {sides[0] && words}
        {sides[0] && <span class="ci-ctx-tokens">{exact(run.left)}</span>}
      </div>
      <Gutter run={run} change={change} />
      <div class="ci-ctx-cell" data-empty={!sides[1]}>
        {sides[1] && !sides[0] && words}
        {sides[1] && <span class="ci-ctx-tokens">{exact(run.right)}</span>}
      </div>
    </div>
  );
};

const Gutter = ({ run, change }: { run: ContextRun; change: number }) => (
  <span class="ci-ctx-gutter" aria-current={run.change > 0 && run.change === change ? "true" : undefined}>
    {run.change > 0 ? run.change : ""}
  </span>
);

interface RowProps {
  row: ContextRow;
  run: ContextRun;
  change: number;
  chosen: number;
  canAsk: boolean;
  actions: Actions;
  showWhole(index: number): void;
}

const Row = ({ row, run, change, chosen, canAsk, actions, showWhole }: RowProps) => {
  const right = row.kind === "same" ? row.left : row.right;
  const more = (block: ContextBlock) =>
    canAsk && block.total > block.text.length && block.text.length < WHOLE ? (
      <button class="ci-link" onClick={() => showWhole(row.index)}>
        show all of it
      </button>
    ) : null;
  return (
    <div class={`ci-ctx-row ci-ctx-${row.kind}`} data-change={run.change || undefined}>
      <Cell block={row.left} side="left" words={row.words} {...{ chosen, actions, more }} />
      <Gutter run={run} change={change} />
      <Cell block={right} side="right" words={row.words} {...{ chosen, actions, more }} />
    </div>
  );
};

interface CellProps {
  block: ContextBlock | null;
  side: "left" | "right";
  words: Pieces;
  chosen: number;
  actions: Actions;
  more(block: ContextBlock): preact.ComponentChild;
}

const Cell = ({ block, side, words, chosen, actions, more }: CellProps) => {
  if (block === null) return <div class="ci-ctx-cell" data-empty="true" />;
  const { who, turn, state, tokens, text, total, ref, row, note } = block;
  const hidden = total - [...text].length;
  const about = [turn > 0 ? `turn ${turn}` : "", state === who ? "" : state].filter(Boolean).join(" · ");
  return (
    <div
      class="ci-ctx-cell"
      data-side={side}
      data-piece={ref}
      aria-current={row >= 0 && row === chosen ? "true" : undefined}
    >
      <div class="ci-ctx-margin">
        {row >= 0 ? (
          <button class="ci-link" onClick={() => actions.openBody(row)} title="Show it in Blocks">
            {who}
          </button>
        ) : (
          <b>{who}</b>
        )}
        <span>{about}</span>
        <span class="ci-ctx-tokens" title={`${exact(tokens)} tokens`}>
          {exact(tokens)}
        </span>
      </div>
      {note !== "" && <p class="ci-quiet">{note}</p>}
      {total > 0 && <pre>{words.length === 0 ? text : drawWords(words, side)}</pre>}
      {hidden > 0 && (
        <p class="ci-quiet" data-left={hidden}>
          {exact(hidden)} more characters {more(block)}
        </p>
      )}
    </div>
  );
};

/** The text of one side, with what the other does not have marked. */
const drawWords = (words: Pieces, side: "left" | "right"): preact.ComponentChild => {
  const without = side === "left" ? "new" : "gone";
  if (joinPieces(words, without) === "") return "(empty)";
  return words
    .filter(([kind]) => kind !== without)
    .map(([kind, text], at) => {
      if (kind === "gone") return <del key={at}>{text}</del>;
      return kind === "new" ? <ins key={at}>{text}</ins> : <span key={at}>{text}</span>;
    });
};

const FEW = 6;
const FACTS = [
  ["facts-only-in-a", "Only in A", "missing or changed in B", "missing or changed in B", "onlyLeft"],
  ["facts-only-in-b", "Only in B", "missing or changed in A", "missing or changed in A", "onlyRight"],
  ["facts-in-both", "In both", "essential facts that both keep", "essential fact that both keep", "both"],
] as const;

interface FactListProps {
  id: string;
  title: string;
  /** What it counts. */
  note: string;
  /** The same of a single one. */
  one: string;
  facts: ContextFacts;
  /** A page holds the history of none of them. */
  isPage: boolean;
  actions: Actions;
}

const FactList = ({ id, title, note, one, facts, isPage, actions }: FactListProps) => {
  const [all, showAll] = useState(false);
  const listed = all ? facts.facts : facts.facts.slice(0, FEW);
  const more = facts.count - listed.length;
  return (
    <section data-testid={id}>
      <h3>
        {title} <span class="ci-count">{short(facts.count)}</span>{" "}
        <span class="ci-quiet">{facts.count === 1 ? one : note}</span>
      </h3>
      <ul>
        {listed.map(fact => (
          <li key={fact.number}>
            <i class="ci-bad" title={fact.outcome && TRAITS[fact.outcome].label}>
              {fact.outcome && TRAITS[fact.outcome].sign}
            </i>
            {isPage ? (
              <span title={fact.form}>{fact.title}</span>
            ) : (
              <button class="ci-link" title={fact.form} onClick={() => actions.facts.open(fact)}>
                {fact.title}
              </button>
            )}
            <span class="ci-quiet">{fact.note}</span>
          </li>
        ))}
      </ul>
      {more > 0 && facts.facts.length > listed.length && (
        <button class="ci-link" onClick={() => showAll(true)}>
          {exact(more)} more
        </button>
      )}
    </section>
  );
};
