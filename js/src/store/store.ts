// State shared by user actions, Python's answers and drawing: the view state, and the ways to change it.

import { makeAxis } from "../model/axis";
import { measureLanes } from "../model/bars";
import type { Cuts } from "../model/cuts";
import type { Plan, Scene } from "../model/plan";
import { readTab } from "../model/tabs";
import type { Choices, Host } from "../payloads/host";
import type { Work } from "../payloads/replies";
import { Requests } from "../payloads/requests";
import { ReplayState } from "./replay";
import { Sync } from "./send";
import { type Edit, UndoHistory } from "./undo";
import type { Part, ViewState } from "./view";

const PATIENCE = 4000;
const SILENCE = "The kernel has not answered yet. If it has stopped, run the cell again.";

/** Elements that the layout shows in addition to the panels. */
export interface Screen {
  readonly root: HTMLElement;
  /** Shows the views, or a status message instead. */
  showViews(shown: boolean): void;
  /** A sentence about what went wrong, "" for nothing. */
  complain(sentence: string): void;
  /** A sentence about waiting, "" for nothing. */
  wait(sentence: string): void;
  setBusy(busy: boolean): void;
  /** Shows Python's current work. */
  showWork(work: Work | null): void;
}

export class Store {
  readonly sync: Sync;
  readonly replayState: ReplayState;
  readonly requests: Requests;
  readonly history: UndoHistory;
  viewState: ViewState | undefined;
  /** The plan that is looked at, as Python made it; a lesson may show less of it. */
  plan: Plan | undefined;
  /** A request is unanswered, so Python's changes belong to the last undo step. */
  isAwaiting = false;
  screen: Pick<Screen, "setBusy" | "wait"> = { setBusy() {}, wait() {} };
  draw: (viewState: ViewState, parts: ReadonlySet<Part>) => void = () => {};
  /** The width of the axis, in CSS pixels. */
  measureWidth: () => number = () => 0;
  /** Whether there is only room for all lanes in one. */
  isStacked: () => boolean = () => false;
  /** How much larger than usual the type is. */
  measureType: () => number = () => 1;
  /** Calls between user actions and Python's answers. */
  readonly hooks = {
    /** Takes over the plan that Python last sent. */
    receivePlan: () => {},
    /** Another moment is on the screen. */
    arrive: () => {},
    /** Python says which block to look at. */
    follow: () => {},
    /** Nothing is on its way any more. */
    settle: () => {},
    /** A lesson is over. */
    forget: () => {},
    /** The workbench is being put away. */
    leave: () => {},
  };
  private readonly parts = new Set<Part>();
  private frame = 0;
  private patience: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly host: Host) {
    this.sync = new Sync(host);
    this.replayState = new ReplayState(host);
    this.requests = new Requests(host);
    this.history = new UndoHistory(this.edit());
  }

  redraw(...changed: Part[]): void {
    for (const part of changed) this.parts.add(part);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.viewState === undefined) return;
      const news = new Set(this.parts);
      this.parts.clear();
      this.draw(this.viewState, news);
    });
  }

  /** Changes the view state, once there is one, and draws the parts of it. */
  update(changes: Partial<ViewState>, ...changed: Part[]): void {
    if (this.viewState === undefined) return;
    Object.assign(this.viewState, changes);
    this.redraw(...changed);
  }

  measure(scene: Scene, range?: readonly [number, number]) {
    const axis = makeAxis(scene, this.measureWidth(), range);
    return { axis, lanes: measureLanes(scene, axis, this.isStacked(), this.measureType()) };
  }

  /** The screen is ahead of Python until `settle`. */
  expect(...changed: Part[]): void {
    this.update({ settled: false }, "settled", ...changed);
    this.isAwaiting = true;
    this.screen.setBusy(true);
    this.awaitAnswer();
  }

  /** Says after a while that no answer has come, but not while Python says what it is busy with. */
  private awaitAnswer(): void {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      if (readWork(this.host) === null) this.screen.wait(this.host.silence ?? SILENCE);
      else this.awaitAnswer();
    }, PATIENCE);
  }

  settle(): void {
    this.update({ settled: this.viewState?.lesson.guess?.shown !== false }, "settled");
    this.remember(true);
    this.isAwaiting = false;
    clearTimeout(this.patience);
    this.screen.setBusy(false);
    this.screen.wait("");
    this.hooks.settle();
  }

  /** Shows one side of the same scene. */
  show(look: string): void {
    const { viewState } = this;
    if (viewState === undefined) return;
    const { planned, recorded } = viewState;
    const plan = look !== "plan" && recorded !== null ? recorded : planned;
    this.plan = plan;
    const lesson = { ...viewState.lesson, play: null };
    const ends = readEnds(plan, viewState.scene, viewState.cuts);
    this.update({ plan, look, lesson, ...ends }, "look", "plan", "fates", "place");
    this.redraw("lesson");
  }

  /** Changes choices: as an edit, which can be undone, or as a part of the opening. */
  change(choices: Partial<Choices>, isEdit = true): void {
    this.sync.change(choices);
    this.replayState.follow(choices);
    this.remember(!isEdit);
    this.update({ opening: false });
    this.expect();
    this.refresh("run");
  }

  /** Copies the current choices into the view state. */
  refresh(...parts: Part[]): void {
    this.update(this.choices(), ...parts);
  }

  /** Records the choices for undo, as the result of the last step or as a new step; true if it is new. */
  remember(answer: boolean, moved: Partial<Edit> = {}): boolean {
    if (this.viewState?.dragging) return false;
    const now = { ...this.edit(), ...moved };
    const isNew = !answer && this.history.record(now);
    if (answer) this.history.amend(now);
    this.update({ history: this.history.names }, "history");
    return isNew;
  }

  /** The session itself has changed, which is no edit of anyone's. */
  follow(): void {
    this.history.follow(this.edit());
    this.update({ history: this.history.names }, "history");
  }

  choices() {
    const { host, replayState } = this;
    return {
      settings: host.get("settings") ?? {},
      pins: host.get("pins"),
      run: replayState.run,
      replay: replayState.replay,
      scenario: host.get("scenario"),
      versus: host.get("versus") ?? {},
      tab: readTab(host.get("tab")),
      work: readWork(host),
      needsKernel: host.needsKernel ?? "",
      history: this.history.names,
    };
  }

  dispose(): void {
    this.hooks.leave();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.patience);
    this.requests.dispose();
    this.sync.dispose();
  }

  private edit(): Edit {
    const { host } = this;
    return {
      at: host.get("at") ?? "",
      policy: host.get("policy"),
      settings: host.get("settings") ?? {},
      pins: host.get("pins"),
      versus: host.get("versus"),
      cut: host.get("cut") ?? "",
      since: host.get("since") ?? "",
    };
  }
}

export const readWork = (host: Host): Work | null => {
  const work = host.get("_work");
  return work && "what" in work ? (work as Work) : null;
};

export const clampRange = (first: number, end: number, { steps }: Scene): readonly [number, number] => {
  const from = Math.max(0, Math.min(first, steps - 1));
  return [from, Math.max(from + 1, Math.min(end, steps))];
};

/** The positions of the two handles in a plan. */
export const readEnds = (plan: Plan, scene: Scene, cuts: Cuts): Pick<ViewState, "place" | "cuts"> => ({
  place: clampPlace(plan.cut.place, scene),
  cuts: { ...cuts, since: plan.since ?? 0 },
});

export const clampPlace = (place: number, scene: Scene): number =>
  Math.max(0, Math.min(place, scene.entries));
