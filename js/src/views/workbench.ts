// The workbench over one host: decodes what Python sends, holds what the hand does, draws once a frame.
import { measureLanes } from "../core/bars";
import { idOf, makeCuts } from "../core/cuts";
import { makeAxis } from "../core/geometry";
import type { Choices, Host, Mode } from "../core/host";
import { Life } from "../core/life";
import { gatherNews } from "../core/news";
import { Requests } from "../core/requests";
import { decideSame, decodePlan, decodeScene, type Scene } from "../core/state";
import { Sync } from "../core/sync";
import type { Work } from "../core/wire";
import { makeBench } from "./bench";
import { makeBlock } from "./block";
import { makeCutStrip } from "./cutstrip";
import { makeFateKey } from "./fatekey";
import { makeFates } from "./fates";
import { makeGauge } from "./gauge";
import { makeHandle } from "./handle";
import { makeHeader } from "./header";
import { makeLanes } from "./lanes";
import { makeLegend } from "./legend";
import { makeNotices } from "./notices";
import { makeOverview } from "./overview";
import { readPalette } from "./palette";
import type { Actions, Part, Picture } from "./picture";
import { makeReason } from "./reason";
import { makeRecipe } from "./recipe";
import { makeReplay } from "./replay";
import { makeRules } from "./rules";
import { makeStages } from "./stages";
import { watchTheme } from "./theme";

const EVERYTHING: Part[] = [
  "scene",
  "plan",
  "fates",
  "place",
  "row",
  "why",
  "size",
  "theme",
  "settled",
  "run",
  "other",
  "mode",
  "range",
  "found",
  "work",
];
const PATIENCE = 4000;
const SILENCE = "Python has not answered yet. If the kernel is gone, run the cell again.";

