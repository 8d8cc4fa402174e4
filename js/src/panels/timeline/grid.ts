// The lanes as an ARIA grid: one row per lane, one cell per step, of which only the active one exists. The names of the
// rows are the key to the hues, and say what each lane has before and after.

import { middleOf, type Range, stepAt } from "../../model/axis";
import { HEAD, isTall, type Lanes } from "../../model/bars";
import { exact, short } from "../../model/format";
import { fateAt, type Lane, type Scene, sectionAfter, turnOfRow } from "../../model/plan";
import { reveal, zoomAround } from "../../model/range";
import type { Actions, Picture, View } from "../../store/view";
import { chip, h, listen, makeId, setAttributes, setText } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";
import { middle } from "./zoom";

/** A lane as high as this has room for its scale. */
const TWO_LINES = 32;
const NEAR = 10;
/** A frame with more news than this is a new picture, of which nothing was chosen by hand. */
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
  let names: { lane: Lane; before: HTMLElement; after: HTMLElement; node: HTMLElement }[] = [];
  let shown: Picture | undefined;
  let lane = 0;
  let step = -1;
  /** Where in the step the pointer is; what it means is the block nearest to it. */
  let aim = 0;
  /** The row last chosen here; the active cell may have moved on to where there is none. */
  let mine = -1;

  const build = (picture: Picture) => {
    const { scene, lanes, axis } = picture;
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
    const [before, after] = [h("span", { class: "ci-had" }), h("span")];
    const made = h(
      "div",
      { role: "rowheader", "aria-colindex": 1, class: "ci-label", "data-lane": lane.id },
      h("span", { class: "ci-hue" }, chip(lane.id === "head" ? "system" : lane.id), lane.label),
      h("span", { class: "ci-amount" }, before, after),
      scale,
    );
    names.push({ lane, before, after, node: made });
    return made;
  };

  /** Before and after, as Python counted them. */
  const tell = ({ scene, plan, place }: Picture) => {
    for (const { lane, before, after, node } of names) {
      const sum = (of: (section: number) => number) =>
        lane.sections.reduce((all, section) => all + of(section), 0);
      const had = sum(section => plan.before.sections[section] ?? 0);
      const has = sum(section => sectionAfter(scene, plan, place, section));
      setText(before, `${short(had)} → `);
      setText(after, short(has));
      setAttributes(node, { title: `${lane.label}: ${exact(had)} tokens before, ${exact(has)} after` });
    }
  };

  const mark = (picture: Picture) => {
    const row = rows[lane];
    const { first, end, width } = picture.axis;
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
    cell.style.transform = `translateX(${(step - first) * picture.axis.step}px)`;
    cell.style.width = `${Math.max(3, Math.min(width, picture.axis.step))}px`;
    // The first column is the name of the lane.
    setAttributes(cell, { "aria-colindex": step + 2 });
    setText(cell, sayCell(picture, lane, step));
  };

  const pick = (picture: Picture, cycle: boolean) => {
    const found = rowsOf(picture, lane, step);
    const next = cycle ? found[(found.indexOf(picture.row) + 1) % found.length] : found[0];
    show(picture);
    mark(picture);
    if (next !== undefined) choose(next);
  };

  /** Moves the range along when the active cell leaves it. */
  const show = ({ range, scene }: Picture) => {
    const seen = reveal(range, scene.steps, step);
    if (seen !== range) actions.brush(...seen);
  };

  const choose = (row: number) => {
    mine = row;
    actions.select(row);
  };

  const open = (picture: Picture) => {
    if (rowsOf(picture, lane, step).includes(picture.row)) actions.openBody(picture.row);
  };

  const locate = (event: PointerEvent | MouseEvent, picture: Picture): boolean => {
    const box = node.getBoundingClientRect();
    const x = event.clientX - box.left - level.clientWidth;
    const y = event.clientY - box.top - HEAD;
    const at = picture.lanes.floors.findIndex(floor => y < floor);
    if (x < 0 || x > picture.axis.width || y < 0 || at < 0) return false;
    [lane, step, aim] = [at, stepAt(picture.axis, x), x];
    return true;
  };

  listen(node, "click", event => {
    if (shown === undefined) return;
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
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (shown === undefined || shown.scene.steps === 0) return;
    const { scene } = shown;
    const from = Math.max(0, step);
    if (event.key === "ArrowRight") step = step < 0 ? shown.range[0] : Math.min(scene.steps - 1, from + 1);
    else if (event.key === "ArrowLeft") step = Math.max(0, from - 1);
    else if (event.key === "ArrowDown") lane = Math.min(shown.lanes.list.length - 1, lane + 1);
    else if (event.key === "ArrowUp") lane = Math.max(0, lane - 1);
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
    draw(picture, parts) {
      shown = picture;
      if (["scene", "size", "range"].some(part => parts.has(part as "scene"))) build(picture);
      if (["scene", "size", "range", "plan", "place"].some(part => parts.has(part as "scene"))) tell(picture);
      if (parts.has("row") && picture.row >= 0 && (picture.row !== mine || parts.has("scene"))) {
        const { scene, lanes, range } = picture;
        lane = Math.max(0, lanes.laneOf[scene.blockSection[picture.row] as number] as number);
        step = scene.entryStep[scene.blockEntry[picture.row] as number] as number;
        const seen = reveal(range, scene.steps, step);
        if (seen !== range && parts.size < MANY) actions.brush(...seen);
      } else if (parts.has("scene")) step = -1;
      if (parts.has("row") || parts.has("scene")) mine = picture.row;
      if (!parts.has("place") || parts.size > 1) mark(picture);
    },
  };
};

