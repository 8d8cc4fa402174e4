// The policies in groups, each with what it would leave here: in the picker at the plan row, and in Rules.

import { useState } from "preact/hooks";
import { exact, short } from "../model/format";
import type { Policies } from "../model/policies";
import type { PolicyChoice, PolicyResult } from "../payloads/types";
import { claim } from "./keys";

export interface PolicyListProps {
  policies: Policies;
  /** The policy of the plan on the screen, and what that plan leaves: it may have settings and a cut of its own. */
  chosen: string;
  after: number;
  /** Absent if the list can only be read. */
  choose?: ((name: string) => void) | undefined;
}

interface Row {
  policy: PolicyChoice;
  /** The number of its variants; `of` names the first policy of a variant's family. */
  variants: number;
  of: string;
}

export const PolicyList = ({ policies, chosen, after, choose }: PolicyListProps) => {
  const { groups, results, sentence } = policies;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const isOpen = (names: readonly PolicyChoice[]) =>
    opened.has(names[0]?.name ?? "") || names.slice(1).some(({ name }) => name === chosen);
  const lists = groups.map(group => ({
    ...group,
    rows: group.families.flatMap(({ policies: names }): Row[] => {
      const [first, ...more] = names as [PolicyChoice, ...PolicyChoice[]];
      const rows = [{ policy: first, variants: more.length, of: first.name }];
      if (!isOpen(names)) return rows;
      return [...rows, ...more.map(policy => ({ policy, variants: 0, of: first.name }))];
    }),
  }));
  const all = lists.flatMap(({ rows }) => rows);
  const stop = all.some(({ policy }) => policy.name === chosen) ? chosen : all[0]?.policy.name;
  const toggle = (name: string, open = !opened.has(name)) => {
    const next = new Set(opened);
    if (open) next.add(name);
    else next.delete(name);
    setOpened(next);
  };

  const press = (event: KeyboardEvent) => {
    const options = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>("[role=option]")];
    const at = options.indexOf(document.activeElement as HTMLElement);
    const row = all[at];
    const move = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 }[event.key];
    if (move !== undefined) options[Math.max(0, Math.min(move, options.length - 1))]?.focus();
    else if (row !== undefined && (event.key === "Enter" || event.key === " ")) choose?.(row.policy.name);
    else if (row !== undefined && event.key === "ArrowRight" && row.variants > 0) toggle(row.of, true);
    else if (row !== undefined && event.key === "ArrowLeft") toggle(row.of, false);
    else return;
    claim(event);
  };

  const click = (event: MouseEvent) => {
    const target = event.target as Element;
    const row = all.find(
      ({ policy }) => policy.name === target.closest<HTMLElement>("[role=option]")?.dataset.policy,
    );
    if (row === undefined) return;
    if (target.closest(".ci-variants") === null) choose?.(row.policy.name);
    else toggle(row.of);
  };

  return (
    <div
      class="ci-policies"
      role="listbox"
      tabIndex={-1}
      aria-label="Policies"
      onKeyDown={press}
      onClick={click}
    >
      {lists.map(({ id, label, rows, note }) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options, no fields of a form.
        <div key={id} role="group" aria-label={label}>
          <h4>
            {label}
            {note && <span class="ci-quiet"> · {note}</span>}
          </h4>
          {rows.map(({ policy, variants, of }) => {
            const { name, title, source } = policy;
            const isChosen = name === chosen;
            const resultText = describe(results.get(name), isChosen ? after : undefined);
            return (
              <div
                key={name}
                role="option"
                tabIndex={name === stop ? 0 : -1}
                aria-selected={isChosen}
                aria-disabled={choose === undefined && !isChosen}
                class={`ci-policy ${resultText.refused ? "ci-refused" : ""} ${name === of ? "" : "ci-variant"}`}
                data-policy={name}
                title={source}
              >
                <span class="ci-policy-name">
                  {title}
                  {variants > 0 && (
                    <span
                      class="ci-variants"
                      title={opened.has(of) ? "Hide its variants" : `${variants} more of this family`}
                    >
                      {opened.has(of) ? "▾" : "▸"}
                    </span>
                  )}
                </span>
                <span class="ci-policy-word" title={resultText.sentence}>
                  {resultText.word}
                </span>
                <span class="ci-policy-after" title={resultText.exact}>
                  {resultText.after}
                </span>
              </div>
            );
          })}
        </div>
      ))}
      {sentence && <p class="ci-quiet">{sentence}</p>}
    </div>
  );
};

/** The figure at the right of a row; the current plan has its own. */
const describe = (result: PolicyResult | undefined, after: number | undefined) => {
  if (after !== undefined && after >= 0) {
    const { word, sentence, refused } = result ?? { word: "", sentence: "", refused: false };
    // A word that says why nothing goes is no word for a plan in which a hand has cut.
    const fits = result === undefined || result.after === after;
    return {
      after: short(after),
      exact: `${exact(after)} tokens`,
      ...(fits ? { word, sentence, refused } : BARE),
    };
  }
  if (result === undefined) return { ...BARE, after: "…", exact: "is being planned" };
  const total = result.after ?? -1;
  return {
    ...result,
    after: total < 0 ? "" : short(total),
    exact: total < 0 ? "" : `${exact(total)} tokens`,
  };
};

const BARE = { word: "", sentence: "", refused: false };
