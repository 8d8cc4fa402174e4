// What Python sends, taken over into the picture. Listeners by event; the workbench adds and removes them.

import { refOf, rowOf } from "../model/block-refs";
import { makeCuts } from "../model/cuts";
import { NO_TRACING } from "../model/facts";
import { NO_LESSON } from "../model/lesson";
import { decideSame, decodePlan, decodeScene, type Scene } from "../model/plan";
import { NO_POLICIES } from "../model/policies";
import { readPalette } from "../ui/canvas/canvas-colours";
import { gatherNews } from "./batch";
import { clampPlace, clampRange, type Deck, readWork, type Screen } from "./store";
import { EVERYTHING, type Picture } from "./view";

/** What was looked at before, where a new scene still has it: the file grew, or was counted better. */
const keepView = (old: Picture | undefined, scene: Scene): Pick<Picture, "row" | "range"> => {
  const whole = clampRange(0, Number.POSITIVE_INFINITY, scene);
  if (old === undefined) return { row: -1, range: whole };
  const row = old.row < 0 ? -1 : rowOf(scene, refOf(old.scene, old.row));
  const [first, end] = old.range;
  const grown = old.scene.entryIds[0] === scene.entryIds[0] && (first > 0 || end < old.scene.steps);
  return { row, range: grown ? clampRange(first, end, scene) : whole };
};

