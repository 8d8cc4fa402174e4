// Listens for the keys of the table, wherever the focus is in the workbench, but never while someone types.

import type { Facts } from "../panels/facts/panel";
import type { LessonTab } from "../panels/lesson/panel";
import type { Rules } from "../panels/rules/panel";
import type { Search } from "../panels/search/panel";
import type { Store } from "../store/store";
import type { Actions } from "../store/view";
import { listen } from "../ui/dom";
import { claim, isModified } from "../ui/keys";
import { type Key, listKeys, nameKey } from "./key-table";
import type { Awaited } from "./later";
import { hearsLetters } from "./letter-keys-switch";
import { focusRegion } from "./regions";

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable=true]";
/** Elements to which Enter or an arrow already means something. */
const PRESSED =
  "button, summary, a, [role=slider], [role=grid], [role=treegrid], [role=listbox], [role=radio]";
/** JupyterLab takes no key of an element that bears this, nor of what is in it; it must be the very one with the focus. */
const OURS = "data-lm-suppress-shortcuts";
/** Keys that edit text together with ctrl or cmd. */
const EDITING = /^([acvxyz]|Arrow.*|Home|End|Enter|Backspace|Delete)$/;

/** Plain keys never reach the notebook, where "x" cuts the cell; saving and the command palette stay JupyterLab's. */
const makeShield = (root: HTMLElement, keys: readonly Key[]) => {
  let bearer: Element | undefined;
  return (event: KeyboardEvent) => {
    const [target] = event.composedPath();
    bearer?.removeAttribute(OURS);
    if (!(target instanceof Element) || !root.contains(target)) return;
    const plain = !isModified(event);
    const isShortcut = keys.some(shortcut => shortcut.keys.includes(nameKey(event)));
    if (!plain && !isShortcut && !EDITING.test(event.key)) return;
    bearer = target;
    target.setAttribute(OURS, "true");
  };
};

export const listenKeys = (
  root: HTMLElement,
  store: Store,
  actions: Actions,
  views: {
    help(): void;
    write(): void;
    search: Search;
    facts: Awaited<Facts>;
    lesson: Awaited<LessonTab> | null;
    rules: Awaited<Rules>;
  },
): (() => void) => {
  const keys = listKeys(store.host);
  const cutOf = () => root.querySelector<HTMLElement>(".ci-grip");
  const onKey = (event: KeyboardEvent) => {
    const { viewState } = store;
    const target = event.target as Element;
    const types = target.closest(TYPING) !== null && event.key !== "F6";
    if (viewState === undefined || event.altKey || event.isComposing || types) return;
    const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
    if (isLetter && !hearsLetters(store.host)) return;
    const name = nameKey(event);
    const key = keys.find(shortcut => shortcut.keys.includes(name));
    if (key === undefined || key.when?.(viewState) === false) return;
    const onCut = target === cutOf();
    // The cut handles arrows itself, but cannot be placed on an invalid cut point.
    const captured = key.onCut === true && onCut;
    if ((event.eventPhase === Event.CAPTURING_PHASE) !== captured || (key.onCut && !onCut)) return;
    if (!captured && event.defaultPrevented) return;
    if (/Enter|Arrow/.test(event.key) && !captured && target.closest(PRESSED)) return;
    claim(event);
    key.act({
      viewState,
      actions,
      stepHits: views.search.step,
      focusSearch: views.search.focus,
      focusFacts: () => views.facts.use(tab => tab.focus()),
      focusSummary: views.write,
      focusLesson() {
        const isOpen = viewState.tab === "lesson";
        actions.openTab("lesson");
        // A tab that was closed is drawn in the next frame.
        views.lesson?.use(tab => (isOpen ? tab.focus() : requestAnimationFrame(tab.focus)));
      },
      present: () => root.toggleAttribute("data-presenting"),
      focusCut: () => cutOf()?.focus(),
      focusStart: () => root.querySelector<HTMLElement>(".ci-start-grip")?.focus(),
      addRule: () => views.rules.use(tab => tab.addRule()),
      openHelp: views.help,
      goToRegion: way => focusRegion(root, way),
    });
  };
  // JupyterLab listens on the document, on some pages before anything in a cell hears of a key.
  const shield = makeShield(root, keys);
  window.addEventListener("keydown", shield, true);
  listen(root, "keydown", onKey);
  listen(root, "keydown", onKey, true);
  return () => {
    window.removeEventListener("keydown", shield, true);
    root.removeEventListener("keydown", onKey);
    root.removeEventListener("keydown", onKey, true);
  };
};
