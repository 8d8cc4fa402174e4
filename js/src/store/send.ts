// Sends choices to Python: every change raises `_seq`, a dragged cut is sent at most ten times per second, and an answer
// to an older question is stale. Nothing here waits.
import type { Choices, Host } from "../payloads/host";

const PAUSE = 100;
const CHOICES = [
  ...(["cut", "since", "policy", "settings", "at", "pins", "replay", "scenario", "versus", "look"] as const),
];

export class Sync {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sliding: Partial<Choices> | undefined;
  private lastSent = Number.NEGATIVE_INFINITY;
  private ours = false;

  constructor(private readonly host: Host) {}

  /** True while the host reports our own change. */
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

  /** The ends under a moving hand: sent now if the last were long enough ago, else when they will be. */
  slide(choices: Partial<Choices>): void {
    this.sliding = choices;
    const wait = this.lastSent + PAUSE - performance.now();
    if (wait <= 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), wait);
  }

  dispose(): void {
    this.cancel();
  }

  private flush(): void {
    const choices = this.sliding;
    this.cancel();
    if (choices !== undefined) this.send(choices);
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
      for (const name of CHOICES) if (choices[name] !== undefined) host.set(name, choices[name]);
      host.set("_seq", this.seq + 1);
    } finally {
      this.ours = false;
    }
    this.lastSent = performance.now();
    host.save_changes();
  }
}
