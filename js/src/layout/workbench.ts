// The workbench over one host: its views, what the hand does, what Python sends, and one drawing per frame.

import { makeBlockList } from "../panels/block-list/panel";
import { makeOverview } from "../panels/overview/panel";
import { makePolicyPicker } from "../panels/policies/picker";
import { makeSearch } from "../panels/search/panel";
import { makeSentence } from "../panels/sentence/panel";
import { makeTimeline } from "../panels/timeline/timeline";
import { makeGauge } from "../panels/totals/gauge";
import type { Host } from "../payloads/host";
import { makeActions } from "../store/actions";
import { makeReceiving } from "../store/receive";
import { hasReplay } from "../store/replay";
import { Store } from "../store/store";
import { EVERYTHING, hasAny, type View } from "../store/view";
import { readPalette, readScale } from "../ui/canvas/canvas-colours";
import { h, listen } from "../ui/dom";
import { watchTheme } from "../ui/theme";
import { makeDock } from "./dock";
import { makeRecipe } from "./footer";
import { makeFrame } from "./frame";
import { makeHeader } from "./header";
import { listenKeys } from "./key-listener";
import { listKeys } from "./key-table";
import { type Later, type Makers, makeLater } from "./later";
import { makeEdge } from "./resize-edges";
import { isLow, markHeight } from "./size";

const ARRANGED = ["scene", "plan", "other", "run", "lesson", "selection"] as const;

/** Renders into `el`; returns a function that removes everything. Parts not drawn at first may load later. */
export const renderBench = (host: Host, el: HTMLElement, later: Later): (() => void) => {
  const store = new Store(host);
  const actions = makeActions(
    store,
    row => blockList.openBody(row),
    (words, undo) => frame.say(words, undo),
    () => writeSummary(),
    words => frame.announce(words),
  );
  const show = (view: View) => {
    if (store.viewState === undefined) return;
    view.draw(store.viewState, new Set(EVERYTHING));
    dock.arrange(store.viewState);
  };
  const tabs = makeLater(later, store.requests, show);
  const dialogs = makeLater(later, store.requests, show, "dialogs");
  const keeps = host.needsKernel === undefined;
  const help = dialogs.await("", ({ makeHelp }) => makeHelp(host));
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
  const plans = dialogs.await("", ({ makePlansMenu, makeNewFile }) =>
    makePlansMenu(actions, toPlans, makeNewFile?.(store.requests, toPlans)),
  );
  listen(toPlans, "click", () => plans.use(menu => menu.toggle()));
  // A page that was exported cannot make another.
  const tools = [h("span", { class: "ci-plans-at" }, toPlans, plans.node)];
  if (keeps) {
    const exporter = dialogs.await("", makers => (makers as Makers).makeExporter(store.requests));
    const open = h("button", { class: "ci-button", "data-testid": "export" }, "Export page…");
    listen(open, "click", () => exporter.use(dialog => dialog.open()));
    tools.push(h("span", { class: "ci-export" }, open, exporter.node));
  }
  const recipe = makeRecipe();
  tools.push(recipe.inMenu);
  const facts = tabs.await("facts", ({ makeFacts }) => makeFacts(actions));
  // Both ask Python at every step.
  const selection = keeps ? tabs.await("", tabs => (tabs as Makers).makeSelectionDetails(actions)) : null;
  const lesson = keeps ? tabs.await("lesson", tabs => (tabs as Makers).makeLesson(actions)) : null;
  const summary = tabs.await("summary", ({ makeSummaryTab, makeSummarise }) =>
    makeSummaryTab(actions, makeSummarise?.(actions)),
  );
  const writeSummary = () => summary.use(tab => tab.open());
  const blockList = makeBlockList(actions);
  const rules = tabs.await("rules", ({ makeRules }) => makeRules(actions));
  const start = tabs.await("", ({ makeStartHandle }) => makeStartHandle(actions));
  const timeline = makeTimeline(actions, start);
  const views = {
    header: makeHeader(actions, search.node, tools, openHelp),
    search,
    plans,
    gauge: makeGauge(actions, makePolicyPicker(actions)),
    overview: makeOverview(actions),
    timeline,
    sentence: makeSentence(actions),
    ...(lesson && { lesson }),
    facts,
    ...(selection && { selection }),
    context: tabs.await("context", ({ makeContext }) => makeContext(actions)),
    compactions: tabs.await("compactions", ({ makeCompactions }) => makeCompactions(actions)),
    findings: tabs.await("findings", ({ makeFindings }) => makeFindings(actions)),
    summary,
    rules,
    blockList,
    block: tabs.await(
      "blocks",
      ({ makeBlock }) => makeBlock(actions),
      ({ row }) => row < 0,
    ),
    replay: tabs.await(
      "replay",
      ({ makeReplay }) => makeReplay(actions),
      viewState => !hasReplay(viewState),
    ),
    recipe,
    live: tabs.await("", ({ makeLiveBanner }) => makeLiveBanner(actions)),
  };
  const dock = makeDock(
    {
      compactions: [views.compactions],
      findings: [views.findings],
      facts: [facts],
      context: [views.context],
      blocks: [views.blockList, views.block, ...(selection ? [selection] : [])],
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
  const { listeners, begin } = makeReceiving(store, frame);
  const edge = makeEdge(host, root);
  root.append(edge.node, views.live.node);
  const { axis } = timeline;
  let [width, stacked] = [0, false];

  store.screen = frame;
  store.measureWidth = () => {
    width = axis.clientWidth;
    return width;
  };
  store.isStacked = () => {
    stacked = isLow(root);
    return stacked;
  };
  store.measureType = () => readScale(root);
  store.draw = (viewState, parts) => {
    if (parts.has("tab")) dock.arrange(viewState);
    if (hasAny(parts, "size", "range"))
      Object.assign(viewState, store.measure(viewState.scene, viewState.range));
    if (hasAny(parts, "size", "theme")) viewState.palette = readPalette(root, viewState.scene.sections);
    for (const view of Object.values(views)) view.draw(viewState, parts);
    // A tab whose views have nothing to show is not offered.
    if (hasAny(parts, ...ARRANGED)) dock.arrange(viewState);
  };

  for (const [event, listener] of Object.entries(listeners)) host.on(event, listener);
  el.append(root);
  const forgetKeys = listenKeys(root, store, actions, {
    ...{ help: openHelp, write: writeSummary, search, facts, lesson, rules },
  });
  const forgetTheme = watchTheme(root, () => store.redraw("theme", "size"));
  // The axis is as wide as its strip, which also changes with the style sheet and the neighbouring panels.
  const resized = new ResizeObserver(() => {
    markHeight(root);
    if ((axis.clientWidth !== width || isLow(root) !== stacked) && axis.clientWidth > 0) store.redraw("size");
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
    store.dispose();
    root.remove();
  };
};
