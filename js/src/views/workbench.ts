// Composes the views over one host: decodes what Python sends, holds what the hand does, draws once a frame.
import { makeLanes as measureLanes } from "../core/bars";
import { idOf, makeCuts } from "../core/cuts";
import { makeAxis } from "../core/geometry";
import type { Host } from "../core/host";
import { Requests } from "../core/requests";
import { decodePlan, decodeScene } from "../core/state";
import { Sync } from "../core/sync";
import { makeBlank } from "./blank";
import { makeBlock } from "./block";
import { makeCutStrip } from "./cutstrip";
import { h, setAttributes, setShown, setText } from "./dom";
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
import type { Actions, Part, Picture, View } from "./picture";
import { makeReason } from "./reason";
import { makeRecipe } from "./recipe";
import { makeRules } from "./rules";
import { watchTheme } from "./theme";

const EVERYTHING: Part[] = ["scene", "plan", "place", "row", "why", "size", "theme", "settled"];
const SLOW = 4000;

/** Renders into `el` and returns how to take everything back. */
export const renderWorkbench = (host: Host, el: HTMLElement): (() => void) => {
  const sync = new Sync(host);
  const requests = new Requests(host);
  let picture: Picture | undefined;
  let frame = 0;
  let slow: ReturnType<typeof setTimeout> | undefined;
  const parts = new Set<Part>();
  const pending = new Set<"scene" | "plan">();

  const actions: Actions = {
    requests,
    slideCut(place, dragging) {
      if (picture === undefined) return;
      picture.dragging = dragging;
      if (place === picture.place) return;
      picture.place = place;
      sync.slide(idOf(picture.scene, place));
      ask("place");
    },
    dropCut() {
      if (picture === undefined) return;
      picture.dragging = false;
      redraw("place");
      if (!sync.isStale(picture.plan.seq)) receive();
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
  };

  const fates = makeFates(actions);
  const handle = makeHandle(actions);
  const lanes = makeLanes(actions);
  const strip = makeCutStrip();
  const gauge = makeGauge();
  const stage = h("div", { class: "ci-stage" }, handle.node);
  handle.listen(strip.node);
  const alert = h("div", { class: "ci-error", role: "alert", "data-testid": "error", hidden: true });
  const waiting = h("p", { class: "ci-waiting", role: "status" });
  const blank = makeBlank();
  const views: View[] = [];
  const add = <V extends View>(view: V): HTMLElement => {
    views.push(view);
    return view.node;
  };
  const head = h("div", { class: "ci-sticky" }, add(gauge));
  const turns = h(
    "section",
    { class: "ci-turns", "aria-label": "Turns" },
    add(lanes),
    h(
      "div",
      { class: "ci-lined ci-cuts" },
      h("div", { class: "ci-label" }, h("span", {}, "cut")),
      add(strip),
    ),
    stage,
  );
  const bench = h(
    "div",
    { class: "ci-bench" },
    add(makeHeader()),
    head,
    add(makeLegend()),
    add(makeOverview(actions)),
    turns,
    h("div", { class: "ci-under" }, add(makeReason(actions)), add(makeFateKey())),
    h("div", { class: "ci-panels" }, add(makeRules(actions)), add(fates), add(makeBlock(actions))),
    add(makeRecipe()),
    add(makeNotices()),
  );
  views.push(handle);
  const root = h("div", { class: "ci" }, alert, waiting, blank.node, bench);
  el.append(root);

  const redraw = (...changed: Part[]) => {
    for (const part of changed) parts.add(part);
    frame ||= requestAnimationFrame(draw);
  };

  const draw = () => {
    frame = 0;
    if (picture === undefined) return;
    if (parts.has("scene") || parts.has("size")) measure(picture);
    if (parts.has("scene") || parts.has("size") || parts.has("theme")) {
      picture.palette = readPalette(root, picture.scene.sections);
    }
    const news = new Set(parts);
    parts.clear();
    for (const view of views) view.draw(picture, news);
  };

  const measure = (now: Picture) => {
    now.axis = makeAxis(now.scene, strip.node.clientWidth);
    now.lanes = measureLanes(now.scene, now.axis);
  };

  /** Marks the screen as ahead of Python. */
  const ask = (...changed: Part[]) => {
    if (picture !== undefined) picture.settled = false;
    setAttributes(root, { "aria-busy": "true" });
    clearTimeout(slow);
    slow = setTimeout(
      () => setText(waiting, "Python has not answered yet. If the kernel is gone, run the cell again."),
      SLOW,
    );
    redraw("settled", ...changed);
  };

  const settle = () => {
    clearTimeout(slow);
    setText(waiting, "");
    setAttributes(root, { "aria-busy": undefined });
    if (picture !== undefined) picture.settled = true;
    redraw("settled");
  };

  const change = (choices: Parameters<Sync["change"]>[0]) => {
    sync.change(choices);
    ask();
  };

  /** Takes over what the host holds now. */
  const receive = () => {
    const changed = new Set(pending);
    pending.clear();
    try {
      if (picture === undefined || changed.has("scene")) takeScene();
      else if (!sync.isStale(host.get("_plan")?.seq ?? 0)) takePlan();
      setShown(bench, picture !== undefined);
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    }
  };

  const takeScene = () => {
    const scene = decodeScene(host.get("_scene"), host.get("_scene_data"));
    if (scene === null) return tellBlank();
    const plan = decodePlan(host.get("_plan"), host.get("_plan_data"), scene);
    if (plan === null) return picture === undefined ? tellBlank() : undefined;
    blank.hide();
    setShown(bench, true);
    const axis = makeAxis(scene, strip.node.clientWidth);
    picture = {
      scene,
      plan,
      cuts: makeCuts(scene),
      axis,
      lanes: measureLanes(scene, axis),
      palette: readPalette(root, scene.sections),
      settings: host.get("settings") ?? {},
      place: clampPlace(plan.cut.place, scene.entries),
      row: -1,
      why: -1,
      settled: true,
      dragging: false,
    };
    settle();
    redraw(...EVERYTHING);
  };

  const takePlan = () => {
    if (picture === undefined) return;
    const plan = decodePlan(host.get("_plan"), host.get("_plan_data"), picture.scene);
    if (plan === null) return;
    picture.plan = plan;
    picture.settings = host.get("settings") ?? {};
    if (!picture.dragging) picture.place = clampPlace(plan.cut.place, picture.scene.entries);
    settle();
    redraw("plan", "place");
  };

  const tellBlank = () => {
    const error = host.get("_error");
    if (error) blank.show("This session could not be shown", error);
    else blank.show("Reading the session", "Its tokens are being counted; the picture follows.");
  };

  const tell = (sentence: string) => {
    setText(alert, sentence);
    setShown(alert, sentence !== "");
    if (picture === undefined) tellBlank();
    if (sentence === "" || picture === undefined) return;
    // What was asked did not come about, so the screen goes back to what Python last planned.
    if (!picture.dragging) picture.place = clampPlace(picture.plan.cut.place, picture.scene.entries);
    settle();
    redraw("plan", "place");
  };

  /** Python sets several traits in one message; they are taken over together. */
  const later = (what: "scene" | "plan") => () => {
    if (pending.size === 0) queueMicrotask(receive);
    pending.add(what);
  };
  const onCut = () => {
    if (picture === undefined || sync.isOurs || picture.dragging) return;
    const place = picture.cuts.placeOf.get(host.get("cut"));
    if (place === undefined || place === picture.place) return;
    picture.place = place;
    redraw("place");
  };
  const listeners: Record<string, () => void> = {
    "change:_scene": later("scene"),
    "change:_scene_data": later("scene"),
    "change:_plan": later("plan"),
    "change:_plan_data": later("plan"),
    "change:_error": () => tell(host.get("_error") ?? ""),
    "change:cut": onCut,
  };
  for (const [event, listener] of Object.entries(listeners)) host.on(event, listener);

  const forgetTheme = watchTheme(root, () => redraw("theme"));
  let width = 0;
  const resized = new ResizeObserver(([entry]) => {
    const now = Math.round(entry?.contentRect.width ?? 0);
    if (now !== width && now > 0) redraw("size");
    width = now;
  });
  resized.observe(root);
  receive();
  tell(host.get("_error") ?? "");

  return () => {
    for (const [event, listener] of Object.entries(listeners)) host.off(event, listener);
    for (const view of views) view.dispose?.();
    cancelAnimationFrame(frame);
    clearTimeout(slow);
    resized.disconnect();
    forgetTheme();
    requests.dispose();
    sync.dispose();
    root.remove();
  };
};

const clampPlace = (place: number, end: number): number => Math.max(0, Math.min(place, end));
