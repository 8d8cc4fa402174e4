// The chosen fact in the lanes: its name, the blocks that mention it, and its outcome.

export interface Mention {
  /** The block, by its name. */
  ref: string;
  /** The kind of block, in a word or two. */
  kind: string;
}

export interface FactLaneContent {
  /** "" if it is too long to be shown next to the lanes. */
  name: string;
  does: string;
  mentions: readonly Mention[];
  /** A few words, "" for none. */
  ends: string;
  /** It ends in a loss. */
  lost: boolean;
}
