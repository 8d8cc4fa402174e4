// The layout: which view stands where. Below the lines for trouble there is either the bench or a blank.
import { columnsOf, PANELS, type PanelId } from "../model/modes";
import type { Screen } from "../store/store";
import type { Actions, Picture, View } from "../store/view";
import { h, setAttributes, setShown, setText } from "../ui/dom";
import { makeProgress } from "./progress";

type Fixed =
  | "header"
  | "gauge"
  | "stages"
  | "legend"
  | "lanes"
  | "strip"
  | "handle"
  | "reason"
  | "fatekey"
  | "planfacts"
  | "recipe"
  | "notices"
  | "bill";
export type Named = Record<Fixed, View> & Partial<Record<PanelId, View>>;

export interface Bench extends Screen {
  /** A short sentence about what has just been done; gone after a while. */
  say(words: string): void;
  /** Opens and closes the panels as the picture says. */
  arrange(picture: Picture): void;
}

const LOADING = ["Reading the session", "Its tokens are being counted; the picture follows."] as const;
const A_WHILE = 4000;

interface Slot {
  id: PanelId;
  node: HTMLElement;
  /** In the panel's title: closes it. */
  close: HTMLElement;
  /** On the shelf: opens it. */
  open: HTMLElement;
  view: View;
}

export const makeBench = (views: Named, actions: Actions, help: HTMLElement): Bench => {
  const slots = PANELS.flatMap(({ id, title }) => {
    const view = (views as Partial<Record<PanelId, View>>)[id];
    return view === undefined ? [] : [makeSlot(id, title, view, actions)];
  });
  const nodesOf = (where: string) =>
    slots.filter(({ id }) => PANELS.find(panel => panel.id === id)?.where === where).map(({ node }) => node);
  const columns = h("div", { class: "ci-panels" }, ...nodesOf("column"));
  const shelf = h("p", { class: "ci-shelf", role: "group", "aria-label": "Closed panels" });
  const progress = makeProgress(actions);
  const cut = h("div", { class: "ci-label" }, h("span", {}, "cut"));
  const { header, gauge, lanes, strip, handle, reason, fatekey } = views;
  const bench = h(
    "div",
    { class: "ci-bench" },
    header.node,
    h("div", { class: "ci-sticky" }, gauge.node),
    views.stages.node,
    views.legend.node,
    ...nodesOf("top"),
    h(
      "section",
      { class: "ci-turns", "aria-label": "Turns" },
      lanes.node,
      h("div", { class: "ci-lined ci-cuts" }, cut, strip.node),
      h("div", { class: "ci-stage" }, handle.node),
    ),
    h("div", { class: "ci-under" }, reason.node, fatekey.node),
    views.planfacts.node,
    ...nodesOf("first"),
    columns,
    ...nodesOf("wide"),
    shelf,
    views.recipe.node,
    views.notices.node,
    views.bill.node,
  );
  const failure = h("b", {}, "This session could not be shown");
  const problem = h("span", { "data-testid": "error" });
  const alert = h("div", { class: "ci-error", role: "alert", hidden: true }, failure, problem);
  const waiting = h("p", { class: "ci-waiting", role: "status" });
  const said = h("p", { class: "ci-said", role: "status", "data-testid": "said" });
  const [title, sentence] = LOADING;
  const blank = h("div", { class: "ci-blank", role: "status" }, h("b", {}, title), h("p", {}, sentence));
  const root = h(
    "div",
    { class: "ci", tabindex: -1 },
    ...[progress.node, alert, waiting, blank, bench, said, help],
  );
  let hasViews = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const arrange = () => {
    const troubled = problem.textContent !== "";
    setShown(bench, hasViews);
    setShown(alert, troubled);
    setShown(failure, !hasViews);
    setShown(blank, !hasViews && !troubled);
  };
  arrange();

  return {
    root,
    showViews(shown) {
      hasViews = shown;
      arrange();
    },
    complain(words) {
      setText(problem, words);
      arrange();
    },
    wait: words => setText(waiting, words),
    setBusy: busy => setAttributes(root, { "aria-busy": busy ? "true" : undefined }),
    showWork: work => progress.show(work),
    say(words) {
      setText(said, words);
      clearTimeout(timer);
      timer = setTimeout(() => setText(said, ""), A_WHILE);
    },
    arrange({ mode, open }) {
      root.dataset.mode = mode;
      // A panel that says itself that it has nothing to show is offered nowhere.
      const offered = slots.filter(({ view }) => !view.node.hidden);
      for (const slot of slots) {
        const focused = slot.node.contains(document.activeElement) && !open.has(slot.id);
        const asked = document.activeElement === slot.open && open.has(slot.id);
        setShown(slot.node, open.has(slot.id));
        if (focused) queueMicrotask(() => slot.open.focus());
        if (asked) queueMicrotask(() => slot.close.focus());
      }
      const closed = offered.filter(({ id }) => !open.has(id)).map(slot => slot.open);
      shelf.replaceChildren(...closed);
      setShown(shelf, closed.length > 0);
      const shown = offered.filter(({ id }) => open.has(id)).map(({ id }) => id);
      columns.style.setProperty("--ci-columns", columnsOf(shown));
      setShown(columns, columnsOf(shown) !== "");
    },
  };
};

/** A panel that can be closed by its own title; on the shelf it is opened again. */
const makeSlot = (id: PanelId, title: string, view: View, actions: Actions): Slot => {
  const close = h("button", { class: "ci-toggle", "aria-expanded": "true", title: "Close" });
  const open = h(
    "button",
    { class: "ci-toggle", "aria-expanded": "false", "data-testid": `open-${id}` },
    title,
  );
  close.addEventListener("click", () => actions.openPanel(id, false));
  open.addEventListener("click", () => actions.openPanel(id, true));
  const heading = view.node.querySelector("h3, .ci-label > span");
  const words = heading?.firstChild;
  if (words?.nodeType === Node.TEXT_NODE) {
    words.replaceWith(close);
    close.append(words);
  }
  const node = h("div", { class: "ci-slot", "data-panel": id }, view.node);
  return { id, node, close, open, view };
};
