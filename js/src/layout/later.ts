// Tabs that may load after the first drawing. Until one is there a line replaces it; it is fetched soon after the
// first drawing, or when the user opens it.
import type { TabId } from "../model/tabs";
import type { Requests } from "../payloads/requests";
import type { View, ViewState } from "../store/view";
import { h, setShown, setText } from "../ui/dom";
import type * as dialogs from "./later-dialogs";
import type * as tabs from "./later-tabs";

export type Makers = typeof tabs & typeof dialogs;
/** What is fetched in one message. */
export type LaterPart = "later" | "dialogs";

type ForPython = "makeExporter" | "makeLesson" | "makeNewFile" | "makeSelectionDetails" | "makeSummarise";

/** Creates the tabs and the dialogs; an exported page omits those that need Python. */
export type LaterTabs = Omit<Makers, ForPython> & Partial<Makers>;

/** The tabs, or how they are fetched. */
export type Later = LaterTabs | ((requests: Requests, part: LaterPart) => Promise<LaterTabs>);

/** A view that may not be there yet. */
export interface Awaited<V extends View> extends View {
  /** Does something with the view, now or once it is there. */
  use(act: (view: V) => void): void;
}

/** Milliseconds after the first drawing; opening a tab fetches it at once. */
const SOON = 300;
const LOADING = "Loading…";

export const makeLater = (
  later: Later,
  requests: Requests,
  show: (view: View) => void,
  part: LaterPart = "later",
) => {
  let tabs = typeof later === "function" ? undefined : later;
  let isRequested = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Set<{ arrive(tabs: LaterTabs): void; fail(words: string): void }>();

  const fetch = async () => {
    if (isRequested || typeof later !== "function") return;
    isRequested = true;
    for (const waiter of waiting) waiter.fail(LOADING);
    try {
      tabs = await later(requests, part);
    } catch (error) {
      isRequested = false;
      for (const waiter of waiting) waiter.fail((error as Error).message);
      return;
    }
    for (const waiter of waiting) waiter.arrive(tabs);
    waiting.clear();
  };

  return {
    /** `id` is the tab's, "" for a dialog; `isEmpty` says that the tab would have nothing to show. */
    await<V extends View>(
      id: TabId | "",
      make: (tabs: LaterTabs) => V,
      isEmpty: (viewState: ViewState) => boolean = () => false,
    ): Awaited<V> {
      const blank = h("p", { class: "ci-quiet", hidden: true });
      let view = tabs && make(tabs);
      let acts: ((view: V) => void)[] = [];
      if (view === undefined)
        waiting.add({
          arrive(tabs) {
            view = make(tabs);
            blank.replaceWith(view.node);
            show(view);
            for (const act of acts) act(view);
            acts = [];
          },
          fail: words => setText(blank, words),
        });
      return {
        get node() {
          return view?.node ?? blank;
        },
        draw(viewState, parts) {
          if (view !== undefined) return view.draw(viewState, parts);
          setShown(blank, id !== "" && !isEmpty(viewState));
          if (viewState.tab === id) void fetch();
          else timer ??= setTimeout(fetch, SOON);
        },
        use(act) {
          if (view !== undefined) return act(view);
          acts.push(act);
          void fetch();
        },
        dispose() {
          clearTimeout(timer);
          waiting.clear();
          view?.dispose?.();
        },
      };
    },
  };
};
