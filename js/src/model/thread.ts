// The chosen thing, as the lanes show it: where it is named, and how that ends.
import type { Tracing } from "./facts";

export interface Mention {
  row: number;
  /** What kind of block names it, in a word or two. */
  kind: string;
}

export interface Thread {
  label: string;
  mentions: readonly Mention[];
  /** A few words, "" for none. */
  end: string;
  /** It ends in a loss. */
  lost: boolean;
}

/** Of the fact that is open; null while none is, or while Python has not answered. */
export const threadOf = ({ chosen, story }: Tracing): Thread | null => {
  if (chosen === null || story === null) return null;
  const mentions = story.said.filter(({ row }) => row >= 0).map(({ row, label }) => ({ row, kind: label }));
  return { label: `${story.form} is named in`, mentions, end: story.fate, lost: story.fate === "lost" };
};