/** Renders into `el` and returns how to take everything back. */
export const renderWorkbench = (host: Host, el: HTMLElement): (() => void) => {
  const sync = new Sync(host);
  const life = new Life(host, sync);
  const requests = new Requests(host);
  const parts = new Set<Part>();
  let picture: Picture | undefined;
  let frame = 0;
  let width = 0;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const actions: Actions = {
    requests,
    slideCut(place, dragging) {
      if (picture === undefined) return;
      picture.dragging = dragging;
      if (place === picture.place) return;
      picture.place = place;
      sync.slide(idOf(picture.scene, place));
      expect("place");
    },
    dropCut() {
      if (picture === undefined) return;
      picture.dragging = false;
      redraw("place", "why");
      receivePlan();
    },
    freeCut: () => change({ cut: "" }),
    sayWhy(place) {
      if (picture === undefined || picture.why === place) return;
      picture.why = place;
      redraw("why");
    },
    select(row) {
      if (picture === undefined) return;
      picture.row = row;
      redraw("row");
    },
    openBody(row) {
      actions.select(row);
      fates.openBody(row);
    },
    moveTo: at => change({ at, cut: "" }),
    choosePolicy: policy => change({ policy, settings: {} }),
    setKnob: (key, value) => change({ settings: { ...host.get("settings"), [key]: value } }),
    resetKnob(key) {
      const { [key]: _, ...rest } = host.get("settings");
      change({ settings: rest });
    },
    setPins: pins => change({ pins }),
    askReplay: replay => change({ replay }),
    compareWith: versus => change({ versus }),
    setMode(mode) {
      host.set("mode", mode);
      host.save_changes();
    },
    brush(first, end) {
      if (picture === undefined) return;
      picture.range = clampRange(first, end, picture.scene);
      redraw("range", "size");
    },
    search() {},
    goTo() {},
    copyLink() {},
    undo() {},
    redo() {},
    stop: () => host.send({ type: "stop", id: "" }),
  };

  const fates = makeFates(actions);
  const strip = makeCutStrip();
  const handle = makeHandle(actions, strip.node);
  const views = {
    header: makeHeader(),
    gauge: makeGauge(),
    stages: makeStages(),
    legend: makeLegend(),
    overview: makeOverview(actions),
    lanes: makeLanes(actions),
    strip,
    handle,
    reason: makeReason(actions),
    fatekey: makeFateKey(),
    replay: makeReplay(actions),
    rules: makeRules(actions),
    fates,
    block: makeBlock(actions),
    recipe: makeRecipe(),
    notices: makeNotices(),
  };
  const bench = makeBench(views);
  const { root } = bench;

  const redraw = (...changed: Part[]) => {
    for (const part of changed) parts.add(part);
    frame ||= requestAnimationFrame(draw);
  };

  const draw = () => {
    frame = 0;
    if (picture === undefined) return;
    if (parts.has("size")) Object.assign(picture, measure(picture.scene));
    if (parts.has("size") || parts.has("theme")) picture.palette = readPalette(root, picture.scene.sections);
    const news = new Set(parts);
    parts.clear();
    for (const view of Object.values(views)) view.draw(picture, news);
  };

  const measure = (scene: Scene) => {
    width = strip.node.clientWidth;
    const axis = makeAxis(scene, width);
    return { axis, lanes: measureLanes(scene, axis) };
  };

  /** The screen is ahead of Python until `settle`. */
  const expect = (...changed: Part[]) => {
    if (picture !== undefined) picture.settled = false;
    bench.setBusy(true);
    clearTimeout(patience);
    patience = setTimeout(() => bench.wait(SILENCE), PATIENCE);
    redraw("settled", ...changed);
  };

  const settle = () => {
    if (picture !== undefined) picture.settled = true;
    clearTimeout(patience);
    bench.setBusy(false);
    bench.wait("");
    redraw("settled");
  };

  const change = (choices: Partial<Choices>) => {
    sync.change(choices);
    life.follow(choices);
    expect();
    showReplay();
  };

  const showReplay = () => {
    if (picture === undefined) return;
    Object.assign(picture, choices());
    redraw("run");
  };

  const receiveRun = () => {
    life.receive();
    showReplay();
  };

  const choices = () => ({
    settings: host.get("settings") ?? {},
    pins: host.get("pins"),
    run: life.run,
    replay: life.replay,
    versus: host.get("versus") ?? {},
    mode: host.get("mode") ?? ("explore" as Mode),
    work: readWork(host),
    needsKernel: host.needsKernel ?? "",
  });

  const readOther = (scene: Scene) =>
    decodePlan(host.get("_other") ?? null, host.get("_other_data") ?? null, scene);

  const receiveOther = () => {
    if (picture === undefined) return;
    picture.other = readOther(picture.scene);
    Object.assign(picture, choices());
    redraw("other");
  };

  const showChoices = (part: Part) => () => {
    if (picture === undefined) return;
    Object.assign(picture, choices());
    redraw(part);
  };

  const receiveScene = () => {
    const scene = decodeScene(host.get("_scene"), host.get("_scene_data"));
    const plan = scene && decodePlan(host.get("_plan"), host.get("_plan_data"), scene);
    // Either may come first; until both fit together the last picture stays.
    if (scene === null || plan === null) return;
    bench.showViews(true);
    const place = clampPlace(plan.cut.place, scene);
    const palette = readPalette(root, scene.sections);
    const hand = { place, row: -1, why: -1, settled: true, dragging: false };
    const seen = {
      range: clampRange(0, Number.POSITIVE_INFINITY, scene),
      found: null,
      other: readOther(scene),
    };
    picture = {
      scene,
      plan,
      cuts: makeCuts(scene),
      ...measure(scene),
      palette,
      ...choices(),
      ...hand,
      ...seen,
    };
    settle();
    redraw(...EVERYTHING);
  };

  const receivePlan = () => {
    if (picture === undefined) return receiveScene();
    if (sync.isStale(host.get("_plan")?.seq ?? 0)) return;
    const plan = decodePlan(host.get("_plan"), host.get("_plan_data"), picture.scene);
    if (plan === null) return receiveScene();
    if (!decideSame(picture.plan, plan)) redraw("fates");
    picture.plan = plan;
    Object.assign(picture, choices());
    if (!picture.dragging) picture.place = clampPlace(plan.cut.place, picture.scene);
    settle();
    redraw("plan", "place");
  };

  const receiveError = () => {
    const sentence = host.get("_error") ?? "";
    bench.complain(sentence);
    if (sentence === "" || picture === undefined) return;
    // What was asked did not come about, so the screen goes back to what Python last planned.
    if (!picture.dragging) picture.place = clampPlace(picture.plan.cut.place, picture.scene);
    Object.assign(picture, choices());
    settle();
    redraw("plan", "place");
    life.fail();
    showReplay();
  };

  const receiveCut = () => {
    if (picture === undefined || sync.isOurs || picture.dragging) return;
    const place = picture.cuts.placeOf.get(host.get("cut"));
    if (place === undefined || place === picture.place) return;
    picture.place = place;
    redraw("place");
  };

  /** What Python sends may not fit together; that too is told as a sentence. */
  const guard = (receive: () => void) => {
    try {
      receive();
    } catch (error) {
      bench.complain(error instanceof Error ? error.message : String(error));
    }
  };

  const later = gatherNews<"scene" | "plan" | "run" | "other">(news => {
    if (news.has("run")) guard(receiveRun);
    if (news.has("scene")) guard(receiveScene);
    else if (news.has("plan")) guard(receivePlan);
    if (news.has("other")) guard(receiveOther);
  });

  const listeners = {
    "change:_scene": later("scene"),
    "change:_scene_data": later("scene"),
    "change:_plan": later("plan"),
    "change:_plan_data": later("plan"),
    "change:_run": later("run"),
    "change:_run_data": later("run"),
    "change:_other": later("other"),
    "change:_other_data": later("other"),
    "change:_work": showChoices("work"),
    "change:mode": showChoices("mode"),
    "change:versus": showChoices("other"),
    "change:replay": showReplay,
    "change:policy": showReplay,
    "change:settings": showReplay,
    "change:_error": receiveError,
    "change:cut": receiveCut,
  };
  for (const [event, listener] of Object.entries(listeners)) host.on(event, listener);
  el.append(root);
  const forgetTheme = watchTheme(root, () => redraw("theme"));
  // The axis is as wide as the strip, whose width also changes with the style sheet or the panels beside it.
  const resized = new ResizeObserver(() => {
    if (strip.node.clientWidth !== width && strip.node.clientWidth > 0) redraw("size");
  });
  resized.observe(strip.node);
  resized.observe(root);
  guard(receiveRun);
  guard(receiveScene);
  if (host.get("_error")) receiveError();

  return () => {
    for (const [event, listener] of Object.entries(listeners)) host.off(event, listener);
    for (const view of Object.values(views)) if ("dispose" in view) view.dispose?.();
    cancelAnimationFrame(frame);
    clearTimeout(patience);
    resized.disconnect();
    forgetTheme();
    requests.dispose();
    sync.dispose();
    root.remove();
  };
};

const readWork = (host: Host): Work | null => {
  const work = host.get("_work");
  return work && "what" in work ? (work as Work) : null;
};

const clampRange = (first: number, end: number, { steps }: Scene): readonly [number, number] => {
  const from = Math.max(0, Math.min(first, steps - 1));
  return [from, Math.max(from + 1, Math.min(end, steps))];
};

const clampPlace = (place: number, scene: Scene): number => Math.max(0, Math.min(place, scene.entries));
