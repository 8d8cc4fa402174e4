// The selected range of the timeline: what is asked about it, and the way to it and back.

import type { Range } from "../model/axis";
import { isZoomed, rowsIn } from "../model/range";
import type { Store } from "./store";
import type { SelectionController } from "./view";

/** Milliseconds without a change after which Python is asked. */
const REST = 150;

export const makeSelection = (
  store: Store,
  brush: (first: number, end: number) => void,
  setRows: (rows: Range | null) => void,
): SelectionController => {
  let requested: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let before: Range = [0, Number.POSITIVE_INFINITY];

  const ask = async (key: string, selection: Range): Promise<void> => {
    const { viewState } = store;
    if (viewState === undefined || key !== requested) return;
    const { scene, place, look } = viewState;
    const [from, to] = rowsIn(scene, selection);
    setRows([from, to]);
    try {
      const selected = await store.requests.ask("selection", { place, look: look || "plan", from, to });
      if (key === requested) store.update({ selected }, "selection");
    } catch {
      // A page without Python shows the tokens only.
      if (key === requested) store.update({ selected: null }, "selection");
    }
  };

  return {
    select(range) {
      if (String(range) === String(store.viewState?.selection)) return;
      // The reply about another range is not this range's.
      requested = undefined;
      store.update({ selection: range, selected: null }, "selection");
    },
    zoom() {
      const { viewState } = store;
      if (!viewState?.selection) return;
      if (isZoomed(viewState)) return brush(...before);
      before = viewState.range;
      brush(...viewState.selection);
    },
    follow() {
      const { viewState } = store;
      if (viewState === undefined || !viewState.settled || viewState.dragging) return;
      const { selection, scene, look, planned, place } = viewState;
      const { policy, pins, recipe } = planned;
      const now = selection && [selection, scene.entryIds.at(-1), scene.judged, look, place];
      const key = now === null ? "" : JSON.stringify([now, policy, pins, recipe]);
      if (key === requested) return;
      requested = key;
      clearTimeout(timer);
      // Also when another session has ended the selection.
      if (selection === null) setRows(null);
      else timer = setTimeout(() => void ask(key, selection), REST);
    },
  };
};
