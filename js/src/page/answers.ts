// Replaces Python on an exported page: looks the answers up in the data of the page.

import type { ChangedTraits, Line, StateHost } from "../hosts/host";
import { makeCuts } from "../model/cuts";
import { TRAITS } from "../model/outcomes";
import { decodePlan, decodeScene, type Plan, type Scene } from "../model/plan";
import type { Traits, Versus } from "../payloads/host";
import type { BodyReply, FactHit, FactsReply, PlanPayload } from "../payloads/types";
import { findPlan, findSummary, layOut, type PageContent, type PageData } from "./data";
import { searchPage } from "./search";

export const NEEDS_KERNEL =
  "This page has no kernel behind it: the cut can be dragged, but rules and policies cannot be changed. Open the session in Jupyter for that.";
const UNAVAILABLE = {
  moment: "This page holds one moment of the session; other moments need a kernel.",
  policy: "The plan of this policy is not on this page; it needs a kernel.",
  rules: "Changing a rule needs a kernel; this page has none.",
  pins: "Pinning a block needs a kernel; this page has none.",
  replay: "Replaying the session needs a kernel; this page has none.",
  cut: "The cut cannot be placed here.",
  versus:
    "This comparison needs a kernel; on this page plan B is this policy at another cut, or what was recorded.",
  body: "The texts of blocks were left out of this page to keep it small.",
  summary: "The summary at this place is not on this page; it needs a kernel.",
  story: "This page has explanations for its findings only; the row of this fact shows its outcome.",
  told: "This page has this only for the cut that it was exported with; other cuts need a kernel.",
  question: "This page cannot answer that; it needs a kernel.",
};
interface Question {
  type?: string;
  id?: string;
  from?: number;
  to?: number;
  row?: number;
  place?: number;
  versus?: boolean;
  look?: string;
  pick?: string;
  number?: number;
  query?: string;
  kind?: string;
  outcome?: string;
  rowTo?: number;
}

const RECORDED_ANSWERS: readonly string[] = [
  "compactions",
  "findings",
  "story",
  "context",
  "context_facts",
  "summaries",
  "losses",
];
const LISTED: readonly string[] = ["policies", "policy_results", "regret"];

/** Facts that a search lists. */
const MOST_FACTS = 12;

class Unavailable extends Error {}

export class Answering implements Line {
  private readonly scene: Scene;
  private readonly placeOf: ReadonlyMap<string, number>;
  private granted: ChangedTraits;
  private plan: Plan;
  private columns: number;

  constructor(
    private readonly store: PageData,
    private readonly host: StateHost,
  ) {
    const { content } = store;
    const scene = decodeScene(content.scene, store.bytes(content.sceneData));
    if (scene === null) throw new Error("The page holds no session.");
    this.scene = scene;
    this.placeOf = makeCuts(scene).placeOf;
    this.granted = { ...content.wanted, replay: content.run !== null };
    const [wire, data] = this.find(content.wanted.cut);
    this.plan = this.decode(wire, data);
    this.columns = data;
    const compared = this.compare(content.wanted.versus);
    host.receive({
      ...this.granted,
      _scene: content.scene,
      _scene_data: store.bytes(content.sceneData),
      _plan: wire,
      _plan_data: store.bytes(data),
      _recorded: content.side?.[0] ?? {},
      _recorded_data: content.side ? store.bytes(content.side[1]) : null,
      ...compared,
      ...this.showRun(),
    });
  }

  /** Answers asynchronously, as every host does: the caller finishes first. */
  change(): void {
    queueMicrotask(() => this.host.receive(this.grant()));
  }

  ask(message: unknown): void {
    const question = message as Question;
    queueMicrotask(() => this.host.answer(this.reply(question)));
  }

  private grant(): Partial<Traits> {
    const { host, store } = this;
    const seq = host.get("_seq");
    const news: Partial<Traits> = { _error: "" };
    try {
      const changes = this.check();
      const [wire, data] = this.find(changes.cut);
      const versus = changes.versus ?? {};
      if (versus !== this.granted.versus) Object.assign(news, this.compare(versus));
      this.plan = this.decode(wire, data);
      this.columns = data;
      Object.assign(this.granted, changes);
      Object.assign(news, changes, { _plan: { ...wire, seq }, _plan_data: store.bytes(data) });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // The change failed, so all choices stay as they were.
      const [wire, data] = this.find(this.granted.cut ?? "");
      const { tab: _, block: __, ...choices } = this.granted;
      Object.assign(news, choices, { _error: error.message });
      Object.assign(news, { _plan: { ...wire, seq }, _plan_data: store.bytes(data) });
    }
    return { ...news, ...this.showRun() };
  }

