// Compactions: a row for each recorded compaction and for the plan, with its losses. The whole screen shows the chosen
// row; below it are its findings, and next to it the evidence for one of them.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { exact, plural, short } from "../../model/format";
import { totalAfter } from "../../model/plan";
import type { BoundaryPayload, CompactionCounts, CompactionsReply } from "../../payloads/types";
import { makeComponentView, type PanelProps } from "../../store/component";
import { useReply } from "../../store/use-reply";
import type { Actions, View } from "../../store/view";
import { claim, isModified, upOrDown } from "../../ui/keys";
import { Findings } from "./findings";

const FILTERS = { all: "All", auto: "Only auto", losses: "Only with losses" } as const;
type Filter = keyof typeof FILTERS;

/** The kinds of facts that may be missing, as named in the table, with what else a column counts. */
const KINDS = [
  ["files", "files", ""],
  ["rules", "rules", "rules, choices and statements"],
  ["errors", "errors", ""],
  ["links", "links", "addresses and ids that you gave"],
  ["to-dos", "todos", "to-dos, and what was said last"],
  ["changed", "changed", ""],
] as const;
const NONE: Record<string, string> = {
  auto: "None of them is automatic.",
  losses: "None of them has losses.",
};
const UNWRITTEN = "The summary may name them.";

export const makeCompactions = (actions: Actions): View =>
  makeComponentView(Panel, actions, ["scene", "plan", "look", "tab", "settled", "selection"], {
    class: "ci-cp",
    "data-testid": "compaction-table",
    "aria-label": "Compactions",
  });

/** A row of the table: sizes are known at once, counts once the facts have been found. */
interface Line {
  readonly look: string;
  readonly isClearing: boolean;
  readonly sign: string;
  readonly at: string | undefined;
  readonly trigger: string;
  readonly before: number | null;
  readonly after: number;
  readonly source: string;
  readonly counts: CompactionCounts | undefined;
}

const Panel = ({ viewState, actions }: PanelProps) => (
  <Findings {...{ viewState, actions }} tab="compactions" head={<Table {...{ viewState, actions }} />} />
);

