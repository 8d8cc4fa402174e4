// The lanes as an ARIA grid: one row per lane, one cell per step, of which only the active one exists. The names of the
// rows are the key to the hues, and say what each lane has before and after.

import { middleOf, type Range, stepAt } from "../../model/axis";
import { HEAD, isTall, type Lanes } from "../../model/bars";
import { exact, short } from "../../model/format";
import { OUTSIDE } from "../../model/outside";
import { fateAt, type Lane, type Scene, sectionAfter, turnOfRow } from "../../model/plan";
import { between, reveal, sectionsIn, zoomAround } from "../../model/range";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, makeId, setAttributes, setText } from "../../ui/dom";
import { isModified, sideways, upOrDown } from "../../ui/keys";
import { nameLane, nameLanes } from "../../ui/lane-names";
import { showHint } from "../../ui/tooltip";
import { selectByDrag } from "./selection";
import { middle } from "./zoom";

/** A lane as high as this has room for its scale. */
const TWO_LINES = 32;
const NEAR = 10;
/** A frame with more changes than this is a new view, in which nothing was chosen by the user. */
const MANY = 6;
const ZOOMS: Record<string, number> = { "+": 0.5, "=": 0.5, "-": 2 };

export const makeGrid = (actions: Actions): View => {
  const cell = h("div", { role: "gridcell", class: "ci-cell", id: makeId("cell") });
  const node = h("div", {
    class: "ci-grid",
    role: "grid",
    tabindex: 0,
    "aria-label": "Tokens per section and step",
  });
  const level = h("div", { class: "ci-label ci-level", "data-testid": "level" });
  let rows: HTMLElement[] = [];
  let names: (Record<"before" | "after" | "of" | "node", HTMLElement> & { lane: Lane })[] = [];
  let shown: ViewState | undefined;
  let lane = 0;
  let step = -1;
  /** The pointer's position within the step; it selects the nearest block. */
  let aim = 0;
  /** The step at which a selection by the keyboard began. */
  let anchor = -1;
  /** The row chosen last; the active cell may since have moved to an empty one. */
  let ownRow = -1;

  const build = (viewState: ViewState) => {
    const { scene, lanes, axis } = viewState;
    names = [];
    rows = lanes.list.map((lane, i) => {
      const top = lanes.tops[i] ?? 0;
      const height = (lanes.floors[i] ?? 0) - top;
      const scale = isTall(lane) && height >= TWO_LINES ? sayScale(lanes) : "";
      return h(
        "div",
        {
          role: "row",
          "aria-rowindex": i + 1,
          class: "ci-lane",
          style: `top: ${HEAD + top}px; height: ${height}px`,
        },
        lanes.stacked ? nameAll(scene, lanes) : name(lane, scale),
      );
    });
    setText(level, axis.level === "turn" ? "by turn" : "turn");
    node.replaceChildren(level, ...rows);
    setAttributes(node, { "aria-rowcount": lanes.list.length, "aria-colcount": scene.steps + 1 });
  };

  const name = (lane: Lane, scale: HTMLElement | string) => {
    const [before, after, of] = [h("span", { class: "ci-had" }), h("span"), h("span", { class: "ci-had" })];
    const control = h(
      "div",
      { role: "rowheader", "aria-colindex": 1, class: "ci-label", "data-lane": lane.id },
      nameLane(lane),
      h("span", { class: "ci-amount" }, before, after, of),
      scale,
    );
    names.push({ lane, before, after, of, node: control });
    return control;
  };

  /** Before and after, as Python counted them; of a selection its part of all. */
  const describe = ({ scene, plan, place, selection }: ViewState) => {
    const inside = selection && sectionsIn(scene, selection);
    for (const { lane, before, after, of, node } of names) {
      const sum = (tokens: (section: number) => number) =>
        lane.sections.reduce((all, section) => all + tokens(section), 0);
      const had = sum(section => plan.before.sections[section] ?? 0);
      if (inside !== null) {
        const selected = sum(section => inside[section] ?? 0);
        setText(before, "");
        setText(after, short(selected));
        setText(of, ` of ${short(had)}`);
        setAttributes(node, { title: `${lane.label}: ${exact(selected)} of ${exact(had)} tokens selected` });
        continue;
      }
      const has = sum(section => sectionAfter(scene, plan, place, section));
      setText(of, "");
      // Tokens that are not in the file are no saving of the plan's.
      const outside = OUTSIDE.has(lane.id);
      setText(before, outside ? `est. ${short(had)}` : `${short(had)} → `);
      setText(after, outside ? "" : short(has));
      const source = outside ? ", estimated: not in the file" : "";
      setAttributes(node, {
        title: `${lane.label}: ${exact(had)} tokens before, ${exact(has)} after${source}`,
      });
    }
  };

  const mark = (viewState: ViewState) => {
    const row = rows[lane];
    const { first, end, width } = viewState.axis;
    const visible = row !== undefined && step >= first && step < end;
    setAttributes(node, { "aria-activedescendant": visible ? cell.id : undefined });
    if (!visible) {
      // A row has a cell, whether or not one of its steps is looked at.
      cell.style.opacity = "0";
      setText(cell, "");
      const any = row ?? rows[0];
      if (cell.parentElement !== any) any?.append(cell);
      return;
    }
    cell.style.opacity = "";
    if (cell.parentElement !== row) row.append(cell);
    cell.style.transform = `translateX(${(step - first) * viewState.axis.step}px)`;
    cell.style.width = `${Math.max(3, Math.min(width, viewState.axis.step))}px`;
    // The first column is the name of the lane.
    setAttributes(cell, { "aria-colindex": step + 2 });
    setText(cell, sayCell(viewState, lane, step));
  };

  const pick = (viewState: ViewState, cycle: boolean) => {
    const laneRows = rowsOf(viewState, lane, step);
    const next = cycle ? laneRows[(laneRows.indexOf(viewState.row) + 1) % laneRows.length] : laneRows[0];
    show(viewState);
    mark(viewState);
    if (next !== undefined) choose(next);
  };

  /** Selects from the active step on; the end that was not there first moves. */
  const extend = ({ scene, selection }: ViewState, way: number) => {
    if (selection === null || (selection[0] !== anchor && selection[1] - 1 !== anchor))
      anchor = Math.max(0, step);
    const [first, end] = selection ?? [anchor, anchor + 1];
    const head = first === anchor ? end - 1 : first;
    const to = Math.max(0, Math.min(scene.steps - 1, head + way));
    actions.selection.select(between(anchor, to, scene.steps, 1));
  };

  /** Moves the range along when the active cell leaves it. */
  const show = ({ range, scene }: ViewState) => {
    const shownRange = reveal(range, scene.steps, step);
    if (shownRange !== range) actions.brush(...shownRange);
  };

  const choose = (row: number) => {
    ownRow = row;
    actions.select(row);
  };

  const open = (viewState: ViewState) => {
    if (rowsOf(viewState, lane, step).includes(viewState.row)) actions.openBody(viewState.row);
  };

  const locate = (event: PointerEvent | MouseEvent, viewState: ViewState): boolean => {
    const box = node.getBoundingClientRect();
    const x = event.clientX - box.left - level.clientWidth;
    const y = event.clientY - box.top - HEAD;
    const at = viewState.lanes.floors.findIndex(floor => y < floor);
    if (x < 0 || x > viewState.axis.width || y < 0 || at < 0) return false;
    [lane, step, aim] = [at, stepAt(viewState.axis, x), x];
    return true;
  };

  const isClick = selectByDrag(actions, node, clientX => {
    if (shown === undefined || shown.scene.steps === 0) return null;
    const x = clientX - node.getBoundingClientRect().left - level.clientWidth;
    const { axis, scene } = shown;
    return x < 0 ? null : { step: stepAt(axis, Math.min(x, axis.width)), steps: scene.steps };
  });
  listen(node, "click", event => {
    if (shown === undefined || !isClick()) return;
    const [oldLane, oldStep] = [lane, step];
    if (!locate(event, shown)) return;
    step = nearestBar(shown, lane, step);
    const single = nearestRow(shown, lane, step, aim);
    if (shown.axis.level === "block" && single >= 0 && single !== shown.row) {
      mark(shown);
      return choose(single);
    }
    pick(shown, oldLane === lane && oldStep === step);
  });
  listen(node, "pointermove", event => {
    if (shown === undefined) return;
    const [oldLane, oldStep] = [lane, step];
    const over = locate(event, shown);
    showHint(event, over ? hintCell(shown, lane, step, aim) : null);
    [lane, step] = [oldLane, oldStep];
  });
  listen(node, "pointerleave", event => showHint(event, null));
  listen(node, "keydown", event => {
    // With a modifier they are the browser's: its zoom, its way back.
    if (isModified(event)) return;
    if (shown === undefined || shown.scene.steps === 0) return;
    const { scene } = shown;
    const from = Math.max(0, step);
    const way = event.shiftKey && sideways(event);
    if (way) {
      event.preventDefault();
      return extend(shown, way);
    }
    const up = upOrDown(event);
    if (up) lane = Math.max(0, Math.min(shown.lanes.list.length - 1, lane + up));
    else if (event.key === "ArrowRight")
      step = step < 0 ? shown.range[0] : Math.min(scene.steps - 1, from + 1);
    else if (event.key === "ArrowLeft") step = Math.max(0, from - 1);
    else if (event.key === "Home") step = 0;
    else if (event.key === "End") step = scene.steps - 1;
    else if (event.key === "PageDown") step = turnStep(scene, from, 1);
    else if (event.key === "PageUp") step = turnStep(scene, from, -1);
    else if (event.key === "Enter") open(shown);
    else if (event.key !== " ") {
      const range = zoomBy(shown, step, event.key);
      if (range === undefined) return;
      event.preventDefault();
      return actions.brush(...range);
    }
    event.preventDefault();
    if (event.key !== "Enter") pick(shown, event.key === " ");
  });

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      if (hasAny(parts, "scene", "size", "range")) build(viewState);
      if (hasAny(parts, "scene", "size", "range", "plan", "place", "selection")) describe(viewState);
      if (parts.has("row") && viewState.row >= 0 && (viewState.row !== ownRow || parts.has("scene"))) {
        const { scene, lanes, range } = viewState;
        lane = Math.max(0, lanes.laneOf[scene.blockSection[viewState.row] as number] as number);
        step = scene.entryStep[scene.blockEntry[viewState.row] as number] as number;
        const shownRange = reveal(range, scene.steps, step);
        if (shownRange !== range && parts.size < MANY) actions.brush(...shownRange);
      } else if (parts.has("scene")) step = -1;
      if (hasAny(parts, "row", "scene")) ownRow = viewState.row;
      if (!parts.has("place") || parts.size > 1) mark(viewState);
    },
  };
};

