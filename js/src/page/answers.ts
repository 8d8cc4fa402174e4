// The page in Python's place: it takes what a person wants and looks the answer up in what the page holds.

import type { Line, StateHost, Wanted } from "../hosts/host";
import { makeCuts } from "../model/cuts";
import { decodePlan, decodeScene, fateAt, type Plan, type Scene } from "../model/plan";
import type { Settings, Traits, Versus } from "../payloads/host";
import type { BodyReply, PlanPayload } from "../payloads/types";
import { findPlan, findSummary, type HeldPlan, layOut, type Store } from "./data";
import { searchPage } from "./search";

export const NEEDS_KERNEL =
  "This page has no kernel behind it: the cut can be dragged and policies compared, but rules cannot be changed. Open the session in Jupyter for that.";
const SORRY = {
  moment: "This page holds one moment of the session; another one needs a kernel.",
  policy: "The plan of this policy is not on this page; it needs a kernel.",
  rules: "Changing a rule needs a kernel; this page has none.",
  pins: "Pinning a block needs a kernel; this page has none.",
  replay: "Living the session again needs a kernel; this page has none.",
  cut: "No cut may stand here.",
  versus: "This comparison needs a kernel; on this page plan B is another policy, or what was recorded.",
  body: "The texts of blocks were left out of this page to keep it small.",
  summary: "The summary at this place is not on this page; it needs a kernel.",
  told: "This page answers that at the cut it was made with; another one needs a kernel.",
  rulesHere: "How the rules play here, and what this cut would break, needs a kernel; this page has none.",
  lesson: "This page answers that where the step begins; “Start again” goes there.",
  question: "This page cannot answer that; it needs a kernel.",
};
const NOBODY: Record<number, string> = {
  [-1]: "nothing",
  [-2]: "a pin",
  [-3]: "the other half of its call",
  [-4]: "the model: it refuses reasoning whose prefix was edited",
  [-5]: "the harness: it sends no reasoning",
  [-6]: "the provider: no message ends with reasoning, and what it led to is gone",
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
  keys?: readonly string[];
  link?: string;
  answer?: string;
}

const TOLD: readonly string[] = ["findings", "story", "context", "summaries", "losses"];
const TAUGHT: readonly string[] = ["lessons", "lesson", "lesson_step", "lesson_check"];
const LISTED: readonly string[] = ["policies", "policy_results"];

class Sorry extends Error {}

export class Answering implements Line {
  private readonly scene: Scene;
  private readonly placeOf: ReadonlyMap<string, number>;
  private granted: Wanted;
  private plan: Plan;
  private other: Plan | null = null;
  private columns: number;

  constructor(
    private readonly store: Store,
    private readonly host: StateHost,
  ) {
    const { held } = store;
    const scene = decodeScene(held.scene, store.bytes(held.sceneData));
    if (scene === null) throw new Error("The page holds no session.");
    this.scene = scene;
    this.placeOf = makeCuts(scene).placeOf;
    this.granted = { ...held.wanted, replay: held.run !== null };
    const [wire, data] = this.find(held.wanted.policy, held.wanted.cut);
    this.plan = this.decode(wire, data);
    this.columns = data;
    const compared = this.compare(held.wanted.versus);
    host.receive({
      ...this.granted,
      _scene: held.scene,
      _scene_data: store.bytes(held.sceneData),
      _plan: wire,
      _plan_data: store.bytes(data),
      _recorded: held.side?.[0] ?? {},
      _recorded_data: held.side ? store.bytes(held.side[1]) : null,
      ...compared,
      ...this.showRun(),
    });
  }

  /** Answers a moment later, as every host does: whoever asks first finishes what it is doing. */
  change(): void {
    queueMicrotask(() => this.host.receive(this.grant()));
  }

  ask(message: unknown): void {
    const asked = message as Question;
    queueMicrotask(() => this.host.answer(this.reply(asked)));
  }

  private grant(): Partial<Traits> {
    const { host, store } = this;
    const seq = host.get("_seq");
    const news: Partial<Traits> = { _error: "" };
    try {
      const wanted = this.check();
      const [wire, data] = this.find(wanted.policy, wanted.cut);
      const versus = wanted.versus ?? {};
      if (versus !== this.granted.versus) Object.assign(news, this.compare(versus));
      this.plan = this.decode(wire, data);
      this.columns = data;
      Object.assign(this.granted, wanted);
      Object.assign(news, wanted, { _plan: { ...wire, seq }, _plan_data: store.bytes(data) });
    } catch (error) {
      if (!(error instanceof Sorry)) throw error;
      // Nothing came of it: everything stands as it was.
      const [wire, data] = this.find(this.granted.policy ?? "", this.granted.cut ?? "");
      const { tab: _, block: __, ...stands } = this.granted;
      Object.assign(news, stands, { _error: error.message });
      Object.assign(news, { _plan: { ...wire, seq }, _plan_data: store.bytes(data) });
    }
    return { ...news, ...this.showRun() };
  }

