// The user's actions. All changes go through the store; nothing here waits for Python.

import { swapped } from "../model/compare";
import { idOf } from "../model/cuts";
import { isUncut } from "../model/plan";
import { keep } from "../payloads/host";
import { makeFactsController } from "./facts";
import { makeTeaching } from "./lesson";
import { makeFinding } from "./navigate";
import { makePolicies } from "./policies";
import { makeSelection } from "./selection";
import { clampRange, type Store } from "./store";
import type { Actions } from "./view";

/** Cut moves by key within this many milliseconds are one undo step. */
const ONE_GESTURE = 900;

/** `reveal` shows a block's text in the list; `say` shows a short sentence, `announce` has one read out. */
export const makeActions = (
  store: Store,
  reveal: (row: number) => void,
  say: (words: string, undo?: () => void) => void,
  write: () => void,
  announce: (words: string) => void,
): Actions => {
  const { host, sync, requests } = store;
  let moved = Number.NEGATIVE_INFINITY;
  let slid: Parameters<Store["remember"]>[1];
  /** Has Python hear of the ends that a hand or a key has moved. */
  const slide = (ends: NonNullable<typeof slid>, dragging: boolean) => {
    say("");
    sync.slide(ends);
    store.expect("place");
    slid = dragging ? ends : undefined;
    if (dragging) return;
    const now = performance.now();
    store.remember(now - moved < ONE_GESTURE, ends);
    moved = now;
  };
  const change: Store["change"] = choices => {
    moved = Number.NEGATIVE_INFINITY;
    // Undo would take back this change, and no longer the one that was told of.
    say("");
    teaching.forget();
    store.change(choices);
  };
  const actions: Actions = {
    requests,
    announce,
    askPolicies: makePolicies(store),
    facts: makeFactsController(store, () => store.redraw("tracing")),
    slideCut(place, dragging) {
      const { viewState } = store;
      if (viewState === undefined) return;
      viewState.dragging = dragging;
      teaching.slide();
      if (place === viewState.place) return;
      // A recorded compaction has no other cut: moving it moves the plan's cut.
      if (viewState.look !== "plan") store.show("plan");
      viewState.place = place;
      if (teaching.isGuessing()) return store.redraw("place");
      slide({ cut: idOf(viewState.scene, place) }, dragging);
    },
    slideStart(since, dragging) {
      const { viewState } = store;
      if (viewState === undefined) return;
      viewState.dragging = dragging;
      if (since === viewState.cuts.since) return;
      if (viewState.look !== "plan") store.show("plan");
      const { scene, place, plan, cuts } = viewState;
      const end = isUncut(plan, place) ? scene.entries : place;
      Object.assign(viewState, { place: end, cuts: { ...cuts, since } });
      slide({ since: since > 0 ? idOf(scene, since) : "", cut: idOf(scene, end) }, dragging);
    },
    compactRange(since, cut) {
      const { viewState } = store;
      if (viewState === undefined) return;
      const { scene } = viewState;
      change({ since: since > 0 ? idOf(scene, since) : "", cut: idOf(scene, cut) });
    },
    takeCut: () => store.redraw("place"),
    dropCut() {
      const { viewState } = store;
      store.update({ dragging: false }, "place", "why");
      teaching.drop();
      if (slid && viewState) store.remember(false, slid);
      slid = undefined;
      store.hooks.receivePlan();
    },
    cancelCut(place, free) {
      const { viewState } = store;
      store.update({ dragging: false, place }, "place", "why");
      slid = undefined;
      if (viewState && !teaching.isGuessing())
        store.change({ cut: free ? "" : idOf(viewState.scene, place) });
    },
    freeCut: () => change({ cut: "", since: "" }),
    sayWhy(place) {
      const { viewState } = store;
      if (viewState?.why === place) return;
      teaching.hover(place);
      store.update({ why: place }, "why");
    },
    select(row) {
      store.update({ row }, "row");
      finding.share(row);
    },
    openBody(row) {
      actions.openTab("blocks");
      actions.select(row);
      reveal(row);
    },
    moveTo: at => change({ at, cut: "", since: "" }),
    lookAt(look, at) {
      const { viewState } = store;
      if (viewState === undefined) return;
      if (at !== undefined && at !== (host.get("at") ?? "")) return change({ at, cut: "", look });
      store.hooks.forget();
      store.show(look);
      change({ look });
    },
    openOn(mark) {
      store.update({ opening: false }, "look");
      if (mark === undefined) return;
      store.hooks.forget();
      if (mark.at === (host.get("at") ?? "")) store.show(mark.look);
      store.change({ at: mark.at, cut: "", look: mark.look }, false);
    },
    takeArrived(shows) {
      const mark = store.viewState?.arrived;
      if (!mark) return;
      store.update({ arrived: null }, "arrived");
      if (!shows) return;
      actions.lookAt(mark.look, mark.at);
      actions.openTab("compactions");
    },
    choosePolicy: policy => change({ policy, settings: {} }),
    setKnob: (key, value) => change({ settings: { ...host.get("settings"), [key]: value } }),
    resetKnob(key) {
      const { [key]: _, ...rest } = host.get("settings");
      change({ settings: rest });
    },
    setPins: pins => change({ pins }),
    edit(choices, message, undoable = false) {
      // Another policy has settings of its own.
      change("policy" in choices ? { settings: {}, ...choices } : choices);
      say(message, undoable ? actions.undo : undefined);
    },
    askReplay: replay => change({ replay }),
    replayStage(at) {
      change({ at, cut: "", replay: true });
      actions.openTab("replay");
    },
    changeScenario: part => change({ scenario: { ...host.get("scenario"), ...part } }),
    compareWith: versus => change({ versus }),
    swapPlans() {
      const next = store.viewState && swapped(store.viewState);
      if (next) change(next);
    },
    openTab(tab) {
      if (store.viewState === undefined || store.viewState.tab === tab) return;
      keep(host, "tab", tab);
      store.hooks.forget();
      store.update({ tab, opening: false }, "tab", "row", "look");
    },
    showFactLane: factLane => store.update({ factLane }, "tracing"),
    writeSummary: write,
    countTab(tab, words) {
      const counts = store.viewState?.counts ?? {};
      if ((counts[tab] ?? "") !== words) store.update({ counts: { ...counts, [tab]: words } }, "tab");
    },
    brush(first, end) {
      const { viewState } = store;
      if (viewState) store.update({ range: clampRange(first, end, viewState.scene) }, "range");
    },
    selection: makeSelection(
      store,
      (first, end) => actions.brush(first, end),
      rows => actions.facts.setFilter({ rows }),
    ),
    search: query => finding.search(query),
    goTo: (ref, at) => finding.goTo(ref, at),
    async copyLink(row) {
      say(await finding.copyLink(row));
    },
    undo: () => travel(store.history.undo()),
    redo: () => travel(store.history.redo()),
    reveal: row => finding.reveal(row),
    playTo: steps => teaching.playTo(steps),
    guess: act => teaching.guess(act),
    breakAt: place => teaching.breakAt(place),
    stop(what) {
      try {
        host.send({ type: "stop", id: "", ...(what && { what }) });
      } catch {
        // A kernel that has gone does nothing any more.
        say(host.silence ?? "The kernel is gone, and its work with it.");
      }
    },
  };
  const teaching = makeTeaching(store);
  const finding = makeFinding(store, actions, say);
  store.hooks.arrive = finding.arrive;
  store.hooks.follow = finding.follow;
  store.hooks.forget = teaching.forget;
  store.hooks.settle = teaching.settle;
  store.hooks.leave = finding.dispose;

  const travel = (state: ReturnType<Store["history"]["undo"]>) => state !== undefined && change(state);
  return actions;
};
