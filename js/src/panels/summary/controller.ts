// Asking Python to write the plan's summary: what would be sent, then the writing itself, looked at until it is over.

import type { Plan } from "../../model/plan";
import type { Writer, WritingReply } from "../../payloads/replies";
import type { Requests } from "../../payloads/requests";
import type { SendingReply } from "../../payloads/types";
import type { Picture } from "../../store/view";

/** Between an answer and the next look, in milliseconds. */
const PAUSE = 250;
/** So many characters come at once. */
const PAGE = 20_000;
const GONE =
  "It is not written any more: Python was started anew, or it was given up in another view. Nothing of it was kept.";

export interface Wish {
  by: Writer;
  model: string;
  focus: string;
  /** What context providers add to the request. */
  additions: string;
  keep: readonly string[];
  /** The person's own. */
  text: string;
}

export interface Look {
  reply: SendingReply | null;
  waiting: boolean;
  problem: string;
}

export interface Scribe {
  readonly wish: Wish;
  readonly look: Look;
  readonly writing: WritingReply | null;
  /** As much of the summary's text as is here. */
  readonly text: string;
  /** Why nothing came of the last thing asked for, "" where something did. */
  readonly problem: string;
  /** Asked to begin or to stop, and not heard of yet. */
  readonly waiting: boolean;
  change(wish: Partial<Wish>): void;
  /** Asks what would be sent. */
  ask(): void;
  /** What was looked at is what is wanted of the plan on the screen: "" then, else why not. */
  stale(): "" | "plan" | "wish";
  write(): void;
  stop(): void;
  forget(): void;
  /** Asks how it stands, where nobody has said since the last mishap. */
  again(): void;
  /** Takes over what is on the screen; asks what has to be known of it while the panel is open. */
  follow(picture: Picture): void;
  dispose(): void;
}

/** `stop` sends the wish to stop; `changed` hears of every news, `found` of a writing that was under way before. */
export const makeScribe = (
  requests: Requests,
  stop: () => void,
  changed: () => void,
  found: () => void,
): Scribe => {
  const wish: Wish = { by: "extractive", model: "", focus: "", additions: "", keep: [], text: "" };
  let look: Look = { reply: null, waiting: false, problem: "" };
  let writing: WritingReply | null = null;
  let [text, problem, waiting] = ["", "", false];
  let held = 0;
  let [plan, epoch, still] = ["", 0, false];
  let [scene, planned] = [undefined as object | undefined, undefined as object | undefined];
  /** What the look is of; what the writing was last asked about. */
  let looked = { plan: "", wish: "" };
  let [told, begun] = ["", false];
  let [looks, turns] = [0, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const asked = () => {
    const { by, model, focus, additions, keep } = wish;
    // Python names a model as soon as it is asked; whoever wants none has changed nothing by that.
    return { by, model: by === "model" ? model : "", focus, additions, keep };
  };
  const wanted = () => JSON.stringify(asked());

  const ask = async () => {
    const mine = ++looks;
    const was = asked();
    looked = { plan, wish: wanted() };
    look = { ...look, waiting: true, problem: "" };
    changed();
    try {
      const reply = await requests.ask("sending", was);
      if (mine === looks) {
        look = { reply, waiting: false, problem: "" };
        // What is no longer in the text cannot be left in.
        if (wish.keep === was.keep) wish.keep = reply.kept;
        looked.wish = JSON.stringify({ ...was, keep: reply.kept });
      }
    } catch (error) {
      if (mine === looks) look = { reply: null, waiting: false, problem: (error as Error).message };
    }
    if (mine === looks) changed();
  };

  /** Looks at the writing; what was asked of it before is of no matter any more. */
  const follow = async (from: number, before?: WritingReply["state"]) => {
    await settle(requests.ask("writing", { from }), from, before);
  };

  const settle = async (answer: Promise<WritingReply>, from = 0, before?: WritingReply["state"]) => {
    clearTimeout(timer);
    const mine = ++turns;
    try {
      const reply = await answer;
      if (mine !== turns) return;
      take(reply, from, before);
    } catch (error) {
      if (mine !== turns) return;
      [problem, waiting] = [(error as Error).message, false];
    }
    changed();
  };

  const take = (reply: WritingReply, from: number, before?: WritingReply["state"]) => {
    const again = from > 0 && (reply.from !== held || reply.total < held || reply.tries !== writing?.tries);
    writing = reply;
    const { state } = reply;
    [problem, waiting] = [before === "writing" && state === "none" ? GONE : "", false];
    // Its beginning is another one by now.
    if (again) return void follow(0, before);
    text = from === 0 ? reply.text : text + reply.text;
    held = Math.min(from + PAGE, reply.total);
    if (state === "writing") timer = setTimeout(() => follow(held < PAGE ? 0 : held, state), PAUSE);
    // Two parts that were written side by side have both grown.
    else if (before === "writing" && from > 0) void follow(0);
    else if (held < reply.total) void follow(held);
  };

  return {
    wish,
    get look() {
      return look;
    },
    get writing() {
      return writing;
    },
    get text() {
      return text;
    },
    get problem() {
      return problem;
    },
    get waiting() {
      return waiting;
    },
    change(news) {
      Object.assign(wish, news);
      if (news.by !== undefined) {
        looks++;
        looked = { plan: "", wish: "" };
        [look, problem] = [{ reply: null, waiting: false, problem: "" }, ""];
      }
      if (news.by === "extractive") void ask();
      changed();
    },
    ask,
    stale: () => (looked.plan !== plan || !still ? "plan" : looked.wish === wanted() ? "" : "wish"),
    write() {
      waiting = true;
      const sent = { ...asked(), digest: look.reply?.digest ?? "" };
      void settle(requests.ask("summarise", { ...sent, text: wish.by === "pasted" ? wish.text : "" }));
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
    again: () => void follow(0),
    follow(picture) {
      const { plan: shown, settled, dragging, place, tab, needsKernel } = picture;
      if (needsKernel !== "") return;
      if (picture.scene !== scene || shown !== planned) {
        epoch += picture.scene === scene ? 0 : 1;
        plan = `${epoch} ${namePlan(shown)}`;
        [scene, planned] = [picture.scene, shown];
      }
      still = settled && !dragging && place === shown.cut.place;
      if (!begun) void follow(0).then(() => writing?.state === "writing" && found());
      begun = true;
      if (tab !== "summary" || !still) return;
      // Who wrote it may be another, and the plan it was written for too.
      const now = `${plan} ${JSON.stringify(shown.summary ?? null)}`;
      if (now !== told && (writing?.state !== "writing" || problem !== "")) void follow(0, writing?.state);
      told = now;
      if (wish.by === "extractive" && (looked.plan !== plan || looked.wish !== wanted())) void ask();
    },
    dispose() {
      clearTimeout(timer);
      looks++;
      turns++;
    },
  };
};

/** Tells two plans of one moment apart that are to be summarised differently. What a rule comes to moves with every count. */
const namePlan = ({ policy, cut, pins, rules }: Plan): string =>
  JSON.stringify([policy, cut.id, pins, rules], (name, value) => (name === "delta" ? null : value));
