// Asking Python of facts, once for each plan that has settled. An answer to an older question is dropped.

import type { Tracing, Wish } from "../model/facts";
import type { Plan, Scene } from "../model/plan";
import type { TabId } from "../model/tabs";
import type { Host, Settings } from "../payloads/host";
import type { FactName } from "../payloads/replies";
import type { Requests } from "../payloads/requests";
import type { FactRow } from "../payloads/types";

/** So many rows come at once. */
export const PAGE = 200;
const FINDING = "Finding facts …";
export const ASKING = "Asking Python what became of it …";

/** What is on the screen, as far as a question about facts depends on it. */
interface Asked {
  readonly host: Pick<Host, "get">;
  readonly requests: Requests;
  /** The plan as Python made it. */
  readonly plan: Plan | undefined;
  readonly picture:
    | {
        readonly scene: Scene;
        readonly settings: Settings;
        readonly place: number;
        readonly settled: boolean;
        readonly dragging: boolean;
        readonly needsKernel: string;
        readonly tab: TabId;
        tracing: Tracing;
      }
    | undefined;
}

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

/** `redraw` draws what is known of facts, once it has changed in the picture. */
export const makeInquiry = (screen: Asked, redraw: () => void): Inquiry => {
  const { requests } = screen;
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
    const { picture } = screen;
    if (picture === undefined) return;
    picture.tracing = { ...picture.tracing, ...changes };
    redraw();
  };

  const askList = async (from: number): Promise<void> => {
    const { picture } = screen;
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
      const known = screen.picture?.tracing;
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
    const { picture } = screen;
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
    const { picture, plan: made } = screen;
    if (picture === undefined || made === undefined) return;
    if (picture.needsKernel !== "" || picture.tab !== "facts") return;
    if (!picture.settled || picture.dragging) return;
    const at = screen.host.get("at");
    const choices = [at, made.policy, picture.settings, made.pins, made.rules, made.summary];
    // What a rule comes to moves with every count.
    const how = JSON.stringify(choices, (name, value) => (name === "delta" ? null : value));
    const now = JSON.stringify([how, made.cut.place, made.cut.by, made.summary]);
    const isNew = picture.scene !== scene;
    // A file that grows faster than its facts are found is asked about again once there is an answer.
    if (now === plan && (!isNew || waiting)) return;
    // The count at risk is looked up at any place, but of one scene and one set of rules.
    const { list } = picture.tracing;
    if (list !== null && (isNew || how !== rules)) tell({ list: { ...list, risk: undefined } });
    [rules, plan, scene, place] = [how, now, picture.scene, picture.place];
    overdue ||= isNew;
    void askList(0);
    if (picture.tracing.chosen !== null) void askStory();
  };

  return {
    follow,
    wish(changes) {
      const { picture } = screen;
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
      if (waiting || screen.picture?.tracing.failed || asked.has(from)) return;
      asked.add(from);
      void askList(from);
    },
    again() {
      scene = undefined;
      follow();
    },
  };
};
