// Takes Python's data into the view state. Listeners by event; the workbench adds and removes them.

import { refOf, rowOf } from "../model/block-refs";
import { makeCuts } from "../model/cuts";
import { NO_TRACING } from "../model/facts";
import { NO_LESSON } from "../model/lesson";
import { decideSame, decodePlan, decodeScene, type Scene } from "../model/plan";
import { NO_POLICIES } from "../model/policies";
import { readPalette } from "../ui/canvas/canvas-colours";
import { gatherNews } from "./batch";
import { clampRange, readEnds, readWork, type Screen, type Store } from "./store";
import { EVERYTHING, type ViewState } from "./view";

type KeptFields = Pick<ViewState, "row" | "range" | "selection">;

/** The previous selection, if a new scene still contains it: the file grew, or was counted better. */
const keepView = (old: ViewState | undefined, scene: Scene): KeptFields => {
  const whole = clampRange(0, Number.POSITIVE_INFINITY, scene);
  if (old === undefined) return { row: -1, range: whole, selection: null };
  const row = old.row < 0 ? -1 : rowOf(scene, refOf(old.scene, old.row));
  const [first, end] = old.range;
  const grown = old.scene.entryIds[0] === scene.entryIds[0];
  const part = grown && (first > 0 || end < old.scene.steps);
  const { selection } = old;
  return {
    row,
    range: part ? clampRange(first, end, scene) : whole,
    selection: grown && selection && selection[1] <= scene.steps ? selection : null,
  };
};

/** The newest compaction that was not in the scene before, or the one that has not been looked at yet. */
const findArrived = (old: ViewState | undefined, { boundaries }: Scene): ViewState["arrived"] => {
  if (old === undefined) return null;
  const before = new Set(old.scene.boundaries.map(({ look }) => look));
  // The figures of one that came earlier may be others by now: the next request says what it left.
  return (
    [...boundaries]
      .reverse()
      .find(({ kind, look }) => look === old.arrived?.look || (kind === "compact" && !before.has(look))) ??
    null
  );
};

/** The table of compactions will say which one does the most harm. */
const opensLater = ({ boundaries }: Scene, look: string, choices: ReturnType<Store["choices"]>): boolean =>
  choices.tab === "compactions" &&
  choices.needsKernel === "" &&
  look !== "plan" &&
  boundaries.filter(mark => mark.look !== "").length > 1;

