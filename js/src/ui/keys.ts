// Questions of several views about a pressed key.

/** Keeps an event from the browser and from whatever is around: it is dealt with. */
export const claim = (event: Event): void => {
  event.preventDefault();
  event.stopPropagation();
};

/** With a modifier a key is the browser's: its zoom, its way back. */
export const isModified = (event: KeyboardEvent): boolean => event.altKey || event.ctrlKey || event.metaKey;

/** The moves of a handle on the timeline by their keys. */
export type Move = "later" | "earlier" | "laterTurn" | "earlierTurn" | "first" | "last";
export const MOVES: Partial<Record<string, Move>> = {
  ArrowRight: "later",
  ArrowUp: "later",
  ArrowLeft: "earlier",
  ArrowDown: "earlier",
  PageDown: "laterTurn",
  PageUp: "earlierTurn",
  Home: "first",
  End: "last",
};

type Way = 1 | -1;

/** The direction of an arrow key, undefined for another key. */
export const upOrDown = ({ key }: KeyboardEvent): Way | undefined =>
  ({ ArrowDown: 1, ArrowUp: -1 })[key] as Way | undefined;
export const sideways = ({ key }: KeyboardEvent): Way | undefined =>
  ({ ArrowRight: 1, ArrowLeft: -1 })[key] as Way | undefined;
