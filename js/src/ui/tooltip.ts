// One small label next to the pointer or the focus, for exact numbers. Everything in it is also text elsewhere.
import { h, listen } from "./dom";

const hints = new WeakMap<Element, HTMLElement>();

/** Shows up to a few short parts near the pointer, or hides the label. */
export const showHint = (event: PointerEvent, parts: readonly string[] | null): void => {
  const root = (event.currentTarget as Element | null)?.closest<HTMLElement>(".ci");
  if (root) showAt(root, event.clientX + 12, event.clientY + 16, parts);
};

const showAt = (root: HTMLElement, x: number, y: number, parts: readonly string[] | null) => {
  let hint = hints.get(root);
  if (hint === undefined) {
    if (parts === null) return;
    hint = h("div", { class: "ci-hint", "aria-hidden": "true" });
    hints.set(root, hint);
    root.append(hint);
  }
  hint.hidden = parts === null;
  if (parts === null) return;
  hint.replaceChildren(...parts.map(part => h("span", {}, part)));
  const box = root.getBoundingClientRect();
  const left = Math.min(x - box.left, box.width - hint.offsetWidth - 4);
  const top = Math.min(y - box.top, box.height - hint.offsetHeight - 4);
  hint.style.transform = `translate(${Math.max(0, left)}px, ${top}px)`;
};

/** Shows a title to keyboard users too: below the focused element, until Escape. */
export const showTitles = (root: HTMLElement): void => {
  listen(root, "focusin", ({ target }) => {
    const { title } = target as HTMLElement;
    if (!title || !(target as Element).matches(":focus-visible")) return;
    const { left, bottom } = (target as Element).getBoundingClientRect();
    showAt(root, left, bottom + 4, [title]);
  });
  listen(root, "focusout", () => showAt(root, 0, 0, null));
  listen(root, "keydown", event => event.key === "Escape" && showAt(root, 0, 0, null));
};
