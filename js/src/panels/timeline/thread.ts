// The row of the chosen thing: a dot for each block that names it, and how that ends.
import { middleOf } from "../../model/axis";
import { turnOfRow } from "../../model/plan";
import { threadOf } from "../../model/thread";
import type { Actions, Picture, View } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";

/** Dots nearer than this are one. */
const NEAR = 8;

export const makeThread = (actions: Actions): View => {
  const name = h("span");
  const dots = h("div", { class: "ci-dots" });
  const end = h("span", { class: "ci-end" });
  const node = h(
    "div",
    { class: "ci-lined ci-thread", "data-testid": "thread", hidden: true },
    h("div", { class: "ci-label" }, name),
    h("div", { class: "ci-stage" }, dots, end),
  );

  const drawDots = ({ scene, axis, tracing }: Picture) => {
    const mentions = [...(threadOf(tracing)?.mentions ?? [])].sort((a, b) => a.row - b.row);
    const found: HTMLElement[] = [];
    let last = Number.NEGATIVE_INFINITY;
    for (const { row, kind } of mentions) {
      const x = middleOf(scene, axis, row);
      if (x < 0 || x > axis.width || x - last < NEAR) continue;
      last = x;
      const words = `turn ${turnOfRow(scene, row) + 1}, ${kind}`;
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
      const thread = threadOf(picture.tracing);
      setShown(node, thread !== null);
      if (thread === null) return;
      setText(name, thread.label);
      setText(end, thread.end);
      end.classList.toggle("ci-bad", thread.lost);
      drawDots(picture);
    },
  };
};
