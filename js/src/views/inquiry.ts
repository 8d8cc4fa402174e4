// Asking Python of facts, once for each plan that has settled. An answer to an older question is dropped.
import type { FactRow } from "../core/factwire";
import type { Tracing, Wish } from "../core/tracing";
import type { Deck } from "./deck";

/** So many rows come at once. */
export const PAGE = 200;
const FINDING = "Finding facts …";
export const ASKING = "Asking Python what became of it …";

export interface Inquiry {
  /** Asks anew where the plan on the screen is no longer the one that was asked about. */
  follow(): void;
  wish(changes: Partial<Wish>): void;
  /** Opens a fact by its number; -1 closes it. */
  open(number: number): void;
  /** Fetches the rows around one that is not here yet. */
  fetch(index: number): void;
  again(): void;
}

export const makeInquiry = (deck: Deck): Inquiry => {
  const { requests } = deck;
  let [plan, scene] = ["", undefined as object | undefined];
  let [lists, stories, regrets] = [0, 0, 0];
  let asked = new Set<number>();
  let waiting = false;

  const tell = (changes: Partial<Tracing>) => {
    const { picture } = deck;
    if (picture === undefined) return;
    picture.tracing = { ...picture.tracing, ...changes };
    deck.redraw("tracing");
  };

  const askList = async (from: number): Promise<void> => {
    const { picture } = deck;
    if (picture === undefined) return;
    const mine = from === 0 ? ++lists : lists;
    if (from === 0) {
      asked = new Set([0]);
      waiting = true;
      tell({ note: FINDING, failed: false });
    }
    try {
      const { place, tracing } = picture;
      const list = await requests.ask("facts", { place, ...tracing.wish, from, to: from + PAGE });
      const known = deck.picture?.tracing;
      if (mine !== lists || known === undefined) return;
      const rows = new Map<number, FactRow>(from === 0 ? [] : known.rows);
      list.rows.forEach((row, i) => {
        rows.set(from + i, row);
      });
      tell(from === 0 ? { list, rows, note: list.sentence } : { rows });
    } catch (error) {
      if (mine !== lists) return;
      if (from === 0) tell({ note: (error as Error).message, failed: true });
      // A page is asked for again when it is next in sight.
      else asked.delete(from);
    } finally {
      if (mine === lists && from === 0) waiting = false;
    }
  };

  const askStory = async (): Promise<void> => {
    const mine = ++stories;
    const { picture } = deck;
    if (picture === undefined) return;
    const { chosen, story } = picture.tracing;
    if (chosen < 0) return tell({ story: null, storyNote: "" });
    const kept = story?.number === chosen ? story : null;
    tell({ story: kept, storyNote: ASKING });
    try {
      const next = await requests.ask("fact", { number: chosen, place: picture.place });
      if (mine === stories) tell({ story: next, storyNote: "" });
    } catch (error) {
      if (mine === stories) tell({ story: null, storyNote: (error as Error).message });
    }
  };

  const askRegret = async (): Promise<void> => {
    const mine = ++regrets;
    try {
      const regret = await requests.ask("regret", {});
      if (mine === regrets) tell({ regret });
    } catch {
      // The list says what is wrong; what was needed again is only not marked.
      if (mine === regrets) tell({ regret: null });
    }
  };

  const follow = () => {
    const { picture } = deck;
    if (picture === undefined || picture.needsKernel !== "" || !picture.open.has("facts")) return;
    if (!picture.settled || picture.dragging) return;
    const { policy } = picture.plan;
    const now = JSON.stringify([policy, picture.settings, picture.pins, picture.place]);
    const isNew = picture.scene !== scene;
    // A file that grows faster than its facts are found is asked about again once there is an answer.
    if (now === plan && (!isNew || waiting)) return;
    [plan, scene] = [now, picture.scene];
    const list = askList(0);
    if (picture.tracing.chosen >= 0) void askStory();
    if (isNew) void list.then(askRegret);
  };

  return {
    follow,
    wish(changes) {
      const { picture } = deck;
      if (picture === undefined) return;
      tell({ wish: { ...picture.tracing.wish, ...changes } });
      if (picture.needsKernel === "") void askList(0);
    },
    open(number) {
      tell({ chosen: number });
      void askStory();
    },
    fetch(index) {
      const from = index - (index % PAGE);
      if (asked.has(from)) return;
      asked.add(from);
      void askList(from);
    },
    again() {
      scene = undefined;
      follow();
    },
  };
};
