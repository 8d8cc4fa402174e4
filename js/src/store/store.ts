// What the hand, Python's answers and the drawing share: the picture, and the few ways to change it.

import { makeAxis } from "../model/axis";
import { measureLanes } from "../model/bars";
import type { Plan, Scene } from "../model/plan";
import { readTab } from "../model/tabs";
import type { Choices, Host } from "../payloads/host";
import type { Work } from "../payloads/replies";
import { Requests } from "../payloads/requests";
import { Life } from "./replay";
import { Sync } from "./send";
import { type Edit, Past } from "./undo";
import type { Part, Picture } from "./view";

const PATIENCE = 4000;
const SILENCE = "Python has not answered yet. If the kernel is gone, run the cell again.";

/** What the layout shows beside the panels. */
export interface Screen {
  readonly root: HTMLElement;
  /** Shows the views, or in their place what is going on. */
  showViews(shown: boolean): void;
  /** A sentence about what went wrong, "" for nothing. */
  complain(sentence: string): void;
  /** A sentence about waiting, "" for nothing. */
  wait(sentence: string): void;
  setBusy(busy: boolean): void;
  /** What Python is busy with. */
  showWork(work: Work | null): void;
}

export class Deck {
  readonly sync: Sync;
  readonly life: Life;
  readonly requests: Requests;
  readonly past: Past;
  picture: Picture | undefined;
  /** The plan that is looked at, as Python made it; a lesson may show less of it. */
  plan: Plan | undefined;
  /** Python has something to answer, so what it sets belongs to the last step of the past. */
  asked = false;
  screen: Pick<Screen, "setBusy" | "wait"> = { setBusy() {}, wait() {} };
  draw: (picture: Picture, parts: ReadonlySet<Part>) => void = () => {};
  /** The width of the axis, in CSS pixels. */
  measureWidth: () => number = () => 0;
  /** Whether there is only room for all lanes in one. */
  isStacked: () => boolean = () => false;
  /** What the hand and Python's answers ask of each other. */
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
    this.life = new Life(host, this.sync);
    this.requests = new Requests(host);
    this.past = new Past(this.edit());
  }

  redraw(...changed: Part[]): void {
    for (const part of changed) this.parts.add(part);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.picture === undefined) return;
      const news = new Set(this.parts);
      this.parts.clear();
      this.draw(this.picture, news);
    });
  }

  measure(scene: Scene, range?: readonly [number, number]) {
    const axis = makeAxis(scene, this.measureWidth(), range);
    return { axis, lanes: measureLanes(scene, axis, this.isStacked()) };
  }

  /** The screen is ahead of Python until `settle`. */
  expect(...changed: Part[]): void {
    if (this.picture !== undefined) this.picture.settled = false;
    this.asked = true;
    this.screen.setBusy(true);
    this.awaitAnswer();
    this.redraw("settled", ...changed);
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
    if (this.picture !== undefined) this.picture.settled = this.picture.lesson.guess?.shown !== false;
    this.remember(true);
    this.asked = false;
    clearTimeout(this.patience);
    this.screen.setBusy(false);
    this.screen.wait("");
    this.redraw("settled");
    this.hooks.settle();
  }

  /** Shows one side of the same scene. */
  show(look: string): void {
    const { picture } = this;
    if (picture === undefined) return;
    const { planned, recorded } = picture;
    const plan = look !== "plan" && recorded !== null ? recorded : planned;
    this.plan = picture.plan = plan;
    Object.assign(picture, { look, place: clampPlace(plan.cut.place, picture.scene) });
    picture.lesson = { ...picture.lesson, play: null };
    this.redraw("look", "plan", "fates", "place", "lesson");
  }

  change(choices: Partial<Choices>): void {
    this.sync.change(choices);
    this.life.follow(choices);
    this.remember(false);
    this.expect();
    this.refresh("run");
  }

  /** Takes the choices over as they stand now. */
  refresh(...parts: Part[]): void {
    if (this.picture === undefined) return;
    Object.assign(this.picture, this.choices());
    this.redraw(...parts);
  }

  /** Keeps the choices for undo: as what the last step came to, or as one of their own; true where that is new. */
  remember(answer: boolean, cut?: string): boolean {
    if (this.picture?.dragging) return false;
    const now = { ...this.edit(), ...(cut === undefined ? {} : { cut }) };
    const isNew = !answer && this.past.record(now);
    if (answer) this.past.amend(now);
    if (this.picture === undefined) return isNew;
    this.picture.past = this.past.names;
    this.redraw("past");
    return isNew;
  }

  /** The session itself has changed, which is no edit of anyone's. */
  follow(): void {
    this.past.follow(this.edit());
    if (this.picture !== undefined) this.picture.past = this.past.names;
    this.redraw("past");
  }

  choices() {
    const { host, life } = this;
    return {
      settings: host.get("settings") ?? {},
      pins: host.get("pins"),
      run: life.run,
      replay: life.replay,
      scenario: host.get("scenario"),
      versus: host.get("versus") ?? {},
      tab: readTab(host.get("tab")),
      work: readWork(host),
      needsKernel: host.needsKernel ?? "",
      past: this.past.names,
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

export const clampPlace = (place: number, scene: Scene): number =>
  Math.max(0, Math.min(place, scene.entries));