/** The range after a zoom key: around the active cell, which keeps its position while it is visible. */
const zoomBy = (viewState: ViewState, step: number, key: string): Range | undefined => {
  const { range, scene } = viewState;
  const factor = ZOOMS[key];
  if (factor === undefined) return key === "0" ? [0, scene.steps] : undefined;
  const isVisible = step >= range[0] && step < range[1];
  return zoomAround(range, scene.steps, isVisible ? step + 0.5 : middle(viewState), factor);
};

/** The value of a full bar; in little room, only of the tall lane. */
const sayScale = ({ scale: [tall, low] }: Lanes) => h("small", {}, tall, h("span", { class: "ci-had" }, low));

/** The names of all lanes, if they are merged into one. */
const nameAll = (scene: Scene, drawn: Lanes) =>
  h(
    "div",
    { role: "rowheader", "aria-colindex": 1, class: "ci-label ci-names" },
    ...nameLanes(scene),
    sayScale(drawn),
  );

/** The step with a bar in this lane that is nearest to a click, within a few pixels; else the step itself. */
const nearestBar = (viewState: ViewState, lane: number, step: number): number => {
  const { first, end } = viewState.axis;
  const reach = Math.ceil(NEAR / Math.max(1, viewState.axis.step));
  for (let away = 0; away <= reach; away++) {
    for (const at of [step - away, step + away]) {
      if (at >= first && at < end && rowsOf(viewState, lane, at).length > 0) return at;
    }
  }
  return step;
};

