// The room of the element itself, never of the window; decides what is folded away.

/** An element smaller than this has all lanes in one. */
const SMALL = { width: 720, height: 860 };
/** Below this height the overview is its buttons alone. */
const LOW = 600;
/** Pixels between the margins of A4 across. */
const PAPER = 1046;

export const isLow = ({ clientWidth, clientHeight }: HTMLElement): boolean =>
  clientHeight > 0 && (clientWidth <= SMALL.width || clientHeight < SMALL.height);

/** Passes the height to the style sheet, whose container queries know only widths. */
export const markHeight = (root: HTMLElement): void => {
  const height = root.clientHeight;
  // A page of paper is as wide as A4 across: what is on the screen is printed as it is, smaller.
  if (!matchMedia("print").matches) root.style.setProperty("--ci-paper", String(PAPER / root.clientWidth));
  if (height === 0) return;
  const now = height < LOW ? "low" : height < SMALL.height ? "short" : "tall";
  if (root.dataset.height !== now) root.dataset.height = now;
};
