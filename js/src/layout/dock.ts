// The dock: a row of tabs, and below it what the open one holds. The rest of the screen stays as it is.
import { besideTab, TABS, type TabId } from "../model/tabs";
import type { Actions, Picture, View } from "../store/view";
import { h, makeId, setAttributes, setShown, setText } from "../ui/dom";

/** What each tab holds, left to right; one without views is not offered. */
export type TabViews = Partial<Record<TabId, readonly View[]>>;

export interface Dock {
  readonly node: HTMLElement;
  /** Opens the tab that the picture names, and says how much each holds. */
  arrange(picture: Picture): void;
}

export const makeDock = (views: TabViews, actions: Actions): Dock => {
  const slots = TABS.flatMap(({ id, title }) => {
    const held = views[id];
    if (held === undefined || held.length === 0) return [];
    const count = h("span", { class: "ci-count" });
    const panel = makeId("tabpanel");
    const tab = h(
      "button",
      { role: "tab", class: "ci-tab", id: makeId("tab"), "aria-controls": panel, "data-testid": `tab-${id}` },
      title,
      count,
    );
    tab.addEventListener("click", () => actions.openTab(id));
    const node = h(
      "div",
      { role: "tabpanel", class: "ci-tabpanel", id: panel, "aria-labelledby": tab.id, "data-panel": id },
      ...held.map(view => view.node),
    );
    return [{ id, tab, node, count, held }];
  });
  const row = h(
    "div",
    { class: "ci-tabs", role: "tablist", "aria-label": "Panels" },
    ...slots.map(s => s.tab),
  );
  const node = h("section", { class: "ci-dock", "aria-label": "Details" }, row, ...slots.map(s => s.node));

  row.addEventListener("keydown", event => {
    const way = ({ ArrowLeft: -1, ArrowRight: 1 } as const)[event.key as "ArrowLeft"];
    const here = slots.find(({ tab }) => tab === document.activeElement);
    if (way === undefined || here === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const offered = slots.filter(({ tab }) => !tab.hidden).map(({ id }) => id);
    const next = besideTab(offered, here.id, way as 1 | -1);
    actions.openTab(next);
    slots.find(({ id }) => id === next)?.tab.focus();
  });

  return {
    node,
    arrange({ tab: wanted, counts }) {
      const isOffered = ({ held }: (typeof slots)[number]) => held.some(view => !view.node.hidden);
      const shown = slots.find(slot => slot.id === wanted && isOffered(slot)) ?? slots.find(isOffered);
      for (const slot of slots) {
        const isOpen = slot === shown;
        setShown(slot.tab, isOffered(slot));
        setAttributes(slot.tab, { "aria-selected": String(isOpen), tabindex: isOpen ? 0 : -1 });
        setShown(slot.node, isOpen);
        setText(slot.count, counts[slot.id] ?? "");
      }
    },
  };
};
