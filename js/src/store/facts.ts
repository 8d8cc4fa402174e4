// Asking Python of facts: the list of all, and the story of one. An answer to an older question is dropped.

import type { FactFilter, Tracing } from "../model/facts";
import { namePlan, type Plan, type Scene } from "../model/plan";
import type { TabId } from "../model/tabs";
import type { Host, Settings } from "../payloads/host";
import type { FactName } from "../payloads/replies";
import type { Requests } from "../payloads/requests";
import type { FactRow, StoryReply } from "../payloads/types";

/** The number of rows per page. */
export const PAGE = 200;
const FINDING = "Finding facts …";
export const ASKING = "Looking for its outcome …";

/** What is on the screen, as far as a question about facts depends on it. */
interface FactsScreen {
  readonly host: Pick<Host, "get">;
  readonly requests: Requests;
  readonly viewState:
    | {
        readonly scene: Scene;
        /** The edited plan, even if the recorded one is shown. */
        readonly planned: Plan;
        readonly settings: Settings;
        readonly place: number;
        readonly settled: boolean;
        readonly dragging: boolean;
        readonly tab: TabId;
        tracing: Tracing;
      }
    | undefined;
}

export interface FactsController {
  /** Asks again if the plan on the screen is no longer the one that was asked about. */
  follow(): void;
  setFilter(changes: Partial<FactFilter>): void;
  /** Opens a fact, at a row of its history; null closes it. */
  open(fact: FactName | null, pick?: string): void;
  /** Shows a story that another view fetched; its fact becomes the chosen one. */
  show(story: StoryReply): void;
  /** Fetches the rows around one that is not here yet. */
  fetch(index: number): void;
  again(): void;
}

/** `redraw` draws the tracing of the view state after it has changed. */
export const makeFactsController = (screen: FactsScreen, redraw: () => void): FactsController => {
  const { requests } = screen;
  /** The scene that the list is of, and the one that was asked what was needed again. */
  let [scene, marked]: (object | undefined)[] = [];
  /** The plan that was asked about. */
  let plan = "";
  /** The cut of that plan; during a drag the screen is ahead of it. */
  let place = 0;
  const turns = { list: 0, story: 0, regret: 0 };
  let requested = new Set<number>();
  let waiting = false;

  const update = (changes: Partial<Tracing>) => {
    const { viewState } = screen;
    if (viewState === undefined) return;
    viewState.tracing = { ...viewState.tracing, ...changes };
    redraw();
  };

  const askList = async (from: number): Promise<void> => {
    const { viewState } = screen;
    if (viewState === undefined) return;
    const turn = from === 0 ? ++turns.list : turns.list;
    if (from === 0) {
      requested = new Set([0]);
      waiting = true;
      update({ note: FINDING, failed: false });
    }
    try {
      const { rows: within, ...filter } = viewState.tracing.filter;
      const inRows = within && { rowFrom: within[0], rowTo: within[1] };
      const list = await requests.ask("facts", { place, ...filter, ...inRows, from, to: from + PAGE });
      const tracing = screen.viewState?.tracing;
      if (turn !== turns.list || tracing === undefined) return;
      const rows = new Map<number, FactRow>(from === 0 ? [] : tracing.rows);
      list.rows.forEach((row, i) => {
        rows.set(from + i, row);
      });
      update(from === 0 ? { list, rows, note: list.sentence } : { rows });
      // Once the facts are found: what was stopped is not begun again.
      void askRegret();
    } catch (error) {
      if (turn !== turns.list) return;
      if (from === 0) update({ note: (error as Error).message, failed: true });
      // A page is asked for again when it is next in sight.
      else requested.delete(from);
    } finally {
      if (turn === turns.list && from === 0) waiting = false;
    }
  };

  const askStory = async (): Promise<void> => {
    const turn = ++turns.story;
    const { viewState } = screen;
    if (viewState === undefined) return;
    const { chosen, pick, story } = viewState.tracing;
    if (chosen === null) return update({ story: null, storyNote: "" });
    const current = story?.number === chosen.number && story.form === chosen.form ? story : null;
    update({ story: current, storyNote: ASKING });
    try {
      const { number, kind, form } = chosen;
      const next = await requests.ask("story", { number, kind, form, place, pick });
      if (turn === turns.story) update({ chosen: next, pick: next.pick, story: next, storyNote: "" });
    } catch (error) {
      if (turn === turns.story) update({ story: null, storyNote: (error as Error).message });
    }
  };

  /** What was needed again is marked on the overview; it is asked for once a scene. */
  const askRegret = async (): Promise<void> => {
    const { viewState } = screen;
    if (viewState === undefined || viewState.scene === marked) return;
    marked = viewState.scene;
    const turn = ++turns.regret;
    try {
      const regret = await requests.ask("regret", {});
      if (turn === turns.regret) update({ regret });
    } catch {
      // The list says what is wrong; what was needed again is only not marked.
      if (turn === turns.regret) update({ regret: null });
    }
  };

  const follow = () => {
    const { viewState } = screen;
    if (viewState === undefined) return;
    const { planned, tab, tracing } = viewState;
    if (!viewState.settled || viewState.dragging || tab !== "facts") return;
    const { summary, cut } = planned;
    const choices = [screen.host.get("at"), viewState.settings, namePlan(planned), summary];
    const now = JSON.stringify([choices, cut.place, cut.by]);
    // A file that grows faster than its facts are found is asked about again once there is an answer.
    if (now === plan && (viewState.scene === scene || waiting)) return;
    [plan, scene, place] = [now, viewState.scene, viewState.place];
    void askList(0);
    if (tracing.chosen !== null) void askStory();
  };

  return {
    follow,
    setFilter(changes) {
      const { viewState } = screen;
      if (viewState === undefined) return;
      const filter = { ...viewState.tracing.filter, ...changes };
      if (JSON.stringify(filter) === JSON.stringify(viewState.tracing.filter)) return;
      update({ filter });
      // Before the first plan has settled nothing is asked; then this is.
      if (plan !== "") void askList(0);
    },
    open(fact, pick = "") {
      update({ chosen: fact, pick });
      void askStory();
    },
    show(story) {
      turns.story++;
      update({ chosen: story, pick: story.pick, story, storyNote: "" });
      void askRegret();
    },
    fetch(index) {
      const from = index - (index % PAGE);
      // While the list is requested again, its pages would belong to the old one.
      if (waiting || screen.viewState?.tracing.failed || requested.has(from)) return;
      requested.add(from);
      void askList(from);
    },
    again() {
      [plan, scene] = ["", undefined];
      follow();
    },
  };
};
