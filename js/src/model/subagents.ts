// Sidechains as rows: few are shown one by one, many fold into one row that adds them up.
import type { Scene } from "./plan";

const FEW = 4;
/** More than these fold: one row for a single one would fold nothing. */
export const MOST_SINGLE = FEW + 1;
/** Rows beyond these stay folded even when the rest is opened. */
const MOST = 40;

export interface SideRow {
  label: string;
  /** What it was asked, "" for the folded ones. */
  task: string;
  tokens: number;
  /** Tokens at each step, 0 elsewhere. */
  at: Int32Array;
  /** How many sidechains the row stands for. */
  count: number;
}

export const stackSides = (scene: Scene, open: boolean): SideRow[] => {
  const { sides, steps } = scene;
  const single = sides.length <= MOST_SINGLE ? sides.length : open ? Math.min(sides.length, MOST) : FEW;
  const rest = sides.slice(single);
  const rows = sides
    .slice(0, single)
    .map(
      ({ label, task, tokens }): SideRow => ({ label, task, tokens, at: new Int32Array(steps), count: 1 }),
    );
  if (rest.length > 0) {
    const tokens = rest.reduce((sum, side) => sum + side.tokens, 0);
    rows.push({
      label: `${rest.length} more`,
      task: "",
      tokens,
      at: new Int32Array(steps),
      count: rest.length,
    });
  }
  scene.sideLane.forEach((lane, i) => {
    const { at } = rows[Math.min(lane, rows.length - 1)] as SideRow;
    const step = scene.sideStep[i] as number;
    at[step] = (at[step] as number) + (scene.sideTokens[i] as number);
  });
  return rows;
};
