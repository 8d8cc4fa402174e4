// Findings: important facts that a compaction lost or changed, and the history of the chosen one.

import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { exact } from "../../model/format";
import { TRAITS } from "../../model/outcomes";
import type { TabId } from "../../model/tabs";
import type { FindingRow, FindingsReply, StoryReply } from "../../payloads/types";
import { makeComponentView, type PanelProps } from "../../store/component";
import { ASKING } from "../../store/facts";
import { useReply } from "../../store/use-reply";
import type { Actions, View } from "../../store/view";
import { claim, upOrDown } from "../../ui/keys";
import { breakPath, isLiteral, Story } from "./story";

/** The number of rows of a group shown before "more" is pressed. */
const FEW = 8;

const UNGROUNDED = "Only in the summary";

interface FindingsProps extends PanelProps {
  /** The tab that they are in. */
  tab?: TabId;
  /** Stays above the list. */
  head?: ComponentChild;
}

export const makeFindings = (actions: Actions): View =>
  makeComponentView(Findings, actions, ["scene", "plan", "look", "tab", "settled", "selection"]);

export const Findings = ({ viewState, actions, tab = "findings", head }: FindingsProps) => {
  const { scene, look, planned, place, settled, needsKernel, dragging } = viewState;
  // A finding that a fix has taken from the list stays open, as the plan now keeps it.
  const [fixed, setFixed] = useState<FindingRow | null>(null);
  const [chosen, setChosen] = useState<FindingRow | null>(null);
  const end = `${scene.entryIds[0]} ${scene.entryIds.at(-1)}`;
  const judged = `${end} ${scene.judged}`;
  const [pick, setPick] = useState("");
  useEffect(() => setFixed(null), [end]);
  useEffect(() => {
    setPick("");
    if (look !== "plan") setFixed(null);
  }, [look]);
  const shown = look === "" ? "plan" : look;
  const isOpen = viewState.tab === tab && settled && !dragging && !viewState.opening;
  const plan = JSON.stringify([planned.policy, planned.pins, planned.cut.id, planned.recipe]);
  const { rows } = viewState.tracing.filter;
  const request = { look: shown, place, ...(rows && { rowFrom: rows[0], rowTo: rows[1] }) };
  const list = useReply<FindingsReply>(
    isOpen ? `${judged} ${rows} ${shown} ${shown.startsWith("recorded:") ? "" : plan}` : null,
    () => actions.requests.ask("findings", request),
  );
  const reply = list.data;
  useEffect(() => {
    if (reply !== null && rows === null)
      actions.countTab("findings", reply.total > 0 ? exact(reply.total) : "");
  }, [reply]);
  const findings = reply?.groups.flatMap(group => group.rows) ?? [];
  const row =
    findings.find(finding => chosen !== null && isSame(finding, chosen)) ??
    // A judgement moves it to another group.
    findings.find(
      finding => chosen !== null && finding.kind === chosen.kind && finding.form === chosen.form,
    ) ??
    fixed ??
    findings[0] ??
    null;
  const at = row === null ? -1 : findings.indexOf(row);
  const shownPick = pick || (at < 0 ? shown : row!.pick);
  const story = useReply<StoryReply>(
    isOpen && row !== null && !list.isStale
      ? `${judged} ${shown} ${shownPick} ${row.kind} ${row.form} ${plan}`
      : null,
    () =>
      actions.requests.ask("story", {
        ...{ place, number: row!.number, kind: row!.kind, form: row!.form },
        pick: shownPick,
      }),
  );
  // The lanes show the mentions of the fact, no matter which tab opened it.
  useEffect(() => {
    if (isOpen && story.data !== null) actions.facts.show(story.data);
  }, [story.data, isOpen]);
  const [isList, setIsList] = useState(false);
  if (reply === null || list.problem !== "")
    return (
      <div class="ci-fd">
        {head && <div class="ci-fd-head">{head}</div>}
        <p class="ci-quiet">{list.problem || "Looking for what was lost …"}</p>
      </div>
    );
  const choose = (next: FindingRow | undefined) => {
    if (next === undefined) return;
    setChosen(next);
    setFixed(null);
    setPick("");
  };
  const report = story.problem === "" ? story.data : null;
  // A fact that was judged not lost is no finding: the tab does not count it either.
  const counted = reply.groups.flatMap(group => (group.id === "judged" ? [] : group.rows));
  const number = row === null ? -1 : counted.indexOf(row);
  return (
    <div class="ci-fd" data-showing={isList || row === null || story.problem !== "" ? "list" : "story"}>
      {head && <div class="ci-fd-head">{head}</div>}
      <div class="ci-fd-list" aria-busy={list.isWaiting}>
        {reply.sentence && <p data-testid="findings-none">{reply.sentence}</p>}
        <List
          {...{ reply, row }}
          rows={findings}
          isOpen={viewState.tab === tab}
          choose={choose}
          open={() => setIsList(false)}
        />
        {reply.ungrounded.length > 0 && <Ungrounded lines={reply.ungrounded} />}
        {reply.unchecked && <p class="ci-quiet">{reply.unchecked}</p>}
        {row === null && (
          <button class="ci-link" onClick={() => actions.openTab("facts")}>
            All facts
          </button>
        )}
      </div>
      {report === null && row !== null && <p class="ci-quiet">{story.problem || ASKING}</p>}
      {viewState.tab === tab && report !== null && row !== null && (
        <div class="ci-fd-story">
          <nav class="ci-fd-back" aria-label="Findings">
            <button class="ci-link" onClick={() => setIsList(true)}>
              ‹ Findings
            </button>
            <span>
              {list.isStale
                ? "…"
                : number < 0
                  ? `${exact(reply.total)} left`
                  : `${number + 1} of ${exact(reply.total)}`}
            </span>
            <button class="ci-link" onClick={() => choose(findings[at + 1])}>
              next ›
            </button>
          </nav>
          <Story
            story={report}
            isStale={story.isStale}
            isWaiting={story.isWaiting}
            isPage={needsKernel !== ""}
            actions={actions}
            onFix={() => {
              choose(row);
              setFixed(row);
            }}
            onJudge={() => setChosen(row)}
            onPick={setPick}
          />
        </div>
      )}
    </div>
  );
};

