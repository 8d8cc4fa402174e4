// The row of the chosen thing: a dot for each block that names it, and how that ends.
import { middleOf } from "../../model/axis";
import { rowOf } from "../../model/block-refs";
import type { Mention } from "../../model/fact-lane";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";
import { claim, sideways } from "../../ui/keys";

/** Blocks nearer than this share a dot. */
const NEAR = 8;
/** Pixels between a dot and the words next to it. */
const ROOM = 10;

export const makeFactLane = (actions: Actions): View => {
  const name = h("span", { class: "ci-had" });
  const does = h("span");
  const dots = h("div", { class: "ci-dots" });
  const end = h("span", { class: "ci-end" });
  const label = h("div", { class: "ci-label" }, h("span", {}, name, does));
  const node = h(
    "div",
    { class: "ci-lined ci-fact-lane", "data-testid": "fact-lane", hidden: true },
    label,
    h("div", { class: "ci-stage" }, dots, end),
  );

  const drawDots = ({ scene, axis }: ViewState, mentions: readonly Mention[]) => {
    const marks: { x: number; row: number; kinds: string[] }[] = [];
    const rows = mentions.map(({ ref, kind }) => ({ row: rowOf(scene, ref), kind }));
    for (const { row, kind } of rows.sort((a, b) => a.row - b.row)) {
      const x = row < 0 ? -1 : middleOf(scene, axis, row);
      if (x < 0 || x > axis.width) continue;
      const last = marks.at(-1);
      if (last && x - last.x < NEAR) last.kinds.push(kind);
      else marks.push({ x, row, kinds: [kind] });
    }
    dots.replaceChildren(
      ...marks.map(({ x, row, kinds }, at) => {
        const [first = "", more] = [kinds[0], kinds.length > 1];
        const words = more ? `${kinds.length} blocks: ${first} to ${kinds.at(-1)}` : first;
        return h("button", {
          ...{ "aria-label": words, title: words, tabindex: at && -1, style: `left: ${x}px` },
          onclick: () => actions.openBody(row),
        });
      }),
    );
    // The words must not hide a dot: at the end, else in the last gap that is wide enough.
    setShown(end, true);
    const ends = [-ROOM, ...marks.map(({ x }) => x), axis.width + ROOM];
    let at = ends.length - 1;
    while (at > 0 && ends[at]! - ends[at - 1]! < end.offsetWidth + 2 * ROOM) at--;
    if (at > 0) end.style.left = `${ends[at]! - ROOM - end.offsetWidth}px`;
    // If no gap is wide enough, the words are the label's tooltip.
    setShown(end, at > 0);
    setAttributes(label, { title: at > 0 ? undefined : end.textContent });
  };
  listen(dots, "keydown", event => {
    const way = sideways(event);
    const all = [...dots.children] as HTMLElement[];
    const next = way && all[all.indexOf(event.target as HTMLElement) + way];
    if (!next) return;
    claim(event);
    for (const dot of all) dot.tabIndex = dot === next ? 0 : -1;
    next.focus();
  });

  return {
    node,
    draw(viewState, parts) {
      const changed = hasAny(parts, "scene", "tracing");
      if (!changed && !parts.has("size") && !parts.has("range")) return;
      const { factLane: content } = viewState;
      setShown(node, content !== null);
      if (content === null) return;
      setText(name, content.name && `${content.name} `);
      setText(does, content.does);
      setText(end, content.ends);
      end.classList.toggle("ci-bad", content.lost);
      drawDots(viewState, content.mentions);
    },
  };
};