  /** What is wanted, if the page holds it. */
  private check() {
    const { host, granted } = this;
    const { held } = this.store;
    const [policy, cut, versus] = [host.get("policy"), host.get("cut"), host.get("versus") ?? {}];
    const plan = held.plans[policy];
    if (host.get("at") !== held.wanted.at) throw new Sorry(SORRY.moment);
    if (plan === undefined) throw new Sorry(SORRY.policy);
    if (!isSame(host.get("pins") ?? [], held.wanted.pins)) throw new Sorry(SORRY.pins);
    const moved = policy !== granted.policy;
    if (!moved && !isSame(host.get("settings"), plan.settings)) throw new Sorry(SORRY.rules);
    const replay = host.get("replay") ?? false;
    if (replay && !this.hasRun(policy)) {
      if (!moved) throw new Sorry(SORRY.replay);
    }
    return {
      policy,
      settings: plan.settings,
      // Another policy places its own cut, unless one was set with it.
      cut: moved && cut === granted.cut ? "" : cut,
      look: moved || cut !== granted.cut ? "plan" : (host.get("look") ?? "plan"),
      versus,
      replay: replay && this.hasRun(policy),
    };
  }

  private find(policy: string, cut: string): readonly [PlanPayload, number] {
    const plan = this.store.held.plans[policy];
    if (plan === undefined) throw new Sorry(SORRY.policy);
    const place = this.placeOf.get(cut) ?? -1;
    const found = findPlan(plan, cut, place);
    if (found !== undefined && (cut === "" || this.scene.placeLegal[place] === 1)) return found;
    const reason = this.scene.reasons[this.scene.placeReason[place] ?? -1];
    throw new Sorry(reason?.sentence ?? SORRY.cut);
  }

  private compare(versus: Versus): Partial<Traits> {
    const { held } = this.store;
    let [wire, data]: readonly [PlanPayload | null, number] = [null, 0];
    if ("recorded" in versus) {
      if (held.recorded.plan === undefined) throw new Sorry(held.recorded.sentence ?? SORRY.versus);
      [wire, data] = held.recorded.plan;
    } else if (held.other !== null && isSame(versus, held.wanted.versus)) {
      [wire, data] = held.other;
    } else if ("policy" in versus) {
      const plan = held.plans[versus.policy];
      if (plan === undefined || !fits(versus, plan, held.wanted.pins)) throw new Sorry(SORRY.versus);
      [wire, data] = this.find(versus.policy, versus.cut ?? "");
      wire = { ...wire, label: plan.label };
    }
    this.other = wire && this.decode(wire, data);
    return { _other: wire ?? {}, _other_data: wire && this.store.bytes(data) };
  }

  private decode(wire: PlanPayload, data: number): Plan {
    const plan = decodePlan(wire, this.store.bytes(data), this.scene);
    if (plan === null) throw new Error("A plan on this page does not fit its session.");
    return plan;
  }

  private hasRun = (policy: string): boolean =>
    this.store.held.run !== null && policy === this.store.held.wanted.policy;

  /** The run stays at hand while it is put away, so that it can be asked for again. */
  private showRun(): Partial<Traits> {
    const { run } = this.store.held;
    if (run === null || !this.hasRun(this.granted.policy ?? "")) return { _run: {}, _run_data: null };
    return { _run: run[0], _run_data: this.store.bytes(run[1]) };
  }

  private reply(asked: Question): object {
    const { type, id } = asked;
    try {
      return { type, id, ...this.lookUp(asked) };
    } catch (error) {
      return { type: "error", id, sentence: error instanceof Error ? error.message : String(error) };
    }
  }

  private lookUp(asked: Question): object {
    const { held } = this.store;
    if (asked.type === "rows") {
      const rows = held.rows.slice(asked.from, asked.to).map(([label, preview]) => ({ label, preview }));
      return { from: asked.from, rows };
    }
    if (asked.type === "body") return this.showBody(asked.row ?? -1, asked.place ?? this.plan.cut.place);
    if (asked.type === "summary") {
      if (asked.versus) throw new Sorry(SORRY.summary);
      const place = asked.place ?? -1;
      const plan = held.plans[this.plan.policy] ?? held.plans[this.granted.policy ?? ""];
      const found = plan && findSummary(held, plan, place);
      if (plan === undefined || found === undefined) throw new Sorry(SORRY.summary);
      return { place, text: found[0], total: found[1], facts: plan.written?.[place] ?? plan.facts };
    }
    if (TOLD.includes(asked.type ?? "")) return this.tell(asked);
    if (TAUGHT.includes(asked.type ?? "")) return this.teach(asked);
    if (LISTED.includes(asked.type ?? "")) return this.list(asked);
    if (asked.type === "search")
      return searchPage(held, this.scene, this.host.get("at") ?? "", asked.query ?? "", asked.keys ?? []);
    throw new Sorry(SORRY.question);
  }

