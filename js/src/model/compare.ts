// Two sides of one context: original and plan A, or plan A and plan B, with the outcome of each block.

import type { Settings, Versus } from "../payloads/host";
import { idOf } from "./cuts";
import { fateAt, isUncut, type Plan, type Scene } from "./plan";

export interface Side {
  fate: number;
  tokens: number;
}

export interface Compared {
  /** Two plans are compared, not a plan with what was before it. */
  two: boolean;
  left(row: number): Side;
  right(row: number): Side;
  /** Both sides leave the block alike. */
  isSame(row: number): boolean;
}

export const compare = (scene: Scene, plan: Plan, place: number, other: Plan | null): Compared => {
  const verbatim = scene.fates.findIndex(({ id }) => id === "verbatim");
  const side = (row: number) => fateAt(scene, plan, row, place);
  const left =
    other === null ? (row: number) => ({ fate: verbatim, tokens: scene.blockTokens[row] as number }) : side;
  const right = other === null ? side : (row: number) => fateAt(scene, other, row, other.cut.place);
  return {
    ...{ two: other !== null, left, right },
    isSame(row) {
      const [leftSide, its] = [left(row), right(row)];
      return leftSide.fate === its.fate && leftSide.tokens === its.tokens;
    },
  };
};

/** A copy of the current plan as plan B, independent of later changes to A. */
export const heldOf = (
  { scene, plan, place, settings, pins }: HeldFrom,
  cut = isUncut(plan, place) ? "" : idOf(scene, place),
): Extract<Versus, { policy: string }> => ({
  policy: plan.policy,
  settings,
  ...(pins === undefined ? {} : { pins }),
  ...(cut === "" ? {} : { cut }),
});

interface HeldFrom {
  scene: Scene;
  plan: Plan;
  place: number;
  settings: Settings;
  pins: readonly string[] | undefined;
}

/** A and B exchanged: the choices for plan A. Null if B is not the plan of a policy. */
export const swapped = (from: HeldFrom & { versus: Versus }) => {
  const { versus, pins } = from;
  if (!("policy" in versus)) return null;
  return {
    policy: versus.policy,
    settings: versus.settings ?? {},
    ...(pins === undefined ? {} : { pins: versus.pins ?? [] }),
    cut: versus.cut ?? "",
    versus: heldOf(from),
  };
};
