// The workbench over one host: its views, what the hand does, what Python sends, and one drawing per frame.

import { makeBlock } from "../panels/block-details/panel";
import { makeBlockList } from "../panels/block-list/panel";
import { Findings } from "../panels/facts/findings";
import { makeOverview } from "../panels/overview/panel";
import { makePolicyPicker } from "../panels/policies/picker";
import { makeSearch } from "../panels/search/panel";
import { makeSentence } from "../panels/sentence/panel";
import { makeTimeline } from "../panels/timeline/timeline";
import { makePlanFacts } from "../panels/totals/figures";
import { makeGauge } from "../panels/totals/gauge";
import type { Host } from "../payloads/host";
import { makeActions } from "../store/actions";
import { makeComponentView } from "../store/component";
import { makeReceiving } from "../store/receive";
import { hasReplay } from "../store/replay";
import { Deck } from "../store/store";
import { EVERYTHING } from "../store/view";
import { readPalette } from "../ui/canvas/canvas-colours";
import { h, listen } from "../ui/dom";
import { watchTheme } from "../ui/theme";
import { makeDock } from "./dock";
import { makeRecipe } from "./footer";
import { makeFrame } from "./frame";
import { makeHeader } from "./header";
import { listKeys } from "./keymap";
import { type Later, makeLater } from "./later";
import type * as all from "./later-tabs";
import { makeEdge } from "./resize-edges";
import { listenKeys } from "./shortcuts";
import { isLow, markHeight } from "./size";

const ARRANGED = ["scene", "plan", "other", "run", "lesson"] as const;

/** Renders into `el` and returns how to take everything back. What the first picture does not need may come later. */
export const renderBench = (host: Host, el: HTMLElement, later: Later): (() => void) => {
  const deck = new Deck(host);
  const actions = makeActions(
    deck,
    row => blockList.openBody(row),
    (words, undo) => frame.say(words, undo),
    () => writeSummary(),
    words => frame.announce(words),
  );
  const tabs = makeLater(later, deck.requests, view => {
    if (deck.picture === undefined) return;
    view.draw(deck.picture, new Set(EVERYTHING));
    dock.arrange(deck.picture);
  });
  const keeps = host.needsKernel === undefined;
  const help = tabs.await("", ({ makeHelp }) => makeHelp(host));
  const openHelp = () => help.use(dialog => dialog.open());
  const keys = listKeys(host);
  const search = makeSearch(actions, {
    words: keys,
    press(at) {
      const key = keys[at]?.keys[0];
      root.focus();
      if (key !== undefined) root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    },
  });
  const toPlans = h("button", { class: "ci-button", "data-testid": "plans" }, "Plans ▾");
  const plans = tabs.await("", ({ makePlansMenu, makeNewFile }) =>
    makePlansMenu(actions, toPlans, makeNewFile?.(deck.requests, toPlans)),
  );
  listen(toPlans, "click", () => plans.use(menu => menu.toggle()));
  // A page that was exported cannot make another.
  const tools = [h("span", { class: "ci-plans-at" }, toPlans, plans.node)];
  if (keeps) {
    const exporter = tabs.await("", tabs => (tabs as typeof all).makeExporter(deck.requests));
    const open = h("button", { class: "ci-button", "data-testid": "export" }, "Export page…");
    listen(open, "click", () => exporter.use(dialog => dialog.open()));
    tools.push(h("span", { class: "ci-export" }, open, exporter.node));
  }
  const recipe = makeRecipe();
  tools.push(recipe.inMenu);
  // Both ask Python at every step; a page may hold the answers to its lessons.
  const facts = keeps ? tabs.await("facts", tabs => (tabs as typeof all).makeFacts(actions)) : null;
  const lesson =
    keeps || host.hasLessons ? tabs.await("lesson", tabs => (tabs as typeof all).makeLesson(actions)) : null;
  const summary = tabs.await("summary", ({ makeSummaryTab, makeSummarise }) =>
    makeSummaryTab(actions, makeSummarise?.(actions)),
  );
  const writeSummary = () => summary.use(tab => tab.open());
  const blockList = makeBlockList(actions);
  const rules = tabs.await("rules", ({ makeRules }) => makeRules(actions));
  const timeline = makeTimeline(actions);
  const views = {
    header: makeHeader(actions, search.node, tools, openHelp),
    search,
    plans,
    gauge: makeGauge(actions, makePolicyPicker(actions)),
    overview: makeOverview(actions),
    timeline,
    sentence: makeSentence(actions, makePlanFacts(actions)),
    ...(lesson && { lesson }),
    ...(facts && { facts }),
    context: tabs.await("context", ({ makeContext }) => makeContext(actions)),
    findings: makeComponentView(Findings, actions, ["scene", "plan", "look", "tab", "settled"]),
    summary,
    rules,
    blockList,
    block: makeBlock(actions),
    replay: tabs.await(
      "replay",
      ({ makeReplay }) => makeReplay(actions),
      picture => !hasReplay(picture),
    ),
    recipe,
  };
  const dock = makeDock(
    {
      findings: [views.findings],
      facts: facts ? [facts] : [],
      context: [views.context],
      blocks: [views.blockList, views.block],
      summary: [summary],
      replay: [views.replay],
      rules: [rules],
      lesson: lesson ? [lesson] : [],
    },
    actions,
    host,
  );
  const frame = makeFrame(views, dock, actions, help.node);
  const { root } = frame;
  const { listeners, begin } = makeReceiving(deck, frame);
  const edge = makeEdge(host, root);
  root.append(edge.node);
  const { axis } = timeline;
  let [width, stacked] = [0, false];

  deck.screen = frame;
  deck.measureWidth = () => {
    width = axis.clientWidth;
    return width;
  };
  deck.isStacked = () => {
    stacked = isLow(root);
    return stacked;
  };
  deck.draw = (picture, parts) => {
    if (parts.has("tab")) dock.arrange(picture);
    if (parts.has("size") || parts.has("range"))
      Object.assign(picture, deck.measure(picture.scene, picture.range));
    if (parts.has("size") || parts.has("theme")) picture.palette = readPalette(root, picture.scene.sections);
    for (const view of Object.values(views)) view.draw(picture, parts);
    // A tab whose views have nothing to show is not offered.
    if (ARRANGED.some(part => parts.has(part))) dock.arrange(picture);
  };

  for (const [event, listener] of Object.entries(listeners)) host.on(event, listener);
  el.append(root);
  const forgetKeys = listenKeys(root, deck, actions, {
    ...{ help: openHelp, write: writeSummary, search, facts, lesson, rules },
  });
  const forgetTheme = watchTheme(root, () => deck.redraw("theme"));
  // The axis is as wide as its strip, whose width also changes with the style sheet or the panels beside it.
  const resized = new ResizeObserver(() => {
    markHeight(root);
    if ((axis.clientWidth !== width || isLow(root) !== stacked) && axis.clientWidth > 0) deck.redraw("size");
  });
  resized.observe(axis);
  resized.observe(root);
  begin();

  return () => {
    for (const [event, listener] of Object.entries(listeners)) host.off(event, listener);
    for (const view of Object.values(views)) if ("dispose" in view) view.dispose?.();
    forgetKeys();
    forgetTheme();
    resized.disconnect();
    edge.forget();
    deck.dispose();
    root.remove();
  };
};