  /** What is wanted, if the page holds it. */
  private check() {
    const { host, granted } = this;
    const { content } = this.store;
    const { plan, wanted, run } = content;
    if (host.get("at") !== wanted.at) throw new Unavailable(UNAVAILABLE.moment);
    if (host.get("policy") !== wanted.policy) throw new Unavailable(UNAVAILABLE.policy);
    if (!isSame(host.get("pins") ?? [], wanted.pins)) throw new Unavailable(UNAVAILABLE.pins);
    if (!isSame(host.get("settings"), plan.settings)) throw new Unavailable(UNAVAILABLE.rules);
    const [cut, replay] = [host.get("cut"), host.get("replay") ?? false];
    if (replay && run === null) throw new Unavailable(UNAVAILABLE.replay);
    const look = cut === granted.cut ? (host.get("look") ?? "plan") : "plan";
    return { cut, look, versus: host.get("versus") ?? {}, replay };
  }

  private find(cut: string): readonly [PlanPayload, number] {
    const place = this.placeOf.get(cut) ?? -1;
    const match = findPlan(this.store.content.plan, cut, place);
    if (match !== undefined && (cut === "" || this.scene.placeLegal[place] === 1)) return match;
    const reason = this.scene.reasons[this.scene.placeReason[place] ?? -1];
    throw new Unavailable(reason?.sentence ?? UNAVAILABLE.cut);
  }

  private compare(versus: Versus): Partial<Traits> {
    const { content } = this.store;
    let [wire, data]: readonly [PlanPayload | null, number] = [null, 0];
    if ("recorded" in versus) {
      if (content.recorded.plan === undefined)
        throw new Unavailable(content.recorded.sentence ?? UNAVAILABLE.versus);
      [wire, data] = content.recorded.plan;
    } else if (content.other !== null && isSame(versus, content.wanted.versus)) {
      [wire, data] = content.other;
    } else if ("policy" in versus) {
      if (!fits(versus, content)) throw new Unavailable(UNAVAILABLE.versus);
      [wire, data] = this.find(versus.cut ?? "");
      wire = { ...wire, label: content.plan.label };
    }
    if (wire) this.decode(wire, data);
    return { _other: wire ?? {}, _other_data: wire && this.store.bytes(data) };
  }

  private decode(wire: PlanPayload, data: number): Plan {
    const plan = decodePlan(wire, this.store.bytes(data), this.scene);
    if (plan === null) throw new Error("A plan on this page does not fit its session.");
    return plan;
  }

  /** The run stays at hand while it is put away, so that it can be asked for again. */
  private showRun(): Partial<Traits> {
    const { run } = this.store.content;
    if (run === null) return { _run: {}, _run_data: null };
    return { _run: run[0], _run_data: this.store.bytes(run[1]) };
  }

  private reply(question: Question): object {
    const { type, id } = question;
    try {
      return { type, id, ...this.lookUp(question) };
    } catch (error) {
      return { type: "error", id, sentence: error instanceof Error ? error.message : String(error) };
    }
  }

  private lookUp(question: Question): object {
    const { content } = this.store;
    if (question.type === "rows") {
      const rows = content.rows
        .slice(question.from, question.to)
        .map(([label, preview]) => ({ label, preview }));
      return { from: question.from, rows };
    }
    if (question.type === "body")
      return this.showBody(question.row ?? -1, question.place ?? this.plan.cut.place);
    if (question.type === "summary") {
      if (question.versus) throw new Unavailable(UNAVAILABLE.summary);
      const place = question.place ?? -1;
      const { plan } = content;
      const match = findSummary(content, plan, place);
      const isOwn = place === this.find(content.wanted.cut)[0].cut.place;
      if (match === undefined || (isOwn && this.isMoved(place))) throw new Unavailable(UNAVAILABLE.summary);
      return { text: match[0], total: match[1], facts: plan.written?.[place] ?? plan.facts };
    }
    if (question.type === "facts" && question.rowTo === undefined)
      return filterFacts(this.answerRecorded({ ...question, look: "plan", from: 0 }) as FactsReply, question);
    if (RECORDED_ANSWERS.includes(question.type ?? "")) return this.answerRecorded(question);
    if (LISTED.includes(question.type ?? "")) return this.list(question);
    if (question.type === "search")
      return searchPage(
        content,
        this.scene,
        this.host.get("at") ?? "",
        question.query ?? "",
        this.searchFacts(question.query?.trim() ?? ""),
      );
    throw new Unavailable(UNAVAILABLE.question);
  }

