// One muted lane per recorded sub-agent, with its tokens per step. They are outside this context and have no outcome.

import { stepAt } from "../../model/axis";
import { exact, plural, short } from "../../model/format";
import { type SideRow, stackSides } from "../../model/subagents";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";

const ROW = 16;
const NEAR = 6;
const NOT_HERE = "not in this context";

export const makeSideLanes = (actions: Actions): View => {
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const list = h("ul", { class: "ci-sidelist", "aria-label": "Sub-agents, not in this context" });
  const fold = h("button", { class: "ci-link", "data-testid": "sides-fold" });
  const node = h(
    "div",
    { class: "ci-sidelanes", "data-testid": "sidelanes", hidden: true },
    list,
    fold,
    h("div", { class: "ci-layer" }, canvas),
  );
  let shown: ViewState | undefined;
  let rows: SideRow[] = [];
  let open = false;

  const build = ({ scene, needsKernel, replay }: ViewState) => {
    const canReplay = needsKernel === "" && replay !== "none";
    rows = stackSides(scene, open);
    const folds = scene.sides.length > 1;
    list.replaceChildren(
      ...rows.map(({ label, task, tokens, end }) => {
        const words = task === "" ? "" : `, ${task}`;
        const item = h("li", { class: "ci-label", title: `${label}${words}` });
        const button = {
          ...{ class: "ci-link", "data-testid": "replay-stage" },
          ...{ "aria-label": `Replay ${label}`, title: "Replay this sub-agent" },
          onclick: () => actions.replayStage(end),
        };
        item.append(
          end !== "" && canReplay ? h("button", button, label) : h("span", {}, label),
          h("span", { class: "ci-spoken" }, `, ${exact(tokens)} tokens${words}`),
          h("small", { "aria-hidden": "true" }, short(tokens)),
        );
        return item;
      }),
    );
    setShown(fold, folds);
    setText(fold, open ? "fold" : "open");
    const label = open ? "Fold sub-agents" : `Open ${plural(scene.sides.length, "sub-agent")}`;
    setAttributes(fold, { "aria-expanded": String(open), "aria-label": label });
    setShown(node, rows.length > 0);
    node.style.height = `${rows.length * ROW}px`;
  };

  const drawRows = ({ axis, palette }: ViewState) => {
    let peak = 1;
    for (const { at } of rows) for (const tokens of at) peak = Math.max(peak, tokens);
    const scale = (ROW - 3) / peak;
    paint(canvas, axis.width, rows.length * ROW, palette.ratio, context => {
      rows.forEach(({ at }, row) => {
        const floor = (row + 1) * ROW;
        context.fillStyle = palette.line;
        context.fillRect(0, floor - 1 / palette.ratio, axis.width, 1 / palette.ratio);
        context.fillStyle = palette.faint;
        for (let step = axis.first; step < axis.end; step++) {
          const tokens = at[step] as number;
          if (tokens === 0) continue;
          const left = snap((step - axis.first) * axis.step, palette.ratio);
          const height = Math.max(2, tokens * scale);
          const width = Math.max(1.5, Math.min(axis.step, 40) - 1);
          context.fillRect(left, floor - height, width, height);
        }
      });
    });
  };

  listen(fold, "click", () => {
    open = !open;
    if (shown === undefined) return;
    build(shown);
    drawRows(shown);
  });
  listen(node, "pointermove", event => shown && showHint(event, hintAt(event, shown, rows, canvas)));
  listen(node, "pointerleave", event => showHint(event, null));

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      if (parts.has("scene")) build(viewState);
      if (rows.length === 0) return;
      if (hasAny(parts, "scene", "size", "range", "theme")) drawRows(viewState);
    },
  };
};

const hintAt = (
  event: PointerEvent,
  { scene, axis }: ViewState,
  rows: readonly SideRow[],
  canvas: HTMLElement,
): string[] | null => {
  const box = canvas.getBoundingClientRect();
  const row = rows[Math.floor((event.clientY - box.top) / ROW)];
  const x = event.clientX - box.left;
  if (row === undefined || x > axis.width) return null;
  const total = [row.label, `${exact(row.tokens)} tokens in all`, NOT_HERE];
  if (x < 0) return [...total, ...(row.task === "" ? [] : [row.task])];
  const step = stepAt(axis, x);
  const reach = Math.ceil(NEAR / Math.max(axis.step, 0.1));
  for (let away = 0; away <= reach; away++) {
    for (const at of [step - away, step + away]) {
      const tokens = row.at[at] ?? 0;
      if (tokens === 0) continue;
      const turn = scene.entryTurn[scene.entryStep.indexOf(at)] ?? 0;
      const task = row.task === "" ? [] : [row.task];
      return [row.label, `next to turn ${turn + 1}`, `${exact(tokens)} tokens`, NOT_HERE, ...task];
    }
  }
  return total;
};
