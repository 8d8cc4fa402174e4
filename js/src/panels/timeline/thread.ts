// The row of the chosen thing: a dot for each block that names it, and how that ends.
import { middleOf } from "../../model/axis";
import { rowOf } from "../../model/refs";
import type { Mention } from "../../model/thread";
import type { Actions, Picture, View } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";

/** Dots nearer than this are one. */
const NEAR = 8;

export const makeThread = (actions: Actions): View => {
  const name = h("span", { class: "ci-had" });
  const does = h("span");
  const dots = h("div", { class: "ci-dots" });
  const end = h("span", { class: "ci-end" });
  const node = h(
    "div",
    { class: "ci-lined ci-thread", "data-testid": "thread", hidden: true },
    h("div", { class: "ci-label" }, h("span", {}, name, does)),
    h("div", { class: "ci-stage" }, dots, end),
  );

  const drawDots = ({ scene, axis }: Picture, mentions: readonly Mention[]) => {
    const rows = mentions
      .map(({ ref, kind }) => ({ row: rowOf(scene, ref), kind }))
      .filter(({ row }) => row >= 0);
    const found: HTMLElement[] = [];
    let last = Number.NEGATIVE_INFINITY;
    for (const { row, kind } of rows.sort((a, b) => a.row - b.row)) {
      const x = middleOf(scene, axis, row);
      if (x < 0 || x > axis.width || x - last < NEAR) continue;
      last = x;
      const words = kind;
      const dot = h("button", { "aria-label": words, title: words, tabindex: found.length > 0 ? -1 : 0 });
      dot.style.left = `${x}px`;
      dot.addEventListener("click", () => actions.openBody(row));
      found.push(dot);
    }
    dots.replaceChildren(...found);
  };
  dots.addEventListener("keydown", event => {
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
      const { thread } = picture;
      setShown(node, thread !== null);
      if (thread === null) return;
      setText(name, thread.name && `${thread.name} `);
      setText(does, thread.does);
      setText(end, thread.ends);
      end.classList.toggle("ci-bad", thread.lost);
      drawDots(picture, thread.mentions);
    },
  };
};
