// The parts of the screen, top to bottom, as F6 goes through them.
const REGIONS = [
  ".ci-header",
  ".ci-gauge",
  ".ci-overview",
  ".ci-turns",
  ".ci-sentence",
  ".ci-tabrow",
  ".ci-tabpanel:not([hidden])",
  ".ci-recipe",
].join(", ");
const STOP =
  ":is(a[href], button, input, select, textarea, summary, [tabindex]):not([tabindex='-1'], :disabled)";

/** The first stop of the next part that has one, round about. */
export const focusRegion = (root: HTMLElement, way: 1 | -1): void => {
  const regions = [...root.querySelectorAll<HTMLElement>(REGIONS)];
  const stops = regions.map(region =>
    [...region.querySelectorAll<HTMLElement>(STOP)].find(
      node => node.closest("[hidden]") === null && (node.checkVisibility?.() ?? true),
    ),
  );
  const here = regions.findIndex(region => region.contains(document.activeElement));
  const start = here < 0 && way < 0 ? 0 : here;
  for (let n = 1; n <= regions.length; n++) {
    const next = stops[(start + way * n + regions.length * 2) % regions.length];
    if (next === undefined) continue;
    next.focus();
    return;
  }
};