/** The range after a key that zooms: around the active cell, which stays where it is while it is in sight. */
const zoomBy = (picture: Picture, step: number, key: string): Range | undefined => {
  const { range, scene } = picture;
  const factor = ZOOMS[key];
  if (factor === undefined) return key === "0" ? [0, scene.steps] : undefined;
  const seen = step >= range[0] && step < range[1];
  return zoomAround(range, scene.steps, seen ? step + 0.5 : middle(picture), factor);
};

/** What a full bar stands for; where there is little room, only of the tall lane. */
const sayScale = ({ scale: [tall, low] }: Lanes) => h("small", {}, tall, h("span", { class: "ci-had" }, low));

/** The names of all lanes, where these are one. */
const nameAll = ({ lanes }: Scene, drawn: Lanes) =>
  h(
    "div",
    { role: "rowheader", "aria-colindex": 1, class: "ci-label ci-names" },
    ...lanes.map(({ id, label }) =>
      h("span", { class: "ci-hue" }, chip(id === "head" ? "system" : id), label),
    ),
    sayScale(drawn),
  );

/** The step with a bar in this lane that is nearest to a click, within a few pixels; else the step itself. */
const nearestBar = (picture: Picture, lane: number, step: number): number => {
  const { first, end } = picture.axis;
  const reach = Math.ceil(NEAR / Math.max(1, picture.axis.step));
  for (let away = 0; away <= reach; away++) {
    for (const at of [step - away, step + away]) {
      if (at >= first && at < end && rowsOf(picture, lane, at).length > 0) return at;
    }
  }
  return step;
};

/** The row of a step and lane whose bar is nearest to `x`, -1 for none. */
const nearestRow = ({ scene, axis, lanes }: Picture, lane: number, step: number, x: number): number => {
  let nearest = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const row of rowsOf({ scene, lanes }, lane, step)) {
    const away = Math.abs(middleOf(scene, axis, row) - x);
    if (away < least) [nearest, least] = [row, away];
  }
  return nearest;
};

/** The rows of a step that a lane shows; of what grew outside of the file those that it grew with. */
const rowsOf = ({ scene, lanes }: Pick<Picture, "scene" | "lanes">, lane: number, step: number): number[] => {
  const found: number[] = [];
  const beside = lanes.list[lane]?.id === "withheld";
  for (let row = scene.stepRow[step] as number; row < (scene.stepRow[step + 1] as number); row++) {
    const mine = beside ? scene.blockOutside[row] : lanes.laneOf[scene.blockSection[row] as number] === lane;
    if (mine) found.push(row);
  }
  return found;
};

const sayCell = (picture: Picture, lane: number, step: number): string =>
  [...hintCell(picture, lane, step)].join(", ");

/** What a cell holds; where single blocks are drawn, only the one nearest to `x`. */
const hintCell = (picture: Picture, lane: number, step: number, x = -1): string[] => {
  const { scene, plan } = picture;
  const first = scene.stepRow[step] as number;
  const where = first < scene.blocks ? `turn ${turnOfRow(scene, first) + 1}` : "end";
  const label = picture.lanes.list[lane]?.label ?? "";
  const single = x >= 0 && picture.axis.level === "block" ? nearestRow(picture, lane, step, x) : -1;
  const rows = single >= 0 ? [single] : rowsOf(picture, lane, step);
  if (rows.length === 0) return [where, label, "nothing"];
  return [
    where,
    label,
    ...rows.slice(0, 3).map(row => {
      const { fate, tokens } = fateAt(scene, plan, row, picture.place);
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
