// Layout of the buttons of recorded compactions above the curve: a button keeps clear of its neighbours, or all of
// them become shorter, or are replaced by a stepper.

/** A compaction with the widths that its button may have, longest words first; its middle is wanted at `x`. */
export interface ButtonPlace {
  x: number;
  widths: readonly number[];
}

export interface Laid {
  /** The index of the width that is used; -1 if not even the last fits. */
  size: number;
  /** The left edge of each. */
  edges: number[];
}

/** Space between two buttons, and how far a small one moves aside. */
const GAP = 4;

/** Lays buttons out in the order of their places, none over another and all within `width`. */
export const layOut = (buttons: readonly ButtonPlace[], width: number): Laid => {
  const sizes = buttons[0]?.widths.length ?? 0;
  for (let size = 0; size < sizes; size++) {
    const edges = spread(
      buttons.map(({ x, widths }) => [x, widths[size] as number] as const),
      width,
    );
    if (edges !== null) return { size, edges };
  }
  return { size: -1, edges: [] };
};

/** From the right, then from the left: each at its preferred position unless a neighbour is there. */
const spread = (items: readonly (readonly [x: number, wide: number])[], width: number): number[] | null => {
  const all = items.reduce((sum, [, wide]) => sum + wide + GAP, -GAP);
  if (all > width) return null;
  const edges: number[] = [];
  let free = 0;
  for (const [x, wide] of items) {
    const at = Math.max(free, x - wide / 2);
    edges.push(at);
    free = at + wide + GAP;
  }
  let end = width;
  for (let i = items.length - 1; i >= 0; i--) {
    const [, wide] = items[i] as readonly [number, number];
    edges[i] = Math.min(edges[i] as number, end - wide);
    end = (edges[i] as number) - GAP;
  }
  return edges;
};

/** Places small buttons of one width next to the existing ones; null for a button that does not fit. */
export const fitBetween = (
  occupied: readonly (readonly [left: number, right: number])[],
  widths: readonly number[],
  wide: number,
  width: number,
): (number | null)[] => {
  const all = [...occupied];
  return widths.map(x => {
    const centre = Math.max(0, Math.min(width - wide, x - wide / 2));
    const beside = all.flatMap(([left, right]) => [left - GAP - wide, right + GAP]);
    const free = [centre, ...beside]
      .filter(at => at >= 0 && at + wide <= width)
      .filter(at => all.every(([left, right]) => at + wide <= left || at >= right))
      .sort((a, b) => Math.abs(a - centre) - Math.abs(b - centre))[0];
    if (free === undefined) return null;
    all.push([free, free + wide]);
    return free;
  });
};
