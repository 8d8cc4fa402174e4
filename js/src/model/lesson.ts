// A lesson over a plan: the policy shown up to one of its steps, and a guessed cut beside the policy's own.
// Python plays it: decides every block and counts every sum.

import type { LessonReply, LessonStep } from "../payloads/types";
import { turnOfPlace } from "./cuts";
import { type Plan, type Scene, totalAfter } from "./plan";

export interface Lesson {
  /** The policy played; `step` counts the steps taken, from 0 to all of them. */
  play: { reply: LessonReply; step: number } | null;
  /** "hidden" while the person places the cut, then their place beside the policy's. */
  guess: { shown: false } | { shown: true; mine: number; theirs: number } | null;
  /** An illegal place on which the cut was dropped, and what Python says of it once it has answered. */
  broken: { place: number; reply: LessonReply | null } | null;
  /** A sentence about what could not be asked, "" for nothing. */
  problem: string;
}

export const NO_LESSON: Lesson = { play: null, guess: null, broken: null, problem: "" };

/** The plan after so many steps, as Python played it at the lesson's place; after the last it is the plan itself. */
export const showPlayed = (plan: Plan, { place, played }: LessonReply, taken: number): Plan => {
  const shown = played[taken];
  if (shown === undefined) return plan;
  const { total, sections, summary } = shown;
  const [fates, tokens, rules] = [
    Uint8Array.from(shown.fates),
    Int32Array.from(shown.tokens),
    Int32Array.from(shown.rules),
  ];
  const [afterTotal, afterSections] = [plan.afterTotal.slice(), plan.afterSections.slice()];
  const summaryTokens = plan.summaryTokens.slice();
  afterTotal[place] = total;
  afterSections.set(sections, place * sections.length);
  summaryTokens[place] = summary;
  return {
    ...plan,
    ...{ fateOlder: fates, tokensOlder: tokens, ruleOlder: rules },
    ...{ fateKept: fates, tokensKept: tokens, ruleKept: rules },
    ...{ afterTotal, afterSections, summaryTokens },
    // Python told where the tokens go under the whole policy only.
    whole: false,
  };
};

/** How far a guess is off: turns and tokens, positive where it is later and leaves more than the policy's cut. */
export const compareGuess = (scene: Scene, plan: Plan, mine: number, theirs: number) => ({
  turns: turnOfPlace(scene, mine) - turnOfPlace(scene, theirs),
  tokens: totalAfter(plan, mine) - totalAfter(plan, theirs),
});

/** The number of a step's rule as all panels say it; "" where no rule of the policy decides. */
export const numberOf = ({ rule }: LessonStep): string => (rule < 0 ? "" : `${rule + 1}`);