  /** The listed facts whose form holds the words; their outcomes are those of the cut that the page had. */
  private searchFacts(query: string): FactHit[] {
    const list = this.store.content.told["facts plan"] as FactsReply | undefined;
    if (list === undefined || query === "") return [];
    const isMoved = this.isMoved(this.plan.cut.place);
    return filterFacts(list, { query, to: MOST_FACTS }).rows.map(
      ({ number, kind, sort, form, outcome, lastTurn }) => ({
        ...{ number, kind, sort, form, turn: lastTurn },
        outcome: isMoved ? "" : TRAITS[outcome].label,
      }),
    );
  }

  /**
   * Whether a cut is another than the one that the page's answers are about. At the same place it may be another plan's:
   * a cut by hand leaves a recorded compaction for the harness's own policy, with a summary that is not written yet.
   */
  private isMoved(place?: number): boolean {
    const [own] = this.find(this.store.content.wanted.cut);
    const [shown] = this.find(this.granted.cut ?? "");
    const isSamePlan = shown.policy === own.policy && isSame(shown.summary, own.summary);
    return place !== own.cut.place || !isSamePlan;
  }

  /** The policies with all results at once; and what was needed again. */
  private list({ type, from }: Question): object {
    const listed = this.store.content.told[type ?? ""];
    if (listed === undefined) throw new Unavailable(UNAVAILABLE.question);
    return { ...listed, ...(type === "policy_results" && (from ?? 0) > 0 ? { results: [] } : {}) };
  }

  /** What was answered when the page was made; of the plan only at the cut it had then. */
  private answerRecorded({ type, look, pick, number, place, from }: Question): object {
    const { told } = this.store.content;
    const shownLook = look ?? this.host.get("look") ?? "plan";
    // The list of facts lets Python choose the row of a fact's history: here the first one that is told.
    const [name = ""] =
      type !== "story"
        ? [`${type} ${shownLook}`]
        : pick
          ? [`story ${pick} ${number}`]
          : Object.keys(told).filter(key => key.startsWith("story ") && key.endsWith(` ${number}`));
    // A history has the plan's outcome and its fixes too, whichever compaction was picked in it.
    const isPlan = name.startsWith("story plan ") || !shownLook.includes(":");
    const moved = isPlan && this.isMoved(place);
    const answer = told[name];
    if (answer === undefined && type === "story" && !moved) throw new Unavailable(UNAVAILABLE.story);
    if (answer === undefined || moved || (from ?? 0) > 0) throw new Unavailable(UNAVAILABLE.told);
    return answer;
  }

  private showBody(row: number, place: number): Omit<BodyReply, "type" | "id"> {
    const { scene, store } = this;
    const body = store.content.bodies[row];
    if (body === undefined) throw new Unavailable(UNAVAILABLE.body);
    const [text, total, facts] = body;
    const side = (scene.blockEntry[row] as number) < place ? 0 : 1;
    const after = store.content.plan.texts[this.columns]?.[side][row];
    return {
      before: { text, total },
      after: after === undefined ? null : { text: after[0], total: after[1] },
      // The block's details show its outcome in each plan themselves.
      facts,
      diff: after === undefined ? null : layOut(text, after[2]),
      // The page does not contain the text in plan B.
      other: null,
    };
  }
}

/** The facts that match, of those that the page lists; the counts are of all. */
const filterFacts = (list: FactsReply, question: Question): FactsReply => {
  const { query = "", kind = "", outcome = "", from = 0, to } = question;
  const words = query.toLowerCase();
  const rows = list.rows.filter(
    row =>
      (kind === "" || row.sort === kind) &&
      (outcome === "" || (row.outcome === outcome && row.stood && !row.judged)) &&
      row.form.toLowerCase().includes(words),
  );
  return { ...list, query, kind, outcome, total: rows.length, rows: rows.slice(from, to) };
};

/** Whether a comparison asks for the page's policy, with the page's settings and pins. */
const fits = (versus: Versus, { plan, wanted }: PageContent) =>
  "policy" in versus &&
  versus.policy === wanted.policy &&
  isSame(versus.settings ?? plan.settings, plan.settings) &&
  isSame(versus.pins ?? wanted.pins, wanted.pins);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
