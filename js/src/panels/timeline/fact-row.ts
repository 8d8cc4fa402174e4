// The row of the chosen thing: a dot for each block that names it, and how that ends.
import { middleOf } from "../../model/axis";
import { rowOf } from "../../model/block-refs";
import type { Mention } from "../../model/fact-row";
import type { Actions, Picture, View } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";

/** Blocks nearer than this share a dot. */
const NEAR = 8;
/** Pixels between a dot and words beside it. */
const ROOM = 10;

export const makeFactRow = (actions: Actions): View => {
  const name = h("span", { class: "ci-had" });
  const does = h("span");
  const dots = h("div", { class: "ci-dots" });
  const end = h("span", { class: "ci-end" });
  const label = h("div", { class: "ci-label" }, h("span", {}, name, does));
  const node = h(
    "div",
    { class: "ci-lined ci-fact-row", "data-testid": "fact-row", hidden: true },
    label,
    h("div", { class: "ci-stage" }, dots, end),
  );

  const drawDots = ({ scene, axis }: Picture, mentions: readonly Mention[]) => {
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
        const dot = h("button", { "aria-label": words, title: words, tabindex: at && -1 });
        dot.style.left = `${x}px`;
        listen(dot, "click", () => actions.openBody(row));
        return dot;
      }),
    );
    // The words stand where they hide no dot: at the end, else in the last gap that has room for them.
    setShown(end, true);
    const ends = [-ROOM, ...marks.map(({ x }) => x), axis.width + ROOM];
    let at = ends.length - 1;
    while (at > 0 && ends[at]! - ends[at - 1]! < end.offsetWidth + 2 * ROOM) at--;
    if (at > 0) end.style.left = `${ends[at]! - ROOM - end.offsetWidth}px`;
    // Where no gap has room they are the label's hint.
    setShown(end, at > 0);
    setAttributes(label, { title: at > 0 ? undefined : end.textContent });
  };
  listen(dots, "keydown", event => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const all = [...dots.children] as HTMLElement[];
    const next = all[all.indexOf(event.target as HTMLElement) + way];
    if (way === 0 || next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    for (const dot of all) dot.tabIndex = dot === next ? 0 : -1;
    next.focus();
  });

  return {
    node,
    draw(picture, parts) {
      const told = ["scene", "tracing"].some(part => parts.has(part as "scene"));
      if (!told && !parts.has("size") && !parts.has("range")) return;
      const { factRow: content } = picture;
      setShown(node, content !== null);
      if (content === null) return;
      setText(name, content.name && `${content.name} `);
      setText(does, content.does);
      setText(end, content.ends);
      end.classList.toggle("ci-bad", content.lost);
      drawDots(picture, content.mentions);
    },
  };
};
