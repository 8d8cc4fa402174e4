// What Teach does to the picture: the policy played rule by rule, a cut to guess, and a place that cannot be one.
import { type Lesson, NO_LESSON, showPlayed } from "../model/lesson";
import type { LessonReply } from "../payloads/types";
import { clampPlace, type Deck } from "./store";

export const makeTeaching = (deck: Deck) => {
  /** The illegal place under a moving hand, and the one that the hand has just left. */
  let under = -1;
  let left = -1;
  /** Steps asked for while the lesson is still on its way; -1 when none is. */
  let ahead = -1;
  /** The answer to a guess is wanted while Python still takes back the person's own cut. */
  let eager = false;

  const show = (changes: Partial<Lesson>) => {
    if (deck.picture === undefined) return;
    deck.picture.lesson = { ...deck.picture.lesson, problem: "", ...changes };
    deck.redraw("lesson");
  };

  const ask = async (place: number, take: (reply: LessonReply) => unknown) => {
    if (deck.picture === undefined) return;
    try {
      take(await deck.requests.ask("lesson", { place }));
    } catch (error) {
      show({ problem: (error as Error).message });
    }
  };

  const step = (reply: LessonReply, wanted: number) => {
    const { picture, plan } = deck;
    if (picture === undefined || plan === undefined) return;
    const taken = Math.max(0, Math.min(wanted, reply.steps.length));
    picture.plan = showPlayed(plan, reply, taken);
    show({ play: { reply, step: taken } });
    deck.redraw("plan", "fates", "place");
  };

  /** What a lesson is about. */
  const standing = (): string => {
    const { host, picture } = deck;
    const choices = (["at", "policy", "settings", "pins"] as const).map(name => host.get(name));
    return JSON.stringify([...choices, picture?.place]);
  };

  const endPlay = () => {
    const { picture, plan } = deck;
    if (picture?.lesson.play == null || plan === undefined) return;
    picture.plan = plan;
    show({ play: null });
    deck.redraw("plan", "fates", "place");
  };

  const isGuessing = () => deck.picture?.lesson.guess?.shown === false;

  const endGuess = () => {
    const { picture, plan } = deck;
    if (picture?.lesson.guess == null || plan === undefined) return;
    if (isGuessing()) picture.place = clampPlace(plan.cut.place, picture.scene);
    eager = false;
    show({ guess: null });
    picture.settled = !deck.asked;
    deck.redraw("place", "plan", "settled");
  };

  const hide = () => {
    const { picture, plan } = deck;
    if (picture === undefined || plan === undefined) return;
    endPlay();
    if (plan.cut.by === "you") deck.change({ cut: "" });
    const { cuts, scene } = picture;
    const middle = cuts.atOrAfter[Math.floor(scene.entries / 2)] as number;
    picture.place = middle >= 0 ? middle : picture.place;
    picture.settled = false;
    show({ guess: { shown: false }, broken: null });
    deck.redraw("place", "plan", "settled");
  };

  const reveal = () => {
    const { picture, plan } = deck;
    if (picture === undefined || plan === undefined || !isGuessing()) return;
    eager = deck.asked;
    if (eager) return;
    const mine = picture.place;
    const theirs = clampPlace(plan.cut.place, picture.scene);
    picture.place = theirs;
    picture.settled = true;
    show({ guess: { shown: true, mine, theirs } });
    deck.redraw("place", "plan", "settled");
  };

  return {
    isGuessing,
    endPlay,
    /** Python has answered. */
    settle() {
      if (eager) reveal();
      eager = false;
    },
    playTo(taken: number) {
      const { picture } = deck;
      if (picture === undefined) return;
      const play = picture.lesson.play;
      if (play !== null) return step(play.reply, taken);
      if (ahead >= 0) {
        ahead++;
        return;
      }
      endGuess();
      ahead = 0;
      const asked = standing();
      // The steps of another policy, or at another place, would be played over this plan.
      const take = (reply: LessonReply) => asked === standing() && step(reply, taken + ahead);
      void ask(picture.place, take).then(() => {
        ahead = -1;
      });
    },
    guess(act: "hide" | "show" | "end") {
      if (act === "hide") hide();
      else if (act === "show") reveal();
      else endGuess();
    },
    breakAt(place: number) {
      if (deck.picture !== undefined) deck.picture.why = place;
      deck.redraw("why");
      show({ broken: place < 0 ? null : { place, reply: null } });
      if (place >= 0) {
        void ask(place, reply => {
          if (deck.picture?.lesson.broken?.place === place) show({ broken: { place, reply } });
        });
      }
    },
    /** A moving hand is over an illegal place, or no longer. */
    hover(place: number) {
      left = place < 0 ? under : -1;
      under = place;
    },
    /** The hand moves on: only a place it is let go of counts. */
    slide() {
      left = -1;
      if (!isGuessing()) {
        endPlay();
        endGuess();
      }
    },
    /** The hand has let go of the cut. */
    drop() {
      const place = left;
      left = -1;
      if (deck.picture?.tab !== "lesson") return;
      if (place >= 0) this.breakAt(place);
      else if (deck.picture.lesson.broken !== null) show({ broken: null });
    },
    /** What was learnt of a plan is no longer true of another one. */
    forget() {
      endPlay();
      endGuess();
      if (deck.picture !== undefined && deck.picture.lesson !== NO_LESSON) show(NO_LESSON);
    },
  };
};
