// Changes that Teach makes to the view state: rules played one by one, a guessed cut, and an invalid cut point.
import { type Lesson, NO_LESSON, showPlayed } from "../model/lesson";
import type { LessonReply } from "../payloads/types";
import { clampPlace, type Store } from "./store";

export const makeTeaching = (store: Store) => {
  /** The invalid cut point under a moving hand, and the one that the hand has just left. */
  let under = -1;
  let previous = -1;
  /** Steps asked for while the lesson is still on its way; -1 when none is. */
  let ahead = -1;
  /** The answer to a guess is wanted while Python still takes back the person's own cut. */
  let eager = false;

  const show = (changes: Partial<Lesson>) => {
    if (store.viewState === undefined) return;
    store.viewState.lesson = { ...store.viewState.lesson, problem: "", ...changes };
    store.redraw("lesson");
  };

  const ask = async (place: number, take: (reply: LessonReply) => unknown) => {
    if (store.viewState === undefined) return;
    try {
      take(await store.requests.ask("lesson", { place }));
    } catch (error) {
      show({ problem: (error as Error).message });
    }
  };

  const step = (reply: LessonReply, rules: number) => {
    const { viewState, plan } = store;
    if (viewState === undefined || plan === undefined) return;
    const steps = Math.max(0, Math.min(rules, reply.steps.length));
    viewState.plan = showPlayed(plan, reply, steps);
    show({ play: { reply, step: steps } });
    store.redraw("plan", "fates", "place");
  };

  /** The subject of a lesson. */
  const standing = (): string => {
    const { host, viewState } = store;
    const choices = (["at", "policy", "settings", "pins"] as const).map(name => host.get(name));
    return JSON.stringify([...choices, viewState?.place]);
  };

  const endPlay = () => {
    const { viewState, plan } = store;
    if (viewState?.lesson.play == null || plan === undefined) return;
    viewState.plan = plan;
    show({ play: null });
    store.redraw("plan", "fates", "place");
  };

  const isGuessing = () => store.viewState?.lesson.guess?.shown === false;

  const endGuess = () => {
    const { viewState, plan } = store;
    if (viewState?.lesson.guess == null || plan === undefined) return;
    if (isGuessing()) viewState.place = clampPlace(plan.cut.place, viewState.scene);
    eager = false;
    show({ guess: null });
    viewState.settled = !store.isAwaiting;
    store.redraw("place", "plan", "settled");
  };

  const hide = () => {
    const { viewState, plan } = store;
    if (viewState === undefined || plan === undefined) return;
    endPlay();
    if (plan.cut.by === "you") store.change({ cut: "" });
    const { cuts, scene } = viewState;
    const middle = cuts.atOrAfter[Math.floor(scene.entries / 2)] as number;
    viewState.place = middle >= 0 ? middle : viewState.place;
    viewState.settled = false;
    show({ guess: { shown: false }, broken: null });
    store.redraw("place", "plan", "settled");
  };

  const reveal = () => {
    const { viewState, plan } = store;
    if (viewState === undefined || plan === undefined || !isGuessing()) return;
    eager = store.isAwaiting;
    if (eager) return;
    const own = viewState.place;
    const policy = clampPlace(plan.cut.place, viewState.scene);
    viewState.place = policy;
    viewState.settled = true;
    show({ guess: { shown: true, own, policy } });
    store.redraw("place", "plan", "settled");
  };

  return {
    isGuessing,
    endPlay,
    /** Python has answered. */
    settle() {
      if (eager) reveal();
      eager = false;
    },
    playTo(steps: number) {
      const { viewState } = store;
      if (viewState === undefined) return;
      const play = viewState.lesson.play;
      if (play !== null) return step(play.reply, steps);
      if (ahead >= 0) {
        ahead++;
        return;
      }
      endGuess();
      ahead = 0;
      const request = standing();
      // The steps of another policy, or at another place, would be played over this plan.
      const take = (reply: LessonReply) => request === standing() && step(reply, steps + ahead);
      void ask(viewState.place, take).then(() => {
        ahead = -1;
      });
    },
    guess(act: "hide" | "show" | "end") {
      if (act === "hide") hide();
      else if (act === "show") reveal();
      else endGuess();
    },
    breakAt(place: number) {
      if (store.viewState !== undefined) store.viewState.why = place;
      store.redraw("why");
      show({ broken: place < 0 ? null : { place, reply: null } });
      if (place >= 0) {
        void ask(place, reply => {
          if (store.viewState?.lesson.broken?.place === place) show({ broken: { place, reply } });
        });
      }
    },
    /** A moving hand is over an invalid cut point, or no longer. */
    hover(place: number) {
      previous = place < 0 ? under : -1;
      under = place;
    },
    /** The hand moves on: only a place it is let go of counts. */
    slide() {
      previous = -1;
      if (!isGuessing()) {
        endPlay();
        endGuess();
      }
    },
    /** The hand has let go of the cut. */
    drop() {
      const place = previous;
      previous = -1;
      if (store.viewState?.tab !== "lesson") {
        // The reason stays in sight; otherwise the cut would seem to have jumped.
        if (place >= 0) store.update({ why: place }, "why");
      } else if (place >= 0) this.breakAt(place);
      else if (store.viewState.lesson.broken !== null) show({ broken: null });
    },
    /** What was learnt of a plan is no longer true of another one. */
    forget() {
      endPlay();
      endGuess();
      if (store.viewState !== undefined && store.viewState.lesson !== NO_LESSON) show(NO_LESSON);
    },
  };
};
