// How one line of the list looks: a block, a folded run of blocks, or a cut between them.

import { type BlockTitle, nameBlock } from "../../model/block-titles";
import type { Compared, Side } from "../../model/compare";
import { type CutLine, type Fold, fatesOf, type Item } from "../../model/folds";
import { exact, nameTurns, plural, sayPlace, short, signed } from "../../model/format";
import { isUncut, type Plan, type Scene, summaryAt, turnOfRow } from "../../model/plan";
import type { ViewState } from "../../store/view";
import { chip, h } from "../../ui/dom";

/** The view state and the comparison of its list. */
export interface Sight {
  viewState: ViewState;
  compared: Compared;
}

/** All that `drawRow`, `drawFold` and `drawCut` show of an item of one scene and plan B, in a few signs. */
export const tellItem = (viewState: ViewState, compared: Compared, item: Item): string => {
  if (item.kind === "cut") {
    const { plan, place, summary } = cutOf(viewState, item);
    return `${place} ${sayPlace(viewState.scene, plan, place)} ${saySummary(plan, place, summary)}`;
  }
  if (item.kind === "fold")
    return `${item.to} ${item.before} ${item.after} ${item.same} ${[...item.fates].join(" ")}`;
  const [left, right] = [compared.left(item.row), compared.right(item.row)];
  return `${left.fate} ${left.tokens} ${right.fate} ${right.tokens} ${item.row === viewState.row}`;
};

export const drawRow = (
  { viewState, compared }: Sight,
  row: number,
  label: BlockTitle | undefined,
  open: boolean,
  newTurn: boolean,
) => {
  const { scene } = viewState;
  const [left, right] = [compared.left(row), compared.right(row)];
  const section = scene.sections[scene.blockSection[row] as number];
  const same = compared.isSame(row);
  const fateOf = (side: Side) => scene.fates[side.fate];
  // What is dropped stays in the file, and in the list.
  const gone = !compared.two && fateOf(right)?.id === "dropped";
  return h(
    "div",
    {
      role: "row",
      class: `ci-row${same ? " ci-same" : ""}${gone ? " ci-gone" : ""}${row === viewState.row ? " ci-chosen" : ""}`,
      "data-testid": "fate-row",
      "data-row": row,
      "aria-expanded": String(open),
      "aria-selected": String(row === viewState.row),
    },
    cell(newTurn ? "ci-turn" : "ci-turn ci-ditto", String(turnOfRow(scene, row) + 1)),
    cell(
      "ci-what",
      chip(section?.id ?? "unknown", compared.two ? undefined : fateOf(right)?.id),
      h("span", { class: "ci-section" }, section?.label ?? ""),
      ...sayLabel(label, section?.label ?? ""),
    ),
    ...(compared.two
      ? [drawFate(fateOf(left)), drawFate(same ? undefined : fateOf(right))]
      : [cell("ci-fate", fateOf(right)?.label ?? "", ...drawLeft(left.tokens, right.tokens))]),
    ...drawNumbers(compared, left.tokens, right.tokens, same),
  );
};

const cell = (kind: string, ...content: (Node | string)[]) =>
  h("span", { role: "gridcell", class: kind }, ...content);

/** What is left of a part, for layouts without a column of it: all and nothing are written as words. */
const drawLeft = (before: number, after: number, sign = ""): HTMLElement[] =>
  0 < after && after < before ? [h("span", { class: "ci-left" }, `${sign}${short(after)}`)] : [];

const drawFate = (fate: Scene["fates"][number] | undefined) =>
  cell(
    "ci-fate",
    ...(fate === undefined ? [h("span", { class: "ci-quiet" }, "same")] : [chip("ink", fate.id), fate.label]),
  );

/** Tokens before and after, or the tokens after A and the difference in B. */
const drawNumbers = ({ two }: Compared, left: number, right: number, same: boolean) => {
  const change = two
    ? h(
        "span",
        { role: "gridcell", class: "ci-number", title: `B ${exact(right)}` },
        signedExact(right - left),
      )
    : cell("ci-number", exact(right));
  if (same) change.replaceChildren();
  return [cell("ci-number", exact(left)), change];
};

const signedExact = (tokens: number) => (tokens > 0 ? `+${exact(tokens)}` : exact(tokens));

/** The names of the columns, with the unit of the numbers. */
export const drawColumns = (two: boolean, name: string): HTMLElement[] => {
  const head = (words: string, kind: string, title?: string) =>
    h("span", { role: "columnheader", class: kind, title }, words);
  const first = [head("turn", "ci-turn"), head("block", "ci-what")];
  if (!two)
    return [
      ...first,
      head("outcome", "ci-fate"),
      head("before", "ci-number", "tokens before"),
      head("after", "ci-number", "tokens after"),
    ];
  return [
    ...first,
    head("plan A", "ci-fate"),
    head("plan B", "ci-fate", `B: ${name}`),
    head("A", "ci-number", "tokens that plan A leaves"),
    head("B − A", "ci-number", "tokens that plan B leaves more"),
  ];
};

