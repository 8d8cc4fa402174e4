// Asking Python of facts, once for each plan that has settled. An answer to an older question is dropped.
import type { FactName, FactRow } from "../core/factwire";
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
  /** Opens a fact; null closes it. */
  open(fact: FactName | null): void;
  /** Fetches the rows around one that is not here yet. */
  fetch(index: number): void;
  again(): void;
}

export const makeInquiry = (deck: Deck): Inquiry => {
  const { requests } = deck;
  let scene: object | undefined;
  /** The plan that was asked about, without its cut and with it. */
  let [rules, plan] = ["", ""];
  /** Where it cuts: a hand that moves is ahead of that. */
  let place = 0;
  let [lists, stories, regrets] = [0, 0, 0];
  let asked = new Set<number>();
  let waiting = false;
  /** What was needed again is not asked for yet in this scene. */
  let overdue = false;

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
      const { wish } = picture.tracing;
      const list = await requests.ask("facts", { place, ...wish, from, to: from + PAGE });
      const known = deck.picture?.tracing;
      if (mine !== lists || known === undefined) return;
      const rows = new Map<number, FactRow>(from === 0 ? [] : known.rows);
      list.rows.forEach((row, i) => {
        rows.set(from + i, row);
      });
      tell(from === 0 ? { list, rows, note: list.sentence } : { rows });
      // Once the facts are found: what was stopped is not begun again.
      if (overdue) void askRegret();
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
    if (chosen === null) return tell({ story: null, storyNote: "" });
    const kept = story?.number === chosen.number && story.form === chosen.form ? story : null;
    tell({ story: kept, storyNote: ASKING });
    try {
      const { number, kind, form } = chosen;
      const next = await requests.ask("fact", { number, kind, form, place });
      if (mine === stories) tell({ chosen: next, story: next, storyNote: "" });
    } catch (error) {
      if (mine === stories) tell({ story: null, storyNote: (error as Error).message });
    }
  };

  const askRegret = async (): Promise<void> => {
    const mine = ++regrets;
    overdue = false;
    try {
      const regret = await requests.ask("regret", {});
      if (mine === regrets) tell({ regret });
    } catch {
      // The list says what is wrong; what was needed again is only not marked.
      if (mine === regrets) tell({ regret: null });
    }
  };

  const follow = () => {
    const { picture, plan: made } = deck;
    if (picture === undefined || made === undefined) return;
    if (picture.needsKernel !== "" || !picture.open.has("facts")) return;
    if (!picture.settled || picture.dragging) return;
    const choices = [deck.host.get("at"), made.policy, picture.settings, made.pins, made.rules, made.summary];
    // What a rule comes to moves with every count.
    const how = JSON.stringify(choices, (name, value) => (name === "delta" ? null : value));
    const now = JSON.stringify([how, made.cut.place, made.cut.by, made.summary]);
    const isNew = picture.scene !== scene;
    // A file that grows faster than its facts are found is asked about again once there is an answer.
    if (now === plan && (!isNew || waiting)) return;
    // The count at risk is looked up at any place, but of one scene and one set of rules.
    const { list } = picture.tracing;
    if (list !== null && (isNew || how !== rules)) tell({ list: { ...list, risk: null } });
    [rules, plan, scene, place] = [how, now, picture.scene, picture.place];
    overdue ||= isNew;
    void askList(0);
    if (picture.tracing.chosen !== null) void askStory();
  };

  return {
    follow,
    wish(changes) {
      const { picture } = deck;
      if (picture === undefined) return;
      tell({ wish: { ...picture.tracing.wish, ...changes } });
      // Before the first plan has settled nothing is asked; then this is.
      if (plan !== "") void askList(0);
    },
    open(fact) {
      tell({ chosen: fact });
      void askStory();
    },
    fetch(index) {
      const from = index - (index % PAGE);
      // Of a list that is asked for anew, pages would be of another.
      if (waiting || deck.picture?.tracing.failed || asked.has(from)) return;
      asked.add(from);
      void askList(from);
    },
    again() {
      scene = undefined;
      follow();
    },
  };
};
