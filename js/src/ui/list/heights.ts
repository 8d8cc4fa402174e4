// The heights of a long list: offsets from measured heights, and back from an offset to an item.
import { lowerBound } from "../../model/axis";

export interface Heights {
  /** Top of each item, and the height of the whole list at the end. */
  tops: Float64Array;
}

export const stackHeights = (count: number, heightOf: (index: number) => number): Heights => {
  const tops = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) tops[i + 1] = (tops[i] as number) + heightOf(i);
  return { tops };
};

export const totalHeight = ({ tops }: Heights): number => tops[tops.length - 1] as number;

/** The items that touch [top, bottom), widened by `margin` items on each side: [first, end). */
export const visibleItems = (
  { tops }: Heights,
  top: number,
  bottom: number,
  margin: number,
): [number, number] => {
  const count = tops.length - 1;
  const first = Math.max(0, lowerBound(tops, top + 0.5) - 1);
  const end = Math.min(count, lowerBound(tops, bottom));
  return [Math.max(0, first - margin), Math.min(count, Math.max(first, end) + margin)];
};
