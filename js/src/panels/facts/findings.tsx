// Findings: what a compaction lost or changed that matters, and the story of the chosen one.
import { useEffect, useRef, useState } from "preact/hooks";
import { exact } from "../../model/format";
import { TRAITS } from "../../model/outcomes";
import type { FindingRow, FindingsReply, StoryReply } from "../../payloads/types";
import type { PanelProps } from "../../store/component";
import { useReply } from "../../store/use-reply";
import { breakPath, isLiteral, Story } from "./story";

/** So many rows of a group stand there until more are asked for. */
const FEW = 8;

export const Findings = ({ picture, actions }: PanelProps) => {
  const { scene, look, planned, place, settled, tab, needsKernel, dragging } = picture;
  // A fix that was made here leaves the list as it was: what it mended is seen in its place.
  const [stay, setStay] = useState<string | null>(null);
  const [chosen, setChosen] = useState<FindingRow | null>(null);
  const end = `${scene.entryIds[0]} ${scene.entryIds.at(-1)}`;
  useEffect(() => setStay(null), [end]);
  useEffect(() => {
    // Undone: the recorded side is looked at again.
    if (look === stay) setStay(null);
  }, [look]);
  const shown = stay ?? (look === "" ? "plan" : look);
  const isOpen = tab === "findings" && settled && !dragging;
  const plan = JSON.stringify([planned.policy, planned.pins, planned.cut.id, planned.recipe]);
  const asked = { look: shown, place };
  const [pick, setPick] = useState("");
  const list = useReply<FindingsReply>(
    isOpen ? `${end} ${shown} ${shown.startsWith("recorded:") ? "" : plan}` : null,
    () => actions.requests.ask("findings", asked),
  );
  const reply = list.data;
  useEffect(() => {
    if (reply !== null) actions.countTab("findings", reply.total > 0 ? exact(reply.total) : "");
  }, [reply]);
  const rows = reply?.groups.flatMap(group => group.rows) ?? [];
  // One that a fix of the plan has taken off the list is told all the same, until another is chosen.
  const row =
    rows.find(each => chosen !== null && isSame(each, chosen)) ??
    (stay === null ? null : chosen) ??
    rows[0] ??
    null;
  const story = useReply<StoryReply>(
    isOpen && row !== null ? `${end} ${shown} ${pick || row.pick} ${row.kind} ${row.form} ${plan}` : null,
    () =>
      actions.requests.ask("story", {
        ...{ place, number: row!.number, kind: row!.kind, form: row!.form },
        pick: pick || row!.pick,
      }),
  );
  // The lanes show where it is named, whichever tab told of it.
  useEffect(() => {
    if (isOpen && story.data !== null) actions.facts.show(story.data);
  }, [story.data, isOpen]);
  const [isList, setIsList] = useState(false);
  if (reply === null) return <p class="ci-quiet">{list.problem || "Looking for what was lost …"}</p>;
  const step = (way: 1 | -1) => {
    const next = rows[rows.indexOf(row!) + way];
    if (next === undefined) return;
    setChosen(next);
    setPick("");
  };
  const told = story.data;
  return (
    <div class="ci-fd" data-showing={isList || row === null ? "list" : "story"}>
      <div class="ci-fd-list">
        {reply.sentence && <p data-testid="findings-none">{reply.sentence}</p>}
        <List
          {...{ reply, row, rows }}
          choose={each => {
            setChosen(each);
            setPick("");
          }}
          open={() => setIsList(false)}
        />
        {reply.unchecked && <p class="ci-quiet">{reply.unchecked}</p>}
        {row === null && (
          <button type="button" class="ci-link" onClick={() => actions.openTab("facts")}>
            All facts
          </button>
        )}
      </div>
      {told === null && row !== null && (
        <p class="ci-quiet">{story.problem || "Looking for what became of it …"}</p>
      )}
      {tab === "findings" && told !== null && row !== null && (
        <div class="ci-fd-story">
          <nav class="ci-fd-back" aria-label="Findings">
            <button type="button" class="ci-link" onClick={() => setIsList(true)}>
              ‹ Findings
            </button>
            <span>
              {rows.indexOf(row) + 1} of {rows.length}
            </span>
            <button type="button" class="ci-link" onClick={() => step(1)}>
              next ›
            </button>
          </nav>
          <Story
            story={told}
            isPage={needsKernel !== ""}
            actions={actions}
            onFix={() => {
              setStay(shown);
              setChosen(row);
            }}
            onPick={setPick}
          />
        </div>
      )}
    </div>
  );
};

export const isSame = (one: FindingRow, other: FindingRow): boolean =>
  one.code === other.code && one.pick === other.pick && one.kind === other.kind && one.form === other.form;

interface ListProps {
  reply: FindingsReply;
  rows: readonly FindingRow[];
  row: FindingRow | null;
  choose(row: FindingRow): void;
  /** Its story takes the list's place, where there is no room for both. */
  open(): void;
}

/** The groups; one stop of the tab key, with arrows inside. */
const List = ({ reply, rows, row, choose, open }: ListProps) => {
  const [whole, setWhole] = useState<readonly string[]>([]);
  const node = useRef<HTMLFieldSetElement>(null);
  const move = (event: KeyboardEvent) => {
    const way = ({ ArrowDown: 1, ArrowUp: -1 } as Record<string, number>)[event.key];
    const next = way && rows[rows.indexOf(row!) + way];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next);
    const at = rows.indexOf(next);
    requestAnimationFrame(() => node.current?.querySelectorAll<HTMLElement>(".ci-fd-row")[at]?.focus());
  };
  return (
    <fieldset class="ci-fd-plain" ref={node} onKeyDown={move} aria-label="Findings">
      {reply.groups.map(group => {
        const some = whole.includes(group.id) ? group.rows : group.rows.slice(0, FEW);
        const left = group.rows.length - some.length;
        return (
          <section key={group.id} aria-label={group.title}>
            <h3>
              {group.title} <span class="ci-count">{exact(group.count)}</span>
              <span class="ci-fd-sum">{group.note}</span>
            </h3>
            {some.map(each => (
              <button
                type="button"
                class="ci-fd-row"
                key={`${each.code} ${each.pick} ${each.kind} ${each.form}`}
                aria-current={each === row ? "true" : undefined}
                tabIndex={each === row ? 0 : -1}
                data-testid="finding"
                onClick={() => {
                  choose(each);
                  open();
                }}
              >
                <span
                  class={`ci-fd-sign-${each.sign}`}
                  title={each.sign === "again" ? group.title : TRAITS[each.outcome].label}
                >
                  {each.sign === "again" ? "↺" : TRAITS[each.outcome].sign}
                </span>
                <span class={isLiteral(each.kind) ? "ci-st-literal" : ""} title={each.form}>
                  {breakPath(each.title)}
                </span>
                <span class="ci-fd-note">{each.note}</span>
              </button>
            ))}
            {left > 0 && (
              <button type="button" class="ci-link" onClick={() => setWhole([...whole, group.id])}>
                Show {left} more
              </button>
            )}
          </section>
        );
      })}
    </fieldset>
  );
};