/** The row of a step and lane whose bar is nearest to `x`, -1 for none. */
const nearestRow = ({ scene, axis, lanes }: ViewState, lane: number, step: number, x: number): number => {
  let nearest = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const row of rowsOf({ scene, lanes }, lane, step)) {
    const away = Math.abs(middleOf(scene, axis, row) - x);
    if (away < least) [nearest, least] = [row, away];
  }
  return nearest;
};

/** The rows of a step that a lane shows; of what grew outside of the file those that it grew with. */
const rowsOf = (
  { scene, lanes }: Pick<ViewState, "scene" | "lanes">,
  lane: number,
  step: number,
): number[] => {
  const rows: number[] = [];
  const beside = lanes.list[lane]?.id === "hidden_reasoning";
  for (let row = scene.stepRow[step] as number; row < (scene.stepRow[step + 1] as number); row++) {
    const rowLane = beside
      ? scene.blockOutside[row]
      : lanes.laneOf[scene.blockSection[row] as number] === lane;
    if (rowLane) rows.push(row);
  }
  return rows;
};

const sayCell = (viewState: ViewState, lane: number, step: number): string =>
  [...hintCell(viewState, lane, step)].join(", ");

/** The content of a cell; if single blocks are drawn, only the block nearest to `x`. */
const hintCell = (viewState: ViewState, lane: number, step: number, x = -1): string[] => {
  const { scene, plan } = viewState;
  const first = scene.stepRow[step] as number;
  const where = first < scene.blocks ? `turn ${turnOfRow(scene, first) + 1}` : "end";
  const label = viewState.lanes.list[lane]?.label ?? "";
  const single = x >= 0 && viewState.axis.level === "block" ? nearestRow(viewState, lane, step, x) : -1;
  const rows = single >= 0 ? [single] : rowsOf(viewState, lane, step);
  if (rows.length === 0) return [where, label, "nothing"];
  return [
    where,
    label,
    ...rows.slice(0, 3).map(row => {
      const { fate, tokens } = fateAt(scene, plan, row, viewState.place);
      const before = scene.blockTokens[row] as number;
      const change = tokens === before ? exact(before) : `${exact(before)} → ${exact(tokens)}`;
      return `${change} ${scene.fates[fate]?.label ?? ""}`;
    }),
    ...(rows.length > 3 ? [`${rows.length - 3} more`] : []),
  ];
};

const turnStep = (scene: Scene, step: number, direction: 1 | -1): number => {
  const turnOf = (at: number) => turnOfRow(scene, Math.min(scene.blocks - 1, scene.stepRow[at] as number));
  const turn = turnOf(step);
  let at = step;
  while (at + direction >= 0 && at + direction < scene.steps && turnOf(at) === turn) at += direction;
  return at;
};
