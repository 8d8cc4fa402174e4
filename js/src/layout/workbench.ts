// The workbench over one host: its views, what the hand does, what Python sends, and one drawing per frame.

import { makeBlock } from "../panels/block-details/panel";
import { makeFates } from "../panels/block-list/panel";
import { ContextAfter } from "../panels/context/panel";
import { Findings } from "../panels/facts/findings";
import { makeFacts } from "../panels/facts/panel";
import { makeLesson } from "../panels/lesson/panel";
import { makeOverview } from "../panels/overview/panel";
import { makePolicyPicker } from "../panels/policies/picker";
import { makeReplay } from "../panels/replay/panel";
import { makeRules } from "../panels/rules/panel";
import { makeSearch } from "../panels/search/panel";
import { makeSentence } from "../panels/sentence/panel";
import { makeSummarise } from "../panels/summary/panel";
import { makeSummaryTab } from "../panels/summary/sides";
import { makeTimeline } from "../panels/timeline/timeline";
import { makePlanFacts } from "../panels/totals/figures";
import { makeGauge } from "../panels/totals/gauge";
import { makeStages } from "../panels/totals/stages";
import type { Host } from "../payloads/host";
import { makeActions } from "../store/actions";
import { makeComponentView } from "../store/component";
import { makeReceiving } from "../store/receive";
import { Deck } from "../store/store";
import { readPalette } from "../ui/canvas/canvas-colours";
import { watchTheme } from "../ui/theme";
import { makeDock } from "./dock";
import { makeEdge } from "./edge";
import { makeExporter } from "./export-dialog";
import { makeRecipe } from "./footer";
import { makeFrame } from "./frame";
import { makeHeader } from "./header";
import { makeHelp } from "./help-dialog";
import { KEYS } from "./keymap";
import { makeLetterKeys } from "./letter-keys";
import { makePlansMenu } from "./plans-menu";
import { listenKeys } from "./shortcuts";
import { isLow, markHeight } from "./size";

const ARRANGED = ["scene", "plan", "other", "run", "lesson"] as const;

/** Renders into `el` and returns how to take everything back. */
export const renderWorkbench = (host: Host, el: HTMLElement): (() => void) =>
  renderBench(host, el, makeSummarise);

/** The same without what writes a summary where that is not given: an exported page need not carry it. */
export const renderBench = (host: Host, el: HTMLElement, writing?: typeof makeSummarise): (() => void) => {
  const deck = new Deck(host);
  const actions = makeActions(
    deck,
    row => fates.openBody(row),
    (words, undo) => frame.say(words, undo),
    () => summary.open(),
    words => frame.announce(words),
  );
  const help = makeHelp(writing !== undefined, makeLetterKeys(host));
  const search = makeSearch(actions, {
    words: KEYS,
    press(at) {
      const key = KEYS[at]?.keys[0];
      root.focus();
      if (key !== undefined) root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    },
  });
  const keeps = host.needsKernel === undefined;
  const plans = makePlansMenu(actions, keeps);
  // A page that was exported cannot make another.
  const tools = [plans.node, ...(keeps ? [makeExporter(deck.requests)] : [])];
  const facts = makeFacts(actions);
  const form = writing?.(actions);
  const summary = makeSummaryTab(actions, form);
  const fates = makeFates(actions);
  const stages = makeStages();
  const rules = makeRules(actions, stages.node);
  const timeline = makeTimeline(actions);
  const views = {
    header: makeHeader(actions, search.node, tools, help.open),
    search,
    plans,
    gauge: makeGauge(actions, makePolicyPicker(actions)),
    overview: makeOverview(actions),
    timeline,
    stages,
    sentence: makeSentence(actions, makePlanFacts(actions)),
    lesson: makeLesson(actions),
    facts,
    context: makeComponentView(ContextAfter, actions, ["scene", "plan", "look", "tab", "place", "settled"]),
    findings: makeComponentView(Findings, actions, ["scene", "plan", "look", "tab", "settled"]),
    summary,
    rules,
    fates,
    block: makeBlock(actions),
    replay: makeReplay(actions),
    recipe: makeRecipe(),
  };
  const dock = makeDock(
    {
      findings: [views.findings],
      facts: [facts],
      context: [views.context],
      blocks: [views.fates, views.block],
      summary: [summary],
      replay: [views.replay],
      rules: [rules],
      lesson: [views.lesson],
    },
    actions,
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
    ...{ help: help.open, search, facts, rules, summary },
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
