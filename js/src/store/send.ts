// The way to Python: every change raises `_seq`, a dragged cut goes out at most ten times a second, and an answer
// to an older question is stale. Nothing here waits.
import type { Choices, Host } from "../payloads/host";

const PAUSE = 100;

export class Sync {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sliding: string | undefined;
  private lastSent = Number.NEGATIVE_INFINITY;
  private ours = false;

  constructor(private readonly host: Host) {}

  /** True while the host tells us of our own change. */
  get isOurs(): boolean {
    return this.ours;
  }

  /** The question that the screen waits for. */
  get seq(): number {
    return this.host.get("_seq") ?? 0;
  }

  isStale(seq: number): boolean {
    return seq < this.seq || this.sliding !== undefined;
  }

  change(choices: Partial<Choices>): void {
    this.cancel();
    this.send(choices);
  }

  /** The cut under a moving hand: sent now if the last was long enough ago, else when it will be. */
  slide(cut: string): void {
    this.sliding = cut;
    const wait = this.lastSent + PAUSE - performance.now();
    if (wait <= 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), wait);
  }

  dispose(): void {
    this.cancel();
  }

  private flush(): void {
    const cut = this.sliding;
    this.cancel();
    if (cut !== undefined) this.send({ cut });
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sliding = undefined;
  }

  private send(choices: Partial<Choices>): void {
    const { host } = this;
    this.ours = true;
    try {
      if (choices.cut !== undefined) host.set("cut", choices.cut);
      if (choices.policy !== undefined) host.set("policy", choices.policy);
      if (choices.settings !== undefined) host.set("settings", choices.settings);
      if (choices.at !== undefined) host.set("at", choices.at);
      if (choices.pins !== undefined) host.set("pins", choices.pins);
      if (choices.replay !== undefined) host.set("replay", choices.replay);
      if (choices.scenario !== undefined) host.set("scenario", choices.scenario);
      if (choices.versus !== undefined) host.set("versus", choices.versus);
      if (choices.look !== undefined) host.set("look", choices.look);
      host.set("_seq", this.seq + 1);
    } finally {
      this.ours = false;
    }
    this.lastSent = performance.now();
    host.save_changes();
  }
}
