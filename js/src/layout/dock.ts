// The dock: a row of tabs, and below it what the open one holds. The rest of the screen stays as it is.
import { exact, short } from "../model/format";
import { totalAfter } from "../model/plan";
import { rowsIn } from "../model/range";
import { besideTab, TABS, type TabId } from "../model/tabs";
import type { Host } from "../payloads/host";
import type { Actions, View, ViewState } from "../store/view";
import { h, listen, makeId, setAttributes, setShown, setText } from "../ui/dom";
import { claim, sideways, upOrDown } from "../ui/keys";
import { makeMenu } from "../ui/popover";
import { makeDockEdge } from "./resize-edges";

/** The content of each tab, left to right; a tab without views is not offered. */
export type TabViews = Partial<Record<TabId, readonly View[]>>;

export const makeDock = (views: TabViews, actions: Actions, host: Host) => {
  const slots = TABS.flatMap(({ id, title }) => {
    const slotViews = views[id];
    if (slotViews === undefined || slotViews.length === 0) return [];
    const count = h("span", { class: "ci-count" });
    const panel = makeId("tabpanel");
    const tab = h(
      "button",
      { role: "tab", class: "ci-tab", id: makeId("tab"), "aria-controls": panel, "data-testid": `tab-${id}` },
      title,
      count,
    );
    listen(tab, "click", () => {
      if (node.classList.contains("ci-folded")) {
        node.classList.remove("ci-folded");
        edge.keep();
      }
      actions.openTab(id);
    });
    const content = h(
      "div",
      {
        ...{ role: "tabpanel", class: "ci-tabpanel", id: panel, "aria-labelledby": tab.id, "data-panel": id },
        // A click on its text takes the focus into it: from then on it scrolls.
        tabindex: -1,
      },
      ...slotViews.map(view => view.node),
    );
    return [{ id, title, tab, node: content, count, slotViews }];
  });
  const row = h(
    "div",
    { class: "ci-tabs", role: "tablist", "aria-label": "Panels" },
    ...slots.map(s => s.tab),
  );
  const more = makeMore(slots, actions);
  const tabs = h("div", { class: "ci-tabrow" }, row, more.node);
  const node = h("section", { class: "ci-dock", "aria-label": "Details" }, tabs, ...slots.map(s => s.node));
  const edge = makeDockEdge(host, node);
  tabs.append(edge.node);
  let opened = "";

  listen(row, "keydown", event => {
    const way = sideways(event);
    const here = slots.find(({ tab }) => tab === document.activeElement);
    if (way === undefined || here === undefined) return;
    claim(event);
    const offered = slots.filter(({ tab }) => !tab.hidden).map(({ id }) => id);
    const next = besideTab(offered, here.id, way);
    actions.openTab(next);
    slots.find(({ id }) => id === next)?.tab.focus();
  });

  return {
    node,
    /** Opens the current tab, and shows the count of each. */
    arrange({ tab: openId, counts, plan, planned, place, scene, selection, selected, dragging }: ViewState) {
      // If the recorded request cannot be read, the plan's request is shown.
      const after = plan.unread ? totalAfter(planned, planned.cut.place) : totalAfter(plan, place);
      const [from, to] = rowsIn(scene, selection);
      const all = {
        ...{ ...counts, context: short(Math.max(0, after)) },
        // During a drag the counts of the last plan are out of date.
        ...(dragging && { findings: "" }),
        ...(selection && { blocks: exact(to - from) }),
        ...(selection &&
          selected && { facts: exact(selected.facts), findings: exact(selected.missing.length) }),
      };
      const isOffered = ({ slotViews }: (typeof slots)[number]) => slotViews.some(view => !view.node.hidden);
      if (openId !== opened && opened !== "") node.classList.remove("ci-folded");
      edge.restore();
      opened = openId;
      const shown = slots.find(slot => slot.id === openId && isOffered(slot)) ?? slots.find(isOffered);
      for (const slot of slots) {
        const isOpen = slot === shown;
        setShown(slot.tab, isOffered(slot));
        setAttributes(slot.tab, { "aria-selected": String(isOpen), tabindex: isOpen ? 0 : -1 });
        setShown(slot.node, isOpen);
        setText(slot.count, all[slot.id as keyof typeof all] ?? "");
      }
      more.show(shown);
    },
  };
};

/** The number of tabs in a narrow row; the others are behind "More". */
const FEW = 4;

interface Slot {
  readonly id: TabId;
  readonly title: string;
  readonly tab: HTMLElement;
}

/** Tabs that do not fit a narrow row. The style sheet decides; a wide row shows no button. */
const makeMore = (slots: readonly Slot[], actions: Actions) => {
  const rest = slots.slice(FEW);
  const id = makeId("more");
  const button = h(
    "button",
    { class: "ci-tab", "aria-haspopup": "menu", "aria-controls": id, "data-testid": "more-tabs" },
    "More ▾",
  );
  const items = rest.map(slot => {
    const onclick = () => {
      popover.close();
      actions.openTab(slot.id);
    };
    return h(
      "button",
      { role: "menuitemradio", tabindex: -1, "data-testid": `more-${slot.id}`, onclick },
      slot.title,
    );
  });
  const menu = h("div", { id, role: "menu", class: "ci-menu", "aria-label": "More tabs" }, ...items);
  const node = h("div", { class: "ci-more-tabs" }, button, menu);
  const popover = makeMenu(button, menu, () => items.find(item => !item.hidden)?.focus());
  for (const { tab } of rest) tab.classList.add("ci-tab-rest");
  listen(menu, "keydown", event => {
    const way = upOrDown(event);
    if (way === undefined) return;
    const offered = items.filter(item => !item.hidden);
    const at = offered.indexOf(document.activeElement as HTMLButtonElement);
    offered[(at + way + offered.length) % offered.length]?.focus();
    claim(event);
  });
  return {
    node,
    show(shown: Slot | undefined) {
      const inside = rest.find(slot => slot === shown);
      setText(button, `${inside?.title ?? "More"} ▾`);
      setAttributes(button, { "data-open": inside !== undefined });
      rest.forEach((slot, i) => {
        const item = items[i] as HTMLElement;
        setShown(item, !slot.tab.hidden);
        setAttributes(item, { "aria-checked": String(slot === shown) });
      });
    },
  };
};

export type Dock = ReturnType<typeof makeDock>;
