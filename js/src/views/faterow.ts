// How one line of the before/after list looks: a block, a folded run of blocks, or the cut between them.
import { type Fold, isSame } from "../core/folding";
import { exact, nameTurns, plural, sayPlace, short } from "../core/format";
import { fateAt, isUncut, type Scene, turnOfRow } from "../core/state";
import type { RowsReply } from "../core/wire";
import { chip, h } from "./dom";
import type { Picture } from "./picture";

export type Label = RowsReply["rows"][number];

export const drawRow = (
  picture: Picture,
  row: number,
  label: Label | undefined,
  open: boolean,
  newTurn: boolean,
) => {
  const { scene, plan, place } = picture;
  const { fate, tokens } = fateAt(scene, plan, row, place);
  const before = scene.blockTokens[row] as number;
  const section = scene.sections[scene.blockSection[row] as number];
  const fateNamed = scene.fates[fate];
  const same = isSame(scene, plan, place, row);
  return h(
    "div",
    {
      role: "row",
      class: `ci-row${same ? " ci-same" : ""}${row === picture.row ? " ci-chosen" : ""}`,
      "data-testid": "fate-row",
      "data-row": row,
      "aria-expanded": String(open),
      "aria-selected": String(row === picture.row),
    },
    h(
      "span",
      { role: "gridcell", class: newTurn ? "ci-turn" : "ci-turn ci-ditto" },
      String(turnOfRow(scene, row) + 1),
    ),
    h(
      "span",
      { role: "gridcell", class: "ci-what" },
      chip(section?.id ?? "unknown", fateNamed?.id),
      h("span", { class: "ci-section" }, section?.label ?? ""),
      ...sayLabel(label, section?.label ?? ""),
    ),
    h("span", { role: "gridcell", class: "ci-fate" }, fateNamed?.label ?? ""),
    h("span", { role: "gridcell", class: "ci-number" }, exact(before)),
    h("span", { role: "gridcell", class: "ci-number" }, same ? "" : exact(tokens)),
  );
};

/** The names of the columns; the numbers' unit stands here, once. */
export const drawColumns = () =>
  h(
    "div",
    { role: "row", class: "ci-row ci-columns" },
    h("span", { role: "columnheader", class: "ci-turn" }, "turn"),
    h("span", { role: "columnheader", class: "ci-what" }, "block"),
    h("span", { role: "columnheader", class: "ci-fate" }, "fate"),
    h("span", { role: "columnheader", class: "ci-number", title: "tokens before" }, "before"),
    h("span", { role: "columnheader", class: "ci-number", title: "tokens after" }, "after"),
  );

const sayLabel = (label: Label | undefined, section: string): Node[] => {
  if (label === undefined) return [h("span", { class: "ci-quiet" }, "…")];
  const name = nameBlock(label.label, section);
  const parts = [
    name && h("b", {}, name),
    label.preview && h("span", { class: "ci-preview" }, label.preview),
  ];
  return parts.filter(part => part instanceof Node);
};

/** The label without the section, which stands beside it: "user text" says nothing more than "user". */
export const nameBlock = (label: string, section: string): string => {
  if (!label.toLowerCase().startsWith(section.toLowerCase())) return label;
  const rest = label.slice(section.length).trim();
  return rest === "text" ? "" : rest;
};

export const drawFold = (picture: Picture, fold: Fold) => {
  const { scene } = picture;
  const turns = nameTurns(turnOfRow(scene, fold.from), turnOfRow(scene, fold.to - 1));
  const text = `${turns} · ${sayFates(scene, fold)}`;
  return h(
    "div",
    {
      role: "row",
      class: `ci-row ci-fold${fold.same ? " ci-same" : ""}`,
      "data-fold": fold.from,
      "aria-expanded": String(fold.open),
    },
    h("span", { role: "gridcell", class: "ci-turn" }, fold.open ? "▾" : "▸"),
    h("span", { role: "gridcell", class: "ci-what", "aria-colspan": 2 }, text),
    h("span", { role: "gridcell", class: "ci-number" }, exact(fold.before)),
    h("span", { role: "gridcell", class: "ci-number" }, fold.same ? "" : exact(fold.after)),
  );
};

/** "12 rows the same", "9 rows summarised", "12 rows: 9 summarised, 3 dropped". */
const sayFates = (scene: Scene, fold: Fold): string => {
  const rows = plural(fold.to - fold.from, "row");
  if (fold.same) return `${rows} the same`;
  const parts = [...fold.fates]
    .sort()
    .map(([fate, count]) => [count, scene.fates[fate]?.label ?? ""] as const);
  const only = parts.length === 1 ? parts[0] : undefined;
  return only === undefined
    ? `${rows}: ${parts.map(part => part.join(" ")).join(", ")}`
    : `${rows} ${only[1]}`;
};

export const drawCut = (picture: Picture, open: boolean) => {
  const { scene, plan, place } = picture;
  const summary = plan.summaryTokens[place] ?? 0;
  return h(
    "div",
    {
      role: "row",
      class: "ci-row ci-cutline",
      "data-cut": "",
      "aria-expanded": summary > 0 ? String(open) : undefined,
    },
    h(
      "span",
      { role: "gridcell", class: "ci-what" },
      isUncut(plan, place) ? sayPlace(scene, plan, place) : `cut · ${sayPlace(scene, plan, place)}`,
    ),
    h(
      "span",
      { role: "gridcell", class: "ci-fate" },
      summary > 0 ? `summary ${short(summary)}` : "no summary",
    ),
  );
};
