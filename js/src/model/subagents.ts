// Sidechains as rows: one that adds them up, until it is opened.
import type { Scene } from "./plan";

/** Rows beyond these stay folded even when the rest is opened. */
const MOST = 40;

export interface SideRow {
  label: string;
  /** The sub-agent's task, "" for the folded ones. */
  task: string;
  tokens: number;
  /** Tokens at each step, 0 elsewhere. */
  at: Int32Array;
  /** Its last entry, "" for the folded ones. */
  end: string;
  /** How many sidechains the row stands for. */
  count: number;
}

export const stackSides = (scene: Scene, open: boolean): SideRow[] => {
  const { sides, steps } = scene;
  const single = open || sides.length === 1 ? Math.min(sides.length, MOST) : 0;
  const rest = sides.slice(single);
  const rows = sides.slice(0, single).map(({ label, task, tokens, end }): SideRow => {
    const at = new Int32Array(steps);
    return { label, task, tokens, end, at, count: 1 };
  });
  if (rest.length > 0) {
    const tokens = rest.reduce((sum, side) => sum + side.tokens, 0);
    rows.push({
      label: single === 0 ? `${rest.length} sub-agents` : `${rest.length} more`,
      task: "",
      end: "",
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
