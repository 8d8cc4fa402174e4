// How it stands with the replay: whether the host can make one, whether it was asked for, and which question it answers.

import { decodeRun, type Run } from "../model/run-decode";
import type { Choices, Host } from "../payloads/host";
import type { Sync } from "./send";

/** "none" where the host cannot replay, "waiting" while the run in hand answers another question. */
export type Replay = "none" | "off" | "waiting" | "on";

/** Without a kernel there is only what was replayed before. */
export const hasReplay = ({ replay, needsKernel }: { replay: Replay; needsKernel: string }): boolean =>
  replay !== "none" && (needsKernel === "" || replay === "on");

export class Life {
  run: Run | null = null;
  private asked = 0;
  private answered = "";
  private failed = false;

  constructor(
    private readonly host: Host,
    private readonly sync: Sync,
  ) {}

  get replay(): Replay {
    const asked = this.host.get("replay");
    if (asked === undefined) return "none";
    if (!asked) return "off";
    if (this.run !== null && this.answered === this.question) return "on";
    return this.failed ? "off" : "waiting";
  }

  /** After a change went out. */
  follow(choices: Partial<Choices>): void {
    if (!("policy" in choices || "settings" in choices || "scenario" in choices || choices.replay)) return;
    this.asked = this.sync.seq;
    this.failed = false;
  }

  receive(): void {
    const { host } = this;
    this.run = decodeRun(host.get("_run"), host.get("_run_data") ?? null);
    this.failed = false;
    if (this.run === null) return;
    const { seq, policy, scenario } = this.run;
    // A run with the number 0 does not say what it answers; it is taken for the answer to what is asked.
    const wanted = host.get("policy");
    // What the file records is no policy for a whole session: another stands for it.
    const isOfPolicy = policy === wanted || wanted === "auto" || wanted === "recorded";
    const happens = host.get("scenario") ?? scenario.values;
    const isIt = isOfPolicy && JSON.stringify(happens) === JSON.stringify(scenario.values);
    if ((seq === 0 || seq >= this.asked) && isIt) this.answered = this.question;
  }

  /** What was asked did not come about. */
  fail(): void {
    this.asked = 0;
    this.failed = true;
  }

  /** A run belongs to a policy, its settings and a scenario; where the cut stands is nothing to it. */
  private get question(): string {
    const settings = Object.entries(this.host.get("settings") ?? {});
    const asked = [this.host.get("policy"), this.host.get("scenario")];
    return JSON.stringify([...asked, settings.sort(([a], [b]) => (a < b ? -1 : 1))]);
  }
}