export const makeReceiving = (store: Store, screen: Screen) => {
  const { host, replayState, sync } = store;
  /** Python's last data was inconsistent, and the screen says so. */
  let complained = false;

  const receiveRun = () => {
    replayState.receive();
    store.refresh("run");
  };

  const readRecorded = (scene: Scene) =>
    decodePlan(host.get("_recorded") ?? null, host.get("_recorded_data") ?? null, scene);

  const readLook = (): string => host.get("look") || "plan";

  const readOther = (scene: Scene) =>
    decodePlan(host.get("_other") ?? null, host.get("_other_data") ?? null, scene);

  const receiveOther = () => {
    const { viewState } = store;
    if (viewState) store.update({ ...store.choices(), other: readOther(viewState.scene) }, "other");
  };

  const receiveScene = () => {
    const scene = decodeScene(host.get("_scene"), host.get("_scene_data"));
    const plan = scene && decodePlan(host.get("_plan"), host.get("_plan_data"), scene);
    // Either may come first; until both fit together the last state stays.
    if (scene === null || plan === null) return;
    screen.showViews(true);
    const old = store.viewState;
    const choices = store.choices();
    const [recorded, look] = [readRecorded(scene), readLook()];
    const shownPlan = look !== "plan" && recorded !== null ? recorded : plan;
    store.plan = shownPlan;
    store.viewState = {
      scene,
      plan: shownPlan,
      planned: plan,
      recorded,
      look,
      ...readEnds(shownPlan, scene, makeCuts(scene)),
      ...store.measure(scene, keepView(old, scene).range),
      palette: readPalette(screen.root, scene.sections),
      ...choices,
      ...{ why: -1, settled: true, dragging: false },
      opening: old?.opening ?? opensLater(scene, look, choices),
      ...keepView(old, scene),
      pointer: old?.pointer ?? -1,
      arrived: findArrived(old, scene),
      selected: old?.selected ?? null,
      counts: old?.counts ?? {},
      matches: old?.matches ?? null,
      finding: "",
      policies: old?.policies ?? NO_POLICIES,
      tracing: old?.tracing ?? NO_TRACING,
      factLane: old?.factLane ?? null,
      other: readOther(scene),
      lesson: NO_LESSON,
    };
    store.settle();
    store.redraw(...EVERYTHING);
    if (old === undefined) store.hooks.follow();
    store.hooks.arrive();
  };

  const receivePlan = () => {
    const { viewState } = store;
    if (viewState === undefined) return receiveScene();
    if (sync.isStale(host.get("_plan")?.seq ?? 0)) return;
    const plan = decodePlan(host.get("_plan"), host.get("_plan_data"), viewState.scene);
    if (plan === null) return receiveScene();
    viewState.planned = plan;
    const look = readLook();
    const shownPlan = look !== "plan" && viewState.recorded !== null ? viewState.recorded : plan;
    if (!decideSame(viewState.plan, shownPlan)) store.redraw("fates");
    if (look !== viewState.look) store.redraw("look");
    store.plan = viewState.plan = shownPlan;
    viewState.look = look;
    viewState.lesson = { ...viewState.lesson, play: null };
    Object.assign(viewState, store.choices());
    const hidden = viewState.lesson.guess?.shown === false;
    const { scene, cuts } = viewState;
    if (!viewState.dragging && !hidden) Object.assign(viewState, readEnds(shownPlan, scene, cuts));
    store.settle();
    store.redraw("plan", "place", "lesson");
  };

  const receiveError = () => {
    const { viewState } = store;
    const sentence = host.get("_error") ?? "";
    screen.complain(sentence);
    if (sentence === "" || viewState === undefined) return;
    if (hasGrown(viewState.scene)) store.follow();
    // What was asked did not come about, so the screen goes back to what Python last planned.
    const { plan, scene, cuts } = viewState;
    if (!viewState.dragging) Object.assign(viewState, readEnds(plan, scene, cuts));
    Object.assign(viewState, store.choices());
    store.settle();
    store.redraw("plan", "place");
    // A failed replay is off; one under way is not affected.
    if (host.get("replay") === false) replayState.fail();
    store.refresh("run");
  };

  const receiveCut = () => {
    const { viewState } = store;
    if (viewState === undefined || sync.isOurs || viewState.dragging) return;
    const place = viewState.cuts.placeOf.get(host.get("cut"));
    if (place === undefined || place === viewState.place) return;
    store.update({ place }, "place");
  };

  /** Python shows the other side; with another moment the new scene brings it. */
  const receiveLook = () => {
    const { viewState } = store;
    if (viewState === undefined || sync.isOurs || viewState.dragging || readLook() === viewState.look) return;
    store.show(readLook());
  };

  const receiveTab = () => {
    const { viewState } = store;
    if (viewState === undefined || store.choices().tab === viewState.tab) return;
    store.hooks.forget();
    store.refresh("tab", "row");
  };

  /** The file is longer than what is on the screen. */
  const hasGrown = ({ overview }: Scene) =>
    (host.get("_scene") as Partial<Scene> | null)?.overview?.steps !== overview.steps;

  /** Python changed a choice: a step of the past, unless it came with the answer to one of ours. */
  const receiveChoice = () => {
    if (store.viewState === undefined || sync.isOurs) return;
    if (hasGrown(store.viewState.scene)) return store.follow();
    // A value that Python rejected is restored, and no answer follows.
    store.isAwaiting = store.remember(store.isAwaiting) || store.isAwaiting;
  };

  /** Python's data may be inconsistent; that is reported as a sentence too. */
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
  const showRun = () => store.refresh("run");
  store.hooks.receivePlan = receivePlan;

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
        store.refresh("work");
      },
      "change:tab": receiveTab,
      "change:block": () => store.hooks.follow(),
      "change:versus": choice(() => store.refresh("other")),
      "change:replay": showRun,
      "change:scenario": showRun,
      "change:policy": choice(showRun),
      "change:settings": choice(showRun),
      "change:pins": choice(),
      "change:at": choice(),
      "change:look": receiveLook,
      "change:cut": choice(receiveCut),
      "change:since": choice(),
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
