// State of the replay: whether the host can make one, whether it was requested, and which request it answers.

import { decodeRun, type Run } from "../model/run-decode";
import type { Choices, Host } from "../payloads/host";

/** "none" if the host cannot replay, "waiting" while the present run answers another request. */
export type Replay = "none" | "off" | "waiting" | "on";

/** Without a kernel there is only what was replayed before. */
export const hasReplay = ({ replay, needsKernel }: { replay: Replay; needsKernel: string }): boolean =>
  replay !== "none" && (needsKernel === "" || replay === "on");

export class ReplayState {
  run: Run | null = null;
  private answered = "";
  private failed = false;

  constructor(private readonly host: Host) {}

  get replay(): Replay {
    const isAsked = this.host.get("replay");
    if (isAsked === undefined) return "none";
    if (!isAsked) return "off";
    if (this.run !== null && this.answered === this.question) return "on";
    return this.failed ? "off" : "waiting";
  }

  /** After a change went out. */
  follow(choices: Partial<Choices>): void {
    if ("policy" in choices || "settings" in choices || "scenario" in choices || choices.replay)
      this.failed = false;
  }

  receive(): void {
    const { host } = this;
    this.run = decodeRun(host.get("_run"), host.get("_run_data") ?? null);
    this.failed = false;
    if (this.run === null) return;
    const { policy, scenario } = this.run;
    const policyAsked = host.get("policy");
    // The recorded compaction is not a policy for a whole session: another policy replaces it.
    const isOfPolicy = policy === policyAsked || policyAsked === "auto" || policyAsked === "recorded";
    const happens = host.get("scenario") ?? scenario.values;
    const isIt = isOfPolicy && JSON.stringify(happens) === JSON.stringify(scenario.values);
    if (isIt) this.answered = this.question;
  }

  /** What was asked did not come about. */
  fail(): void {
    this.failed = true;
  }

  /** A run depends on the policy, its settings and a scenario, but not on the cut. */
  private get question(): string {
    const settings = Object.entries(this.host.get("settings") ?? {});
    const parts = [this.host.get("policy"), this.host.get("scenario")];
    return JSON.stringify([...parts, settings.sort(([a], [b]) => (a < b ? -1 : 1))]);
  }
}
