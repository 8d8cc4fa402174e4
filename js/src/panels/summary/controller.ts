// Asks Python to write the plan's summary: the preview of the request, then the writing, polled until it ends.

import { namePlan } from "../../model/plan";
import type { Writer, WritingReply } from "../../payloads/replies";
import type { Requests } from "../../payloads/requests";
import type { SendingReply } from "../../payloads/types";
import type { ViewState } from "../../store/view";

/** Between an answer and the next look, in milliseconds. */
const PAUSE = 250;
/** The number of characters fetched at once. */
const PAGE = 20_000;
const GONE =
  "The summary is no longer being written: the kernel was restarted, or the writing was stopped in another view. Nothing was saved.";

export interface SummaryFields {
  by: Writer;
  model: string;
  focus: string;
  /** Text that context providers add to the request. */
  additions: string;
  keep: readonly string[];
  /** The person's own. */
  own: string;
}

/** `stop` sends the wish to stop; `changed` hears of every news, `found` of a writing that was under way before. */
export const makeSummaryForm = (
  requests: Requests,
  stop: () => void,
  changed: () => void,
  resumed: () => void,
) => {
  const fields: SummaryFields = { by: "extractive", model: "", focus: "", additions: "", keep: [], own: "" };
  let look = { reply: null as SendingReply | null, waiting: false, problem: "" };
  let writing: WritingReply | null = null;
  let [text, problem, waiting] = ["", "", false];
  let received = 0;
  let [plan, epoch, still] = ["", 0, false];
  let [scene, planned] = [undefined as object | undefined, undefined as object | undefined];
  /** The plan and fields of the preview; the plan that the writing was last requested for. */
  let lookedAt = { plan: "", fields: "" };
  let [planAsked, begun] = ["", false];
  let [looks, turns] = [0, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const request = () => {
    const { by, model, focus, additions, keep } = fields;
    // Python names a model as soon as it is asked; without a model that is no change.
    return { by, model: by === "model" ? model : "", focus, additions, keep };
  };
  const requestKey = () => JSON.stringify(request());

  const ask = async () => {
    const turn = ++looks;
    const was = request();
    lookedAt = { plan, fields: requestKey() };
    look = { ...look, waiting: true, problem: "" };
    changed();
    try {
      const reply = await requests.ask("sending", was);
      if (turn === looks) {
        look = { reply, waiting: false, problem: "" };
        // What is no longer in the text cannot be left in.
        if (fields.keep === was.keep) fields.keep = reply.kept;
        lookedAt.fields = JSON.stringify({ ...was, keep: reply.kept });
      }
    } catch (error) {
      if (turn === looks) look = { reply: null, waiting: false, problem: (error as Error).message };
    }
    if (turn === looks) changed();
  };

  /** Looks at the writing; what was asked of it before is of no matter any more. */
  const follow = async (from: number, before?: WritingReply["state"]) => {
    await settle(requests.ask("writing", { from }), from, before);
  };

  const settle = async (answer: Promise<WritingReply>, from = 0, before?: WritingReply["state"]) => {
    clearTimeout(timer);
    const turn = ++turns;
    try {
      const reply = await answer;
      if (turn !== turns) return;
      take(reply, from, before);
    } catch (error) {
      if (turn !== turns) return;
      [problem, waiting] = [(error as Error).message, false];
    }
    changed();
  };

  const take = (reply: WritingReply, from: number, before?: WritingReply["state"]) => {
    const again =
      from > 0 && (reply.from !== received || reply.total < received || reply.tries !== writing?.tries);
    writing = reply;
    const { state } = reply;
    [problem, waiting] = [before === "writing" && state === "none" ? GONE : "", false];
    // Its beginning is another one by now.
    if (again) return void follow(0, before);
    text = from === 0 ? reply.text : text + reply.text;
    received = Math.min(from + PAGE, reply.total);
    if (state === "writing") timer = setTimeout(() => follow(received < PAGE ? 0 : received, state), PAUSE);
    // Two parts that were written side by side have both grown.
    else if (before === "writing" && from > 0) void follow(0);
    else if (received < reply.total) void follow(received);
  };

  return {
    fields,
    get look() {
      return look;
    },
    get writing() {
      return writing;
    },
    /** As much of the summary's text as is here. */
    get text() {
      return text;
    },
    /** Why nothing came of the last thing asked for, "" where something did. */
    get problem() {
      return problem;
    },
    /** Asked to begin or to stop, and not heard of yet. */
    get waiting() {
      return waiting;
    },
    change(news: Partial<SummaryFields>) {
      Object.assign(fields, news);
      if (news.by !== undefined) {
        looks++;
        lookedAt = { plan: "", fields: "" };
        [look, problem] = [{ reply: null, waiting: false, problem: "" }, ""];
      }
      if (news.by === "extractive") void ask();
      changed();
    },
    /** Asks what would be sent. */
    ask,
    /** What was looked at is what is wanted of the plan on the screen: "" then, else why not. */
    stale: (): "" | "plan" | "fields" =>
      lookedAt.plan !== plan || !still ? "plan" : lookedAt.fields === requestKey() ? "" : "fields",
    write() {
      waiting = true;
      const sent = { ...request(), digest: look.reply?.digest ?? "" };
      void settle(requests.ask("summarise", { ...sent, text: fields.by === "pasted" ? fields.own : "" }));
      changed();
    },
    stop() {
      waiting = true;
      stop();
      changed();
    },
    forget() {
      waiting = true;
      void settle(requests.ask("unsummarise", {}));
      changed();
    },
    /** Asks for the state again after an error. */
    again: () => void follow(0),
    /** Takes over what is on the screen; asks what has to be known of it while the panel is open. */
    follow(viewState: ViewState) {
      const { plan: shown, settled, dragging, place, tab, needsKernel } = viewState;
      if (needsKernel !== "") return;
      if (viewState.scene !== scene || shown !== planned) {
        epoch += viewState.scene === scene ? 0 : 1;
        plan = `${epoch} ${shown.cut.id} ${namePlan(shown)}`;
        [scene, planned] = [viewState.scene, shown];
      }
      still = settled && !dragging && place === shown.cut.place;
      if (!begun) void follow(0).then(() => writing?.state === "writing" && resumed());
      begun = true;
      if (tab !== "summary" || !still) return;
      // Who wrote it may be another, and the plan it was written for too.
      const now = `${plan} ${JSON.stringify(shown.summary ?? null)}`;
      if (now !== planAsked && (writing?.state !== "writing" || problem !== ""))
        void follow(0, writing?.state);
      planAsked = now;
      if (fields.by === "extractive" && (lookedAt.plan !== plan || lookedAt.fields !== requestKey()))
        void ask();
    },
    dispose() {
      clearTimeout(timer);
      looks++;
      turns++;
    },
  };
};

export type SummaryForm = ReturnType<typeof makeSummaryForm>;
