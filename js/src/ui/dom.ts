// A tiny way to write DOM. Text always arrives as text: nothing here can make markup from a string.

import { OUTSIDE } from "../model/outside";

type Handlers = { [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => unknown };

interface Attributes extends Handlers {
  [name: string]: string | number | boolean | undefined | ((event: never) => unknown);
}

/**
 * An element with attributes and children; strings become text nodes, false and undefined leave an attribute out.
 * A function is called at each event that its name says: `onclick`.
 */
export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] => {
  const node = document.createElement(tag);
  // No button here sends a form.
  if (tag === "button") node.setAttribute("type", "button");
  setAttributes(node, attributes);
  node.append(...children);
  return node;
};

export const setAttributes = (node: Element, attributes: Attributes): void => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) node.removeAttribute(name);
    else if (typeof value === "function") node.addEventListener(name.slice(2), value as EventListener);
    else if (name === "style") setStyle(node as HTMLElement, String(value));
    else {
      const text = value === true ? "" : String(value);
      if (node.getAttribute(name) !== text) node.setAttribute(name, text);
    }
  }
};

/** Does something at each event of a kind. */
export const listen = <K extends keyof HTMLElementEventMap>(
  node: HTMLElement,
  kind: K,
  act: (event: HTMLElementEventMap[K]) => void,
  options?: AddEventListenerOptions | boolean,
): void => node.addEventListener(kind, act, options);

const styles = new WeakMap<HTMLElement, string>();

// Not as an attribute: pages that forbid inline styles allow a script its own.
const setStyle = (node: HTMLElement, text: string) => {
  if (styles.get(node) === text) return;
  styles.set(node, text);
  node.style.cssText = text;
};

let counter = 0;

/** A name for an element that no other has, not even one of another workbench: each comes with code of its own. */
export const makeId = (kind: string): string =>
  `ci-${kind}-${Math.random().toString(36).slice(2, 8)}${counter++}`;

/** Replaces the text only if it differs, so that a frame without changes touches nothing. The text node stays, because
 * a new one would make the browser recompute the style of its neighbours. */
export const setText = (node: Element, text: string): void => {
  const only = node.firstChild;
  const at = only?.nodeType === 3 && only === node.lastChild ? only : node;
  if (at.textContent !== text) at.textContent = text;
};

/** Makes `wanted` the children of a node; those that stay are not touched. */
export const putChildren = (parent: Element, nodes: readonly HTMLElement[]): void => {
  const staying = new Set<Node>(nodes);
  for (const child of [...parent.childNodes]) if (!staying.has(child)) child.remove();
  let at = parent.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
};

export const setShown = (node: HTMLElement, shown: boolean): void => {
  if (node.hidden === shown) node.hidden = !shown;
};

/** A chip that carries hue (section) and pattern (fate), as the bars do. */
export const chip = (section: string, fate = "verbatim"): HTMLElement =>
  h("i", {
    class: `ci-chip ci-is-${token(OUTSIDE.has(section) ? "outside" : fate)}`,
    style: hue(section),
    "aria-hidden": "true",
  });

/** A chip that carries the tone of a state by hue and by pattern, as the band under a replay does. */
export const toneChip = (tone: string): HTMLElement =>
  h("i", {
    class: `ci-chip ci-tone-${token(tone)}`,
    style: `--hue: var(--ci-t-${token(tone)}, var(--ci-t-plain))`,
    "aria-hidden": "true",
  });

export const hue = (section: string): string => `--hue: var(--ci-s-${token(section)}, var(--ci-s-unknown))`;

const token = (id: string) => id.replace(/[^a-z_]/g, "");