export const makeReceiving = (deck: Deck, screen: Screen) => {
  const { host, life, sync } = deck;
  /** What Python sent last did not fit together, and the screen says so. */
  let complained = false;

  const receiveRun = () => {
    life.receive();
    deck.refresh("run");
  };

  const readRecorded = (scene: Scene) =>
    decodePlan(host.get("_recorded") ?? null, host.get("_recorded_data") ?? null, scene);

  const readLook = (): string => host.get("look") || "plan";

  const readOther = (scene: Scene) =>
    decodePlan(host.get("_other") ?? null, host.get("_other_data") ?? null, scene);

  const receiveOther = () => {
    if (deck.picture === undefined) return;
    deck.picture.other = readOther(deck.picture.scene);
    deck.refresh("other");
  };

  const receiveScene = () => {
    const scene = decodeScene(host.get("_scene"), host.get("_scene_data"));
    const plan = scene && decodePlan(host.get("_plan"), host.get("_plan_data"), scene);
    // Either may come first; until both fit together the last picture stays.
    if (scene === null || plan === null) return;
    screen.showViews(true);
    const old = deck.picture;
    const choices = deck.choices();
    const [recorded, look] = [readRecorded(scene), readLook()];
    const seen = look !== "plan" && recorded !== null ? recorded : plan;
    deck.plan = seen;
    deck.picture = {
      scene,
      plan: seen,
      planned: plan,
      recorded,
      look,
      cuts: makeCuts(scene),
      ...deck.measure(scene, keepView(old, scene).range),
      palette: readPalette(screen.root, scene.sections),
      ...choices,
      ...{ place: clampPlace(seen.cut.place, scene), why: -1, settled: true, dragging: false },
      ...keepView(old, scene),
      counts: old?.counts ?? {},
      found: old?.found ?? null,
      finding: "",
      policies: old?.policies ?? NO_POLICIES,
      tracing: old?.tracing ?? NO_TRACING,
      factRow: old?.factRow ?? null,
      other: readOther(scene),
      lesson: NO_LESSON,
      step: old?.step ?? { link: host.get("lesson") ?? "", own: false },
    };
    deck.settle();
    deck.redraw(...EVERYTHING);
    if (old === undefined) deck.hooks.follow();
    deck.hooks.arrive();
  };

  const receivePlan = () => {
    const { picture } = deck;
    if (picture === undefined) return receiveScene();
    if (sync.isStale(host.get("_plan")?.seq ?? 0)) return;
    const plan = decodePlan(host.get("_plan"), host.get("_plan_data"), picture.scene);
    if (plan === null) return receiveScene();
    picture.planned = plan;
    const look = readLook();
    const seen = look !== "plan" && picture.recorded !== null ? picture.recorded : plan;
    if (!decideSame(picture.plan, seen)) deck.redraw("fates");
    if (look !== picture.look) deck.redraw("look");
    deck.plan = picture.plan = seen;
    picture.look = look;
    picture.lesson = { ...picture.lesson, play: null };
    Object.assign(picture, deck.choices());
    const hidden = picture.lesson.guess?.shown === false;
    if (!picture.dragging && !hidden) picture.place = clampPlace(seen.cut.place, picture.scene);
    deck.settle();
    deck.redraw("plan", "place", "lesson");
  };

  const receiveError = () => {
    const { picture } = deck;
    const sentence = host.get("_error") ?? "";
    screen.complain(sentence);
    if (sentence === "" || picture === undefined) return;
    if (hasGrown(picture.scene)) deck.follow();
    // What was asked did not come about, so the screen goes back to what Python last planned.
    if (!picture.dragging) picture.place = clampPlace(picture.plan.cut.place, picture.scene);
    Object.assign(picture, deck.choices());
    deck.settle();
    deck.redraw("plan", "place");
    // A replay that failed is off; one that goes on has nothing to do with it.
    if (host.get("replay") === false) life.fail();
    deck.refresh("run");
  };

  const receiveCut = () => {
    const { picture } = deck;
    if (picture === undefined || sync.isOurs || picture.dragging) return;
    const place = picture.cuts.placeOf.get(host.get("cut"));
    if (place === undefined || place === picture.place) return;
    picture.place = place;
    deck.redraw("place");
  };

  /** Python shows the other side; with another moment the new scene brings it. */
  const receiveLook = () => {
    const { picture } = deck;
    if (picture === undefined || sync.isOurs || picture.dragging || readLook() === picture.look) return;
    deck.show(readLook());
  };

  const receiveTab = () => {
    const { picture } = deck;
    if (picture === undefined || deck.choices().tab === picture.tab) return;
    deck.hooks.forget();
    deck.refresh("tab", "row");
  };

  const receiveStep = () => {
    const link = host.get("lesson") ?? "";
    if (deck.picture === undefined || link === deck.picture.step.link) return;
    deck.picture.step = { link, own: false };
    deck.hooks.forget();
    deck.redraw("lesson");
  };

  /** The file is longer than what is on the screen. */
  const hasGrown = ({ overview }: Scene) =>
    (host.get("_scene") as Partial<Scene> | null)?.overview?.steps !== overview.steps;

  /** Python changed a choice: a step of the past, unless it came with the answer to one of ours. */
  const receiveChoice = () => {
    if (deck.picture === undefined || sync.isOurs) return;
    if (hasGrown(deck.picture.scene)) return deck.follow();
    // A value that Python refused is back where it was, and no answer follows.
    deck.asked = deck.remember(deck.asked) || deck.asked;
  };

  /** What Python sends may not fit together; that too is told as a sentence. */
  const guard = (receive: () => void) => {
    try {
      receive();
    } catch (error) {
      complained = true;
      screen.complain(error instanceof Error ? error.message : String(error));
    }
  };

  const later = gatherNews<"scene" | "plan" | "run" | "other" | "choice">(news => {
    const before = complained;
    complained = false;
    if (news.has("choice")) receiveChoice();
    if (news.has("run")) guard(receiveRun);
    if (news.has("scene")) guard(receiveScene);
    else if (news.has("plan")) guard(receivePlan);
    if (news.has("other")) guard(receiveOther);
    if (before && !complained) screen.complain(host.get("_error") ?? "");
  });
  const choice = (then?: () => void) => {
    const gather = later("choice");
    return () => {
      if (!sync.isOurs) gather();
      then?.();
    };
  };
  const showRun = () => deck.refresh("run");
  deck.hooks.receivePlan = receivePlan;

  return {
    listeners: {
      "change:_scene": later("scene"),
      "change:_scene_data": later("scene"),
      "change:_plan": later("plan"),
      "change:_plan_data": later("plan"),
      "change:_recorded": later("scene"),
      "change:_recorded_data": later("scene"),
      "change:_run": later("run"),
      "change:_run_data": later("run"),
      "change:_other": later("other"),
      "change:_other_data": later("other"),
      "change:_work": () => {
        screen.showWork(readWork(host));
        deck.refresh("work");
      },
      "change:tab": receiveTab,
      "change:lesson": receiveStep,
      "change:block": () => deck.hooks.follow(),
      "change:versus": choice(() => deck.refresh("other")),
      "change:replay": showRun,
      "change:scenario": showRun,
      "change:policy": choice(showRun),
      "change:settings": choice(showRun),
      "change:pins": choice(),
      "change:at": choice(),
      "change:look": receiveLook,
      "change:cut": choice(receiveCut),
      "change:_error": receiveError,
    },
    /** Takes over what the host already holds. */
    begin() {
      screen.showWork(readWork(host));
      guard(receiveRun);
      guard(receiveScene);
      if (host.get("_error")) receiveError();
    },
  };
};
