// Tabs that may come after the first picture. Until one is there a line stands in its place; it is fetched soon after
// that picture, or when somebody opens it.
import type { TabId } from "../model/tabs";
import type { Requests } from "../payloads/requests";
import type { Picture, View } from "../store/view";
import { h, setShown, setText } from "../ui/dom";
import type * as all from "./later-tabs";

type Makers = typeof all;

type ForPython = "makeExporter" | "makeFacts" | "makeLesson" | "makeNewFile" | "makeSummarise";

/** What makes the tabs; an exported page need not carry what does nothing without Python. */
export type LaterTabs = Omit<Makers, ForPython> & Partial<Makers>;

/** The tabs, or how they are fetched. */
export type Later = LaterTabs | ((requests: Requests) => Promise<LaterTabs>);

/** A view that may not be there yet. */
export interface Awaited<V extends View> extends View {
  /** Does something with the view, now or once it is there. */
  use(act: (view: V) => void): void;
}

/** Milliseconds after the first picture; whoever opens a tab before has it fetched at once. */
const SOON = 300;
const LOADING = "Loading…";

export const makeLater = (later: Later, requests: Requests, show: (view: View) => void) => {
  let tabs = typeof later === "function" ? undefined : later;
  let asked = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Set<{ arrive(tabs: LaterTabs): void; fail(words: string): void }>();

  const fetch = async () => {
    if (asked || typeof later !== "function") return;
    asked = true;
    for (const one of waiting) one.fail(LOADING);
    try {
      tabs = await later(requests);
    } catch (error) {
      asked = false;
      for (const one of waiting) one.fail((error as Error).message);
      return;
    }
    for (const one of waiting) one.arrive(tabs);
    waiting.clear();
  };

  return {
    /** `id` is the tab's, "" for a dialog; `isEmpty` says that the tab would have nothing to show. */
    await<V extends View>(
      id: TabId | "",
      make: (tabs: LaterTabs) => V,
      isEmpty: (picture: Picture) => boolean = () => false,
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
        draw(picture, parts) {
          if (view !== undefined) return view.draw(picture, parts);
          setShown(blank, id !== "" && !isEmpty(picture));
          if (picture.tab === id) void fetch();
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