/** Lines of the summary without a source; they are no facts, so nothing can be asked about them. */
const Ungrounded = ({ lines }: { lines: readonly string[] }) => (
  <section class="ci-fd-lines" aria-label={UNGROUNDED} data-testid="ungrounded">
    <h3>
      {UNGROUNDED} <span class="ci-count">{exact(lines.length)}</span>
    </h3>
    <ul>
      {lines.map(line => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  </section>
);

export const isSame = (finding: FindingRow, other: FindingRow): boolean =>
  finding.code === other.code &&
  finding.pick === other.pick &&
  finding.kind === other.kind &&
  finding.form === other.form;

interface ListProps {
  /** Its tab is open: two tabs have the same list. */
  isOpen: boolean;
  reply: FindingsReply;
  rows: readonly FindingRow[];
  row: FindingRow | null;
  choose(row: FindingRow): void;
  /** The history replaces the list if there is no room for both. */
  open(): void;
}

/** The groups; one stop of the tab key, with arrows inside. */
const List = ({ reply, rows, row, isOpen, choose, open }: ListProps) => {
  const [whole, setWhole] = useState<readonly string[]>([]);
  const node = useRef<HTMLFieldSetElement>(null);
  const move = (event: KeyboardEvent) => {
    const way = upOrDown(event);
    const next = way && rows[rows.indexOf(row!) + way];
    if (!next) return;
    claim(event);
    choose(next);
    const at = rows.indexOf(next);
    requestAnimationFrame(() => node.current?.querySelectorAll<HTMLElement>(".ci-fd-row")[at]?.focus());
  };
  return (
    <fieldset class="ci-fd-plain" ref={node} onKeyDown={move} aria-label="Findings">
      {reply.groups.map(group => {
        const some = whole.includes(group.id) ? group.rows : group.rows.slice(0, FEW);
        const hidden = group.rows.length - some.length;
        return (
          <section key={group.id} aria-label={group.title}>
            <h3>
              {group.title} <span class="ci-count">{exact(group.count)}</span>
              <span class="ci-fd-sum">{group.note}</span>
            </h3>
            {some.map(finding => (
              <button
                class="ci-fd-row"
                key={`${finding.code} ${finding.pick} ${finding.kind} ${finding.form}`}
                aria-current={finding === row ? "true" : undefined}
                tabIndex={finding === row ? 0 : -1}
                data-testid={isOpen ? "finding" : undefined}
                onClick={() => {
                  choose(finding);
                  open();
                }}
              >
                <span
                  class={`ci-fd-sign-${finding.sign}`}
                  title={finding.sign === "again" ? group.title : TRAITS[finding.outcome].label}
                >
                  {finding.sign === "again" ? "↺" : TRAITS[finding.outcome].sign}
                </span>
                <span class={isLiteral(finding.kind) ? "ci-st-literal" : ""} title={finding.form}>
                  {breakPath(finding.title)}
                </span>
                <span class="ci-fd-note">
                  {finding.note}
                  {finding.verdict === "right" && " ✓"}
                </span>
              </button>
            ))}
            {hidden > 0 && (
              <button class="ci-link" onClick={() => setWhole([...whole, group.id])}>
                Show {hidden} more
              </button>
            )}
          </section>
        );
      })}
    </fieldset>
  );
};
