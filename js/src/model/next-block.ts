// The next block to look at: of another turn, or one that differs.

import { compare } from "./compare";
import { type Plan, type Scene, turnOfRow } from "./plan";

type Way = 1 | -1;

/** The first block of the next turn, or of the turn before; from nowhere the very first or last turn. */
export const rowOfTurn = (scene: Scene, row: number, way: Way): number => {
  if (scene.blocks === 0) return -1;
  if (row < 0) return way > 0 ? 0 : firstOfTurn(scene, scene.blocks - 1);
  const turn = turnOfRow(scene, row);
  let at = row;
  while (at >= 0 && at < scene.blocks && turnOfRow(scene, at) === turn) at += way;
  if (at < 0) return 0;
  return at >= scene.blocks ? row : firstOfTurn(scene, at);
};

const firstOfTurn = (scene: Scene, row: number): number => {
  let at = row;
  while (at > 0 && turnOfRow(scene, at - 1) === turnOfRow(scene, row)) at--;
  return at;
};

/** The next block with another outcome in plan B, or, without plan B, one that is not verbatim; -1 without such a block. */
export const rowOfDifference = (
  scene: Scene,
  plan: Plan,
  place: number,
  other: Plan | null,
  row: number,
  way: Way,
): number => {
  const compared = compare(scene, plan, place, other);
  const from = row < 0 && way < 0 ? 0 : row;
  for (let i = 1; i <= scene.blocks; i++) {
    const at = (((from + i * way) % scene.blocks) + scene.blocks) % scene.blocks;
    if (!compared.isSame(at)) return at;
  }
  return -1;
};
