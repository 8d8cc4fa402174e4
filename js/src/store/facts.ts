// Asking Python of facts: the list of all, and the story of one. An answer to an older question is dropped.

import type { Tracing, Wish } from "../model/facts";
import type { Plan, Scene } from "../model/plan";
import type { TabId } from "../model/tabs";
import type { Host, Settings } from "../payloads/host";
import type { FactName } from "../payloads/replies";
import type { Requests } from "../payloads/requests";
import type { FactRow, StoryReply } from "../payloads/types";

/** So many rows come at once. */
export const PAGE = 200;
const FINDING = "Finding facts …";
export const ASKING = "Asking what became of it …";

/** What is on the screen, as far as a question about facts depends on it. */
interface Asked {
  readonly host: Pick<Host, "get">;
  readonly requests: Requests;
  readonly picture:
    | {
        readonly scene: Scene;
        /** What edits make, whichever side is looked at. */
        readonly planned: Plan;
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
  /** Opens a fact, with the row of what became of it that is to be told; null closes it. */
  open(fact: FactName | null, pick?: string): void;
  /** Takes over a story that is told elsewhere: its fact is the one that is looked at. */
  show(story: StoryReply): void;
  /** Fetches the rows around one that is not here yet. */
  fetch(index: number): void;
  again(): void;
}

/** `redraw` draws what is known of facts, once it has changed in the picture. */
export const makeInquiry = (screen: Asked, redraw: () => void): Inquiry => {
  const { requests } = screen;
  /** The scene that the list is of, and the one that was asked what was needed again. */
  let [scene, marked]: (object | undefined)[] = [];
  /** The plan that was asked about. */
  let plan = "";
  /** Where it cuts: a hand that moves is ahead of that. */
  let place = 0;
  const turns = { list: 0, story: 0, regret: 0 };
  let asked = new Set<number>();
  let waiting = false;

  const tell = (changes: Partial<Tracing>) => {
    const { picture } = screen;
    if (picture === undefined) return;
    picture.tracing = { ...picture.tracing, ...changes };
    redraw();
  };

  const askList = async (from: number): Promise<void> => {
    const { picture } = screen;
    if (picture === undefined) return;
    const mine = from === 0 ? ++turns.list : turns.list;
    if (from === 0) {
      asked = new Set([0]);
      waiting = true;
      tell({ note: FINDING, failed: false });
    }
    try {
      const { wish } = picture.tracing;
      const list = await requests.ask("facts", { place, ...wish, from, to: from + PAGE });
      const known = screen.picture?.tracing;
      if (mine !== turns.list || known === undefined) return;
      const rows = new Map<number, FactRow>(from === 0 ? [] : known.rows);
      list.rows.forEach((row, i) => {
        rows.set(from + i, row);
      });
      tell(from === 0 ? { list, rows, note: list.sentence } : { rows });
      // Once the facts are found: what was stopped is not begun again.
      void askRegret();
    } catch (error) {
      if (mine !== turns.list) return;
      if (from === 0) tell({ note: (error as Error).message, failed: true });
      // A page is asked for again when it is next in sight.
      else asked.delete(from);
    } finally {
      if (mine === turns.list && from === 0) waiting = false;
    }
  };

  const askStory = async (): Promise<void> => {
    const mine = ++turns.story;
    const { picture } = screen;
    if (picture === undefined) return;
    const { chosen, pick, story } = picture.tracing;
    if (chosen === null) return tell({ story: null, storyNote: "" });
    const kept = story?.number === chosen.number && story.form === chosen.form ? story : null;
    tell({ story: kept, storyNote: ASKING });
    try {
      const { number, kind, form } = chosen;
      const next = await requests.ask("story", { number, kind, form, place, pick });
      if (mine === turns.story) tell({ chosen: next, pick: next.pick, story: next, storyNote: "" });
    } catch (error) {
      if (mine === turns.story) tell({ story: null, storyNote: (error as Error).message });
    }
  };

  /** What was needed again is marked on the overview; it is asked for once a scene. */
  const askRegret = async (): Promise<void> => {
    const { picture } = screen;
    if (picture === undefined || picture.scene === marked) return;
    marked = picture.scene;
    const mine = ++turns.regret;
    try {
      const regret = await requests.ask("regret", {});
      if (mine === turns.regret) tell({ regret });
    } catch {
      // The list says what is wrong; what was needed again is only not marked.
      if (mine === turns.regret) tell({ regret: null });
    }
  };

  const follow = () => {
    const { picture } = screen;
    if (picture === undefined || picture.needsKernel !== "") return;
    const { planned, tab, tracing } = picture;
    if (!picture.settled || picture.dragging || tab !== "facts") return;
    const { policy, pins, rules, summary, cut } = planned;
    const choices = [screen.host.get("at"), policy, picture.settings, pins, rules, summary];
    // What a rule comes to moves with every count.
    const now = JSON.stringify([choices, cut.place, cut.by], (name, value) =>
      name === "delta" ? null : value,
    );
    // A file that grows faster than its facts are found is asked about again once there is an answer.
    if (now === plan && (picture.scene === scene || waiting)) return;
    [plan, scene, place] = [now, picture.scene, picture.place];
    void askList(0);
    if (tracing.chosen !== null) void askStory();
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
    open(fact, pick = "") {
      tell({ chosen: fact, pick });
      void askStory();
    },
    show(story) {
      turns.story++;
      tell({ chosen: story, pick: story.pick, story, storyNote: "" });
      void askRegret();
    },
    fetch(index) {
      const from = index - (index % PAGE);
      // Of a list that is asked for anew, pages would be of another.
      if (waiting || screen.picture?.tracing.failed || asked.has(from)) return;
      asked.add(from);
      void askList(from);
    },
    again() {
      [plan, scene] = ["", undefined];
      follow();
    },
  };
};
