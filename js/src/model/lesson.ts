// A lesson over a plan: the policy shown up to one of its steps, and a guessed cut beside the policy's own.
// Python decided every block and counted every sum; here they are only looked up.

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

/** The plan with only the first `taken` steps decided: every other block stands as it did. */
export const playTo = (scene: Scene, plan: Plan, reply: LessonReply, taken: number): Plan => {
  const { place, steps } = reply;
  if (taken >= steps.length) return plan;
  const decided = new Set(steps.slice(0, taken).map(({ rule }) => rule));
  const verbatim = scene.fates.findIndex(({ id }) => id === "verbatim");
  const side = (fates: Uint8Array, tokens: Int32Array, rules: Int32Array) => {
    const shown = { fates: fates.slice(), tokens: tokens.slice(), rules: rules.slice() };
    rules.forEach((rule, row) => {
      if (decided.has(rule)) return;
      shown.fates[row] = verbatim;
      shown.tokens[row] = scene.blockTokens[row] as number;
      shown.rules[row] = -1;
    });
    return shown;
  };
  const older = side(plan.fateOlder, plan.tokensOlder, plan.ruleOlder);
  const kept = side(plan.fateKept, plan.tokensKept, plan.ruleKept);
  const step = steps[taken - 1];
  const afterTotal = plan.afterTotal.slice();
  const afterSections = plan.afterSections.slice();
  const summaryTokens = plan.summaryTokens.slice();
  afterTotal[place] = step?.after ?? plan.before.total;
  afterSections.set(step?.sections ?? plan.before.sections, place * scene.sections.length);
  summaryTokens[place] = step?.summary ?? 0;
  return {
    ...plan,
    ...{ fateOlder: older.fates, tokensOlder: older.tokens, ruleOlder: older.rules },
    ...{ fateKept: kept.fates, tokensKept: kept.tokens, ruleKept: kept.rules },
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