const Table = ({ viewState, actions }: PanelProps) => {
  const { scene, tab, settled, dragging, place, planned, look, opening, history } = viewState;
  const [filter, setFilter] = useState<Filter>("all");
  const body = useRef<HTMLTableSectionElement>(null);
  const isOpen = tab === "compactions" && settled && !dragging;
  const plan = JSON.stringify([planned.policy, planned.pins, planned.cut.id, planned.recipe]);
  const end = `${scene.entryIds[0]} ${scene.entryIds.at(-1)} ${scene.boundaries.length} ${scene.judged}`;
  const { data, problem, isStale, isWaiting } = useReply<CompactionsReply>(
    isOpen ? `${end} ${plan}` : null,
    () => actions.requests.ask("compactions", { place }),
  );
  const marks = scene.boundaries.filter(mark => mark.look !== "");
  useEffect(
    () =>
      actions.countTab(
        "compactions",
        countMarks(
          marks.map(({ kind }) => kind === "micro"),
          true,
        ),
      ),
    [scene],
  );
  // Opens on the compaction with the most harm, unless the user has chosen or changed something already.
  useEffect(() => {
    if ((data === null && problem === "") || !(opening || data?.go)) return;
    const worst = marks.find(mark => mark.look === data?.worst);
    const isUntouched = history.undo === "" && look !== "plan" && settled && !dragging;
    actions.openOn(data?.go && isUntouched ? worst : undefined);
  }, [data, problem]);

  const recorded = marks.map((mark): Line => makeLine(mark, data));
  const shown = recorded.filter(line => passes(line, filter));
  const isEdited = look === "plan" || look === "";
  const lines: Line[] = [
    ...shown,
    ...(isEdited ? [makePlanLine(viewState, isStale ? undefined : data?.plan)] : []),
  ];
  const most = {
    missing: Math.max(1, ...lines.map(({ counts }) => (counts ? countMissing(counts) : 0))),
    tokens: Math.max(1, ...lines.map(({ counts }) => counts?.againTokens ?? 0)),
  };
  // Few sessions lose a link.
  const kinds = KINDS.filter(([, kind]) => kind !== "links" || lines.some(({ counts }) => counts?.links));
  const current = isEdited ? "plan" : look;
  // If the filter hides the chosen row, the tab key reaches the first one.
  const reached = lines.find(line => line.look === current) ?? lines[0];
  useLayoutEffect(() => {
    const row = body.current?.querySelector<HTMLElement>("[aria-current]");
    const frame = row?.closest<HTMLElement>(".ci-fd-head");
    if (!row || !frame) return;
    const [inner, outer] = [row.getBoundingClientRect(), frame.getBoundingClientRect()];
    // The names of the columns stay at the top.
    const top = outer.top + (row.closest("table")?.tHead?.offsetHeight ?? 0);
    if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom;
    else if (inner.top < top) frame.scrollTop += inner.top - top;
  }, [current, data, lines.length]);
  const choose = (line: Line) => actions.lookAt(line.look, line.look === "plan" ? undefined : line.at);
  const move = (event: KeyboardEvent) => {
    const way = upOrDown(event) ?? ({ j: 1, k: -1 } as Record<string, number>)[event.key];
    if (way === undefined || isModified(event)) return;
    claim(event);
    const next = lines[lines.findIndex(line => line.look === current) + way];
    if (next === undefined) return;
    choose(next);
    body.current?.querySelector<HTMLElement>(`[data-look="${next.look}"]`)?.focus();
  };
  return (
    <section class="ci-cp-table" aria-label="All compactions">
      {marks.length === 0 && <p class="ci-quiet">No compaction is recorded.</p>}
      <div class="ci-cp-bar">
        {marks.length > 1 && (
          <fieldset class="ci-choice" aria-label="Which compactions">
            {(Object.keys(FILTERS) as Filter[]).map(id => (
              <button
                key={id}
                aria-pressed={id === filter}
                data-testid={`compactions-${id}`}
                onClick={() => setFilter(id)}
              >
                {FILTERS[id]}
                <small>
                  {countMarks(recorded.filter(line => passes(line, id)).map(line => line.isClearing)) || "0"}
                </small>
              </button>
            ))}
          </fieldset>
        )}
        <span class="ci-cp-key">
          harm: <i class="ci-cp-missing" /> facts lost or changed <i class="ci-cp-again" /> tokens needed
          again
        </span>
      </div>
      {problem !== "" && <p class="ci-quiet">{problem}</p>}
      {marks.length > 0 && shown.length === 0 && <p class="ci-quiet">{NONE[filter]}</p>}
      <table hidden={lines.length === 0}>
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              turn · time · trigger
            </th>
            <th scope="col">before → after</th>
            <th scope="col" class="ci-cp-wide">
              removed
            </th>
            <th scope="col">harm</th>
            {kinds.map(([name, , counted]) => (
              <th scope="col" key={name} class="ci-number" title={counted}>
                {name}
              </th>
            ))}
            <th scope="col" class="ci-number">
              needed again
            </th>
            <th scope="col" class="ci-number ci-cp-wide">
              summary
            </th>
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={move}>
          {lines.map(line => (
            <Row
              key={line.look}
              {...{ line, kinds, most, choose }}
              chosen={line.look === current}
              isReached={line === reached}
              waiting={isWaiting}
              problem={problem}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
};

/** "2", "3 clearings" or "2 + 3 clearings", in a tab "2 ◇3"; "" for none. */
const countMarks = (areClearings: readonly boolean[], isTab = false): string => {
  const clearings = areClearings.filter(Boolean).length;
  const compactions = areClearings.length - clearings;
  const cleared = isTab ? `◇${exact(clearings)}` : plural(clearings, "clearing");
  const counts = [compactions && exact(compactions), clearings && cleared];
  return counts.filter(Boolean).join(isTab ? " " : " + ");
};

const passes = (line: Line, filter: Filter): boolean => {
  if (filter === "auto") return line.trigger === "auto";
  return filter === "all" || (line.counts !== undefined && countMissing(line.counts) > 0);
};

const makeLine = (mark: BoundaryPayload, data: CompactionsReply | null): Line => ({
  ...{
    look: mark.look,
    isClearing: mark.kind === "micro",
    sign: mark.sign,
    at: mark.at,
    trigger: mark.trigger,
  },
  ...{ before: mark.before, after: mark.after, source: mark.source },
  counts: data?.rows.find(row => row.look === mark.look),
});

const makePlanLine = ({ planned, place }: PanelProps["viewState"], counts: Line["counts"]): Line => ({
  ...{ look: "plan", isClearing: false, sign: "plan", at: undefined, trigger: planned.policyTitle },
  ...{ before: planned.before.total, after: totalAfter(planned, place), source: "" },
  counts,
});

/** Facts missing or changed. */
const countMissing = (counts: CompactionCounts): number =>
  KINDS.reduce((sum, [, kind]) => sum + counts[kind], 0);

interface RowProps {
  line: Line;
  kinds: readonly (typeof KINDS)[number][];
  most: { missing: number; tokens: number };
  chosen: boolean;
  /** The row that the tab key reaches. */
  isReached: boolean;
  /** The counts have not come yet. */
  waiting: boolean;
  /** Why they will not come. */
  problem: string;
  choose(line: Line): void;
}

const Row = ({ line, kinds, most, chosen, isReached, waiting, problem, choose }: RowProps) => {
  const { counts } = line;
  const empty = waiting ? "…" : "–";
  // A file may not say which outputs were cleared.
  const isCounted = !line.isClearing || counts?.known;
  const about = counts
    ? [counts.turn > 0 ? `${counts.turn}` : "", counts.time, line.trigger]
    : [line.trigger];
  const show = (name: string, count: number | undefined) => {
    // A clearing writes no summary: nothing is looked for in one if the file says what it cleared.
    const words =
      counts === undefined || (line.isClearing && counts.known && !count)
        ? empty
        : counts.known || count
          ? exact(count ?? 0)
          : "?";
    const isUncertain = counts !== undefined && !counts.known && !!count;
    return (
      <td
        key={name}
        class={isUncertain ? "ci-number ci-unsure" : count ? "ci-number ci-bad" : "ci-number ci-quiet"}
        title={isUncertain ? UNWRITTEN : undefined}
        data-name={name}
      >
        {words}
      </td>
    );
  };
  return (
    <tr
      data-look={line.look}
      tabIndex={isReached ? 0 : -1}
      aria-current={chosen ? "true" : undefined}
      data-testid="compaction"
      title={counts === undefined ? problem : undefined}
      onClick={() => choose(line)}
    >
      <th scope="row">{line.sign}</th>
      <td class="ci-cp-about" title={about.filter(Boolean).join(" · ")}>
        {about.filter(Boolean).join(" · ")}
      </td>
      <td title={line.source}>
        {line.before === null ? "?" : short(line.before)} → <b>{short(line.after)}</b>
      </td>
      <td class="ci-cp-wide" title={counts && isCounted ? `${plural(counts.kept, "block")} kept` : undefined}>
        {counts === undefined ? empty : isCounted ? plural(counts.taken, "block") : "?"}
      </td>
      <td class="ci-cp-harm" aria-hidden="true">
        {counts?.known && (
          <>
            <i class="ci-cp-missing" style={{ width: `${(100 * countMissing(counts)) / most.missing}%` }} />
            <i class="ci-cp-again" style={{ width: `${(100 * counts.againTokens) / most.tokens}%` }} />
          </>
        )}
      </td>
      {kinds.map(([name, kind]) => show(name, counts?.[kind]))}
      <td
        class={counts?.again === 0 ? "ci-number ci-quiet" : "ci-number"}
        data-name="needed again"
        title={
          counts?.again ? `${plural(counts.again, "fact")}, ${exact(counts.againTokens)} tokens` : undefined
        }
      >
        {counts === undefined
          ? empty
          : counts.again === 0
            ? "0"
            : [exact(counts.again), short(counts.againTokens), counts.againPrice].filter(Boolean).join(" · ")}
      </td>
      <td class="ci-number ci-cp-wide">{counts?.summary || empty}</td>
    </tr>
  );
};
