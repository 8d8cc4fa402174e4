// Questions to Python that have one answer each: labels of rows, the text of a block, the summary at a place.
import type { Choices, Host } from "./host";
import type { FactName, PlansReply, SaveReply, Writer, WritingReply } from "./replies";
import type { ContextReply, Replies as Payloads, StoryReply } from "./types";

/** The choices of a saved plan, and a sentence for the user. */
export interface OpenPlanReply {
  choices: Partial<Choices>;
  sentence: string;
}

/** The reply type of each request. */
export interface Replies extends Payloads {
  save: SaveReply;
  plans: PlansReply;
  open_plan: OpenPlanReply;
  summarise: WritingReply;
  writing: WritingReply;
  unsummarise: WritingReply;
  /** The tabs that come after the first drawing, as a module. */
  code: { code: string };
  judge: object;
}

interface ErrorReply {
  type: "error";
  id: string;
  sentence: string;
}

interface Questions {
  rows: { from: number; to: number };
  body: { row: number; place?: number };
  /** Of plan B at its own cut with `versus`. */
  summary: { place: number; versus?: boolean };
  search: { query: string };
  /** The text of a settings.json. */
  settings_file: { name: string; text: string };
  plans: object;
  open_plan: { name: string };
  /** `at` is the last entry of a reopened session; "" for the point in time on the screen. */
  preview_file: { kind: "compacted" | "reopened"; at: string };
  /** By the name that was shown. */
  write_file: { name: string };
  lesson: { place: number };
  /** With a range of rows, only the facts that a block in it states. */
  facts: {
    place: number;
    query: string;
    kind: string;
    outcome: string;
    from: number;
    to: number;
    rowFrom?: number;
    rowTo?: number;
  };
  /** Without a range, the rows that are not folded; `row` is a block to find. */
  context: {
    place: number;
    pair: ContextReply["pair"];
    row?: number;
    from?: number;
    to?: number;
    most?: number;
  };
  compactions: { place: number };
  context_facts: { place: number; pair: ContextReply["pair"] };
  summaries: { place: number };
  /** With a range of rows, what is missing or changed of the facts that a block in it states. */
  findings: { place: number; look: string; rowFrom?: number; rowTo?: number };
  /** `pick` names a row of the fact's history; "" lets Python choose. */
  story: FactName & { place: number; pick: string };
  /** The reader's judgement of the fact in the row that `pick` names. */
  judge: FactName & { place: number; pick: string; verdict: StoryReply["verdicts"][number] | "withdrawn" };
  regret: object;
  grounding: { row: number };
  losses: { place: number };
  /** Of the blocks from one row up to but not including another. */
  selection: { place: number; look: string; from: number; to: number };
  rules: object;
  policies: object;
  /** Of the list of policies, from one up to but not including another. */
  policy_results: { from: number; to: number };
  review: object;
  export: { keep: readonly string[] };
  save: object;
  sending: PendingRequest;
  /** `digest` identifies the last preview; `text` is the user's own. */
  summarise: PendingRequest & { digest: string; text: string };
  writing: { from: number };
  unsummarise: object;
  code: { part: string };
}

/** The summary to return; `keep` are the names of secrets to leave in. */
interface PendingRequest {
  by: Writer;
  model: string;
  focus: string;
  /** Text that context providers add to the request. */
  additions: string;
  keep: readonly string[];
}

/** A reply says to what question it is one. */
type Answer = { [T in keyof Replies]: { type: T; id: string } & Replies[T] }[keyof Replies];

interface Waiting {
  resolve: (reply: Replies[keyof Replies]) => void;
  reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout>;
}

/** Milliseconds. Most questions look through every text; an export plans every cut. */
const [PATIENCE, LOOKING, PLANNING] = [15_000, 120_000, 300_000];
const QUICK = new Set<keyof Questions>([
  ...(["rows", "body", "summary", "search", "settings_file", "plans", "lesson"] as const),
  ...(["context", "policies", "writing", "unsummarise", "code"] as const),
]);
const SILENCE = "The kernel has not answered: it may be busy. If it has stopped, run the cell again.";

export class Requests {
  private readonly waiting = new Map<string, Waiting>();
  // Every view of one model hears every answer, so ids must differ between views too.
  private readonly view = Math.random().toString(36).slice(2, 10);
  private count = 0;

  constructor(private readonly host: Host) {
    host.on("msg:custom", this.receive);
  }

  ask<T extends keyof Replies>(type: T, question: Questions[T]): Promise<Replies[T]> {
    const id = `${this.view}-${this.count++}`;
    const patience = QUICK.has(type) ? PATIENCE : type === "export" ? PLANNING : LOOKING;
    return new Promise<Replies[T]>((resolve, reject) => {
      const giveUp = () => this.settle(id)?.reject(new Error(this.host.silence ?? SILENCE));
      const timer = setTimeout(giveUp, patience);
      this.waiting.set(id, { resolve: reply => resolve(reply as Replies[T]), reject, timer });
      try {
        this.host.send({ type, id, ...question });
      } catch {
        // A kernel that has gone takes nothing at all.
        giveUp();
      }
    });
  }

  dispose(): void {
    this.host.off("msg:custom", this.receive);
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }

  private readonly receive = (message: unknown): void => {
    if (!isReply(message)) return;
    const pending = this.settle(message.id);
    if (message.type === "error") pending?.reject(new Error(message.sentence));
    else pending?.resolve(message);
  };

  private settle(id: string): Waiting | undefined {
    const pending = this.waiting.get(id);
    if (pending !== undefined) clearTimeout(pending.timer);
    this.waiting.delete(id);
    return pending;
  }
}

const isReply = (message: unknown): message is ErrorReply | Answer =>
  typeof message === "object" && message !== null && "id" in message && "type" in message;
