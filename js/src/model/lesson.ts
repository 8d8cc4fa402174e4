// A lesson about a plan: the policy up to one of its steps, and a guessed cut next to the policy's own.
// Python plays it: decides every block and counts every sum.

import type { LessonReply, LessonStep } from "../payloads/types";
import { turnOfPlace } from "./cuts";
import { type Plan, type Scene, totalAfter } from "./plan";

export interface Lesson {
  /** The policy played; `step` counts the steps taken, from 0 to all of them. */
  play: { reply: LessonReply; step: number } | null;
  /** "hidden" while the user places the cut, then their place next to the policy's. */
  guess: { shown: false } | { shown: true; own: number; policy: number } | null;
  /** An invalid cut point on which the cut was dropped, and what Python says of it once it has answered. */
  broken: { place: number; reply: LessonReply | null } | null;
  /** A sentence about what could not be asked, "" for nothing. */
  problem: string;
}

export const NO_LESSON: Lesson = { play: null, guess: null, broken: null, problem: "" };

/** The plan after `steps` steps, as Python played it at the lesson's place; after the last step, the plan itself. */
export const showPlayed = (plan: Plan, { place, played }: LessonReply, steps: number): Plan => {
  const shown = played[steps];
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
    // Python reports the target of tokens only for the whole policy.
    whole: false,
  };
};

/** The distance of a guess: turns and tokens, positive if it is later and keeps more than the policy's cut. */
export const compareGuess = (scene: Scene, plan: Plan, own: number, policy: number) => ({
  turns: turnOfPlace(scene, own) - turnOfPlace(scene, policy),
  tokens: totalAfter(plan, own) - totalAfter(plan, policy),
});

/** The number of a step's rule, the same in all panels; "" if no rule of the policy decides. */
export const numberOf = ({ rule }: LessonStep): string => (rule < 0 ? "" : `${rule + 1}`);