const sayLabel = (label: BlockTitle | undefined, section: string): Node[] => {
  if (label === undefined) return [h("span", { class: "ci-quiet" }, "…")];
  const name = nameBlock(label.label, section);
  const parts = [
    name && h("b", {}, name),
    label.preview && h("span", { class: "ci-preview" }, label.preview),
  ];
  return parts.filter(part => part instanceof Node);
};

export const drawFold = ({ viewState: { scene }, compared }: Sight, fold: Fold) => {
  const [first, last] = [turnOfRow(scene, fold.from), turnOfRow(scene, fold.to - 1)];
  const wide = { "aria-colspan": compared.two ? 3 : 2 };
  return h(
    "div",
    {
      role: "row",
      class: `ci-row ci-run${fold.same ? " ci-same" : ""}`,
      "data-fold": fold.from,
      "aria-expanded": String(fold.open),
    },
    cell("ci-turn", fold.open ? "▾" : "▸"),
    h(
      "span",
      { role: "gridcell", class: "ci-what", ...wide },
      `${nameTurns(first, last)} · ${sayFates(scene, compared, fold, last - first + 1)}`,
      ...(compared.two ? [] : drawLeft(fold.before, fold.after, "→ ")),
    ),
    ...drawNumbers(compared, fold.before, fold.after, fold.same),
  );
};

/** "12 turns the same", "9 blocks summarised", "12 blocks: 9 summarised, 3 dropped", "9 blocks summarised → verbatim". */
const sayFates = (scene: Scene, { two }: Compared, fold: Fold, turns: number): string => {
  const blocks = plural(fold.to - fold.from, "block");
  if (fold.same) return turns > 1 ? `${plural(turns, "turn")}, ${blocks} the same` : `${blocks} the same`;
  const name = (code: number) => scene.fates[code]?.label ?? "";
  const parts = fatesOf(fold).map(({ left, right, rows }) => ({
    rows,
    words: two ? `${name(left)} → ${name(right)}` : name(right),
  }));
  const only = parts.length === 1 ? parts[0] : undefined;
  return only === undefined
    ? `${blocks}: ${parts.map(({ rows, words }) => `${rows} ${words}`).join(", ")}`
    : `${blocks} ${only.words}`;
};

/** The plan that cuts there, where, and the tokens of its summary. */
const cutOf = (viewState: ViewState, { other }: CutLine) => {
  const plan = other && viewState.other !== null ? viewState.other : viewState.plan;
  const place = other ? plan.cut.place : viewState.place;
  return { plan, place, summary: isUncut(plan, place) ? 0 : (plan.summaryTokens[place] ?? 0) };
};

export const drawCut = ({ viewState, compared }: Sight, line: CutLine, open: boolean) => {
  const { other } = line;
  const { scene } = viewState;
  const { plan, place, summary } = cutOf(viewState, line);
  const whose = compared.two ? `${other ? "B" : "A"} · ` : "";
  return h(
    "div",
    {
      role: "row",
      class: `ci-row ci-cutline${other ? " ci-theirs" : ""}`,
      "data-cut": other ? "b" : "",
      "aria-expanded": summary > 0 ? String(open) : undefined,
    },
    cell("ci-what", `${whose}${isUncut(plan, place) ? "" : "cut · "}${sayPlace(scene, plan, place)}`),
    cell("ci-fate", saySummary(plan, place, summary)),
  );
};

/** For example "placeholder 3.1k" or "summary 3.1k by extractive". */
const saySummary = (plan: Plan, place: number, summary: number): string => {
  const { name, by } = summaryAt(plan, place);
  return summary > 0
    ? `${name} ${short(summary)}${by && ` by ${by}`}`
    : plan.unread
      ? `summary ${plan.unread}`
      : "no summary";
};

/** "126 of 261 blocks differ, B leaves 21.3k more". */
export const sayDifference = (
  scene: Scene,
  { two }: Compared,
  differing: number,
  delta: number,
): { words: string; title: string } => {
  const count = `${exact(differing)} of ${exact(scene.blocks)} blocks differ`;
  const change = delta === 0 ? "" : two ? ` · B ${signed(delta)}` : ` · ${signed(delta)}`;
  return { words: count + change, title: `${signedExact(delta)} tokens in blocks, summaries apart` };
};
