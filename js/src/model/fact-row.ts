// The chosen thing, as the lanes show it: what it is, which blocks name it, and how that ends.

export interface Mention {
  /** The block, by its name. */
  ref: string;
  /** What kind of block it is, in a word or two. */
  kind: string;
}

export interface FactRowContent {
  /** "" where it is too long to stand beside the lanes. */
  name: string;
  does: string;
  mentions: readonly Mention[];
  /** A few words, "" for none. */
  ends: string;
  /** It ends in a loss. */
  lost: boolean;
}
