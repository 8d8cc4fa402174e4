// What the hand can do. Everything it changes goes through the deck; nothing here waits for Python.

import { swapped } from "../model/compare";
import { idOf } from "../model/cuts";
import { makeInquiry } from "./facts";
import { makeTeaching } from "./lesson";
import { makeFinding } from "./navigate";
import { makePolicies } from "./policies";
import { clampRange, type Deck } from "./store";
import type { Actions } from "./view";

/** Keys that move the cut within so many milliseconds are one step of the past. */
const ONE_GESTURE = 900;

/** `reveal` shows a block's text in the list; `say` tells a short sentence where everyone sees it, `announce` has one read out. */
export const makeActions = (
  deck: Deck,
  reveal: (row: number) => void,
  say: (words: string, undo?: () => void) => void,
  write: () => void,
  announce: (words: string) => void,
): Actions => {
  const { host, sync, requests } = deck;
  let moved = Number.NEGATIVE_INFINITY;
  let slid = false;
  const change: Deck["change"] = choices => {
    moved = Number.NEGATIVE_INFINITY;
    teaching.forget();
    deck.change(choices);
  };
  const actions: Actions = {
    requests,
    announce,
    askPolicies: makePolicies(deck),
    facts: makeInquiry(deck, () => deck.redraw("tracing")),
    slideCut(place, dragging) {
      const { picture } = deck;
      if (picture === undefined) return;
      picture.dragging = dragging;
      teaching.slide();
      if (place === picture.place) return;
      // What happened has no other cut: the hand moves that of the plan.
      if (picture.look !== "plan") deck.show("plan");
      picture.place = place;
      if (teaching.isGuessing()) return deck.redraw("place");
      const cut = idOf(picture.scene, place);
      sync.slide(cut);
      deck.expect("place");
      slid = dragging;
      if (dragging) return;
      const now = performance.now();
      deck.remember(now - moved < ONE_GESTURE, cut);
      moved = now;
    },
    takeCut: () => deck.redraw("place"),
    dropCut() {
      const { picture } = deck;
      if (picture === undefined) return;
      picture.dragging = false;
      deck.redraw("place", "why");
      teaching.drop();
      if (slid) deck.remember(false, idOf(picture.scene, picture.place));
      slid = false;
      deck.hooks.receivePlan();
    },
    cancelCut(place, free) {
      const { picture } = deck;
      if (picture === undefined) return;
      Object.assign(picture, { dragging: false, place });
      slid = false;
      deck.redraw("place", "why");
      if (!teaching.isGuessing()) deck.change({ cut: free ? "" : idOf(picture.scene, place) });
    },
    freeCut: () => change({ cut: "" }),
    sayWhy(place) {
      const { picture } = deck;
      if (picture === undefined || picture.why === place) return;
      teaching.hover(place);
      picture.why = place;
      deck.redraw("why");
    },
    select(row) {
      if (deck.picture === undefined) return;
      deck.picture.row = row;
      finding.share(row);
      deck.redraw("row");
    },
    openBody(row) {
      actions.openTab("blocks");
      actions.select(row);
      reveal(row);
    },
    moveTo: at => change({ at, cut: "" }),
    lookAt(look, at) {
      const { picture } = deck;
      if (picture === undefined) return;
      if (at !== undefined && at !== (host.get("at") ?? "")) return change({ at, cut: "", look });
      deck.hooks.forget();
      deck.show(look);
      change({ look });
    },
    choosePolicy: policy => change({ policy, settings: {} }),
    setKnob: (key, value) => change({ settings: { ...host.get("settings"), [key]: value } }),
    resetKnob(key) {
      const { [key]: _, ...rest } = host.get("settings");
      change({ settings: rest });
    },
    setPins: pins => change({ pins }),
    edit(choices, said, undoable = false) {
      // Another policy has settings of its own.
      change("policy" in choices ? { settings: {}, ...choices } : choices);
      say(said, undoable ? actions.undo : undefined);
    },
    askReplay: replay => change({ replay }),
    replayStage(at) {
      change({ at, cut: "", replay: true });
      actions.openTab("replay");
    },
    changeScenario: part => change({ scenario: { ...host.get("scenario"), ...part } }),
    compareWith: versus => change({ versus }),
    swapPlans() {
      const next = deck.picture && swapped(deck.picture);
      if (next) change(next);
    },
    openTab(tab) {
      if (deck.picture === undefined || deck.picture.tab === tab) return;
      deck.picture.tab = tab;
      host.set("tab", tab);
      host.save_changes();
      deck.hooks.forget();
      deck.redraw("tab", "row");
    },
    openStep(link) {
      if (deck.picture === undefined) return;
      deck.picture.step = { link, own: true };
      host.set("lesson", link);
      host.save_changes();
      deck.hooks.forget();
      deck.redraw("lesson");
    },
    showFactRow(content) {
      if (deck.picture === undefined) return;
      deck.picture.factRow = content;
      deck.redraw("tracing");
    },
    writeSummary: write,
    countTab(tab, words) {
      if (deck.picture === undefined || (deck.picture.counts[tab] ?? "") === words) return;
      deck.picture.counts = { ...deck.picture.counts, [tab]: words };
      deck.redraw("tab");
    },
    brush(first, end) {
      if (deck.picture === undefined) return;
      deck.picture.range = clampRange(first, end, deck.picture.scene);
      deck.redraw("range");
    },
    search: (query, keys) => finding.search(query, keys),
    goTo: (ref, at) => finding.goTo(ref, at),
    async copyLink(row) {
      say(await finding.copyLink(row));
    },
    undo: () => travel(deck.past.undo()),
    redo: () => travel(deck.past.redo()),
    reveal: row => finding.reveal(row),
    playTo: taken => teaching.playTo(taken),
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
  const teaching = makeTeaching(deck);
  const finding = makeFinding(deck, actions, say);
  deck.hooks.arrive = finding.arrive;
  deck.hooks.follow = finding.follow;
  deck.hooks.forget = teaching.forget;
  deck.hooks.settle = teaching.settle;
  deck.hooks.leave = finding.dispose;

  const travel = (state: ReturnType<Deck["past"]["undo"]>) => state !== undefined && change(state);
  return actions;
};
