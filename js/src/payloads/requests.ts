// Questions to Python that have one answer each: labels of rows, the text of a block, the summary at a place.
import type { Choices, Host } from "./host";
import type { FactName, PlansReply, SaveReply, Writer, WritingReply } from "./replies";
import type { Replies as Payloads } from "./types";

/** The choices that a saved plan comes to, and a sentence for whoever opened it. */
export interface OpenPlanReply {
  choices: Partial<Choices>;
  sentence: string;
}

/** What each question is answered with. */
export interface Replies extends Payloads {
  save: SaveReply;
  plans: PlansReply;
  open_plan: OpenPlanReply;
  summarise: WritingReply;
  writing: WritingReply;
  unsummarise: WritingReply;
  /** The tabs that come after the first picture, as a module. */
  code: { code: string };
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
  /** With `keys`, what each key says of itself, the reply has all groups of the list. */
  search: { query: string; keys?: readonly string[] };
  /** The text of a settings.json. */
  settings_file: { name: string; text: string };
  plans: object;
  open_plan: { name: string };
  /** `at` is the last entry that a reopened session holds; "" for that of the moment on the screen. */
  preview_file: { kind: "compacted" | "reopened"; at: string };
  /** By the name that was shown. */
  write_file: { name: string };
  lesson: { place: number };
  lessons: object;
  lesson_step: { link: string };
  /** With the cut at `place`, legal or not, -1 for where the plan has it; `answer` is the choice taken. */
  lesson_check: { link: string; place: number; answer: string };
  facts: { place: number; query: string; kind: string; outcome: string; from: number; to: number };
  /** Those of the recorded compaction after the moment, or with "plan" of the plan. */
  context: { place: number; from: number; to: number; most?: number };
  summaries: { place: number };
  findings: { place: number; look: string };
  /** `pick` names the row of what became of it that is told; "" lets Python choose. */
  story: FactName & { place: number; pick: string };
  regret: object;
  grounding: { row: number };
  losses: { place: number };
  rules: object;
  policies: object;
  /** Of the list of policies, from one up to but not including another. */
  policy_results: { from: number; to: number };
  review: object;
  export: { keep: readonly string[] };
  save: object;
  sending: Wanted;
  /** `digest` is that of the last look; `text` the person's own. */
  summarise: Wanted & { digest: string; text: string };
  writing: { from: number };
  unsummarise: object;
  code: object;
}

/** Which summary is wanted; `keep` are the names of secrets to leave in. */
interface Wanted {
  by: Writer;
  model: string;
  focus: string;
  /** What context providers add to the request. */
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

const PATIENCE = 15_000;
/** Every text is looked through, and every cut planned. */
const [LOOKING, PLANNING] = [120_000, 300_000];
const LONG = {
  facts: LOOKING,
  findings: LOOKING,
  story: LOOKING,
  summaries: LOOKING,
  regret: LOOKING,
  grounding: LOOKING,
  losses: LOOKING,
  lesson_step: LOOKING,
  lesson_check: LOOKING,
  rules: LOOKING,
  policy_results: LOOKING,
  open_plan: LOOKING,
  save: LOOKING,
  preview_file: LOOKING,
  write_file: LOOKING,
  review: LOOKING,
  export: PLANNING,
  sending: LOOKING,
  summarise: LOOKING,
} as const;
const SILENCE = "Python has not answered. The kernel may be busy or gone; run the cell again if it is.";

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
    const patience = (LONG as Partial<Record<string, number>>)[type] ?? PATIENCE;
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
    const asked = this.settle(message.id);
    if (message.type === "error") asked?.reject(new Error(message.sentence));
    else asked?.resolve(message);
  };

  private settle(id: string): Waiting | undefined {
    const asked = this.waiting.get(id);
    if (asked !== undefined) clearTimeout(asked.timer);
    this.waiting.delete(id);
    return asked;
  }
}

const isReply = (message: unknown): message is ErrorReply | Answer =>
  typeof message === "object" && message !== null && "id" in message && "type" in message;