  /** A step of a lesson, what is said to an attempt at it, and how rules play, as far as the page holds them. */
  private teach({ type, link = "", place = -1, answer = "" }: Question): object {
    const { lessons } = this.store.held;
    const policy = this.granted.policy ?? "";
    if (!lessons) throw new Sorry(SORRY.rulesHere);
    if (type === "lessons") return lessons.lessons;
    if (type === "lesson") {
      const played = lessons.played[policy];
      const found = lessons.refused[place] ?? (played?.place === place ? played : undefined);
      if (found === undefined) throw new Sorry(SORRY.rulesHere);
      return found;
    }
    const step = lessons.steps[link];
    if (step === undefined) throw new Sorry(SORRY.question);
    if (type === "lesson_step") return step;
    const check = lessons.checks[link];
    const verdict = check?.by["*"]?.[answer]?.["*"] ?? check?.by[policy]?.[answer]?.[place];
    if (check === undefined || verdict === undefined) throw new Sorry(SORRY.lesson);
    return check.verdicts[verdict] as object;
  }

  /** The policies whose plans are on the page; what each leaves comes all at once. */
  private list({ type, from }: Question): object {
    const listed = this.store.held.told[type ?? ""];
    if (listed === undefined) throw new Sorry(SORRY.question);
    return { ...listed, ...(type === "policy_results" && (from ?? 0) > 0 ? { results: [] } : {}) };
  }

  /** What was answered when the page was made; of the plan only at the cut it had then. */
  private tell({ type, look, pick, number, place, from }: Question): object {
    const { told, wanted } = this.store.held;
    const seen = look ?? this.host.get("look") ?? "plan";
    const isPlan = type === "story" ? pick === "plan" : !seen.includes(":");
    const own = this.find(wanted.policy, wanted.cut)[0].cut.place;
    const moved = place !== own || this.granted.policy !== wanted.policy;
    const found = told[type === "story" ? `story ${pick} ${number}` : `${type} ${seen}`];
    if (found === undefined || (isPlan && moved) || (from ?? 0) > 0) throw new Sorry(SORRY.told);
    return found;
  }

  private showBody(row: number, place: number): Omit<BodyReply, "type" | "id"> {
    const { scene, plan, other, store } = this;
    const body = store.held.bodies[row];
    if (body === undefined) throw new Sorry(SORRY.body);
    const [text, total, told] = body;
    const side = (scene.blockEntry[row] as number) < place ? 0 : 1;
    const after = store.held.plans[this.granted.policy ?? ""]?.texts[this.columns]?.[side][row];
    const { fate, tokens, by } = tellFate(scene, plan, row, place);
    const facts = told.flatMap<[string, string]>(([name, value]) => {
      if (name === "tokens before")
        return [
          [name, value],
          ["tokens after", tokens.toLocaleString("en")],
        ];
      if (name === "counted by")
        return [
          [name, value],
          ["fate", fate],
          ["decided by", by],
        ];
      return [[name, value]];
    });
    return {
      row,
      before: { text, total },
      after: after === undefined ? null : { text: after[0], total: after[1] },
      facts,
      diff: after === undefined ? null : layOut(text, after[2]),
      other: other && tellOther(scene, other, row),
    };
  }
}

const tellFate = (scene: Scene, plan: Plan, row: number, place: number) => {
  const { fate, tokens, rule } = fateAt(scene, plan, row, place);
  const by = plan.rules[rule]?.kind ?? NOBODY[rule] ?? "nothing";
  return { fate: scene.fates[fate]?.label ?? "", tokens, by };
};

const tellOther = (scene: Scene, plan: Plan, row: number) => {
  const { fate, tokens, rule } = fateAt(scene, plan, row, plan.cut.place);
  const title = plan.rules[rule]?.title;
  const nobody = plan.untold && fate !== 0 ? "the compaction in the file" : (NOBODY[rule] ?? "nothing");
  const by = title === undefined ? nobody : `rule ${rule + 1}, ${title}`;
  // What then stands in its place is on no page.
  return { fate: scene.fates[fate]?.label ?? "", tokens, by, after: null, diff: null };
};

/** Whether a comparison asks for nothing but a policy of the page and a cut. */
const fits = (
  versus: { settings?: Settings; pins?: readonly string[] },
  plan: HeldPlan,
  pins: readonly string[],
) =>
  isSame(versus.settings ?? plan.settings, plan.settings) &&
  (versus.pins === undefined || isSame(versus.pins, pins));

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
