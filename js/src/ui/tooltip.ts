// One small label beside the pointer, for exact numbers. Everything it says is also said in text elsewhere.
import { h } from "./dom";

const hints = new WeakMap<Element, HTMLElement>();

/** Shows up to a few short parts near the pointer, or hides the label. */
export const showHint = (event: PointerEvent, parts: readonly string[] | null): void => {
  const root = (event.currentTarget as Element | null)?.closest(".ci");
  if (!(root instanceof HTMLElement)) return;
  let hint = hints.get(root);
  if (hint === undefined) {
    hint = h("div", { class: "ci-hint", "aria-hidden": "true" });
    hints.set(root, hint);
    root.append(hint);
  }
  hint.hidden = parts === null;
  if (parts === null) return;
  hint.replaceChildren(...parts.map(part => h("span", {}, part)));
  const box = root.getBoundingClientRect();
  const x = Math.min(event.clientX - box.left + 12, box.width - hint.offsetWidth - 4);
  hint.style.transform = `translate(${Math.max(0, x)}px, ${event.clientY - box.top + 16}px)`;
};
