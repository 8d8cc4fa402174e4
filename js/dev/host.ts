// A host without Jupyter: traits in memory, answers from the invented kernel after a delay.
import type { Host, Traits } from "../src/payloads/host";
import type { Kernel } from "./kernel";

type Listener = (message: unknown) => void;

export class MemoryHost implements Host {
  readonly listeners = new Map<string, Set<Listener>>();
  readonly sent: unknown[] = [];
  saves = 0;

  /** `delay` in milliseconds, or null for a Python that never answers. */
  constructor(
    readonly traits: Traits,
    private readonly kernel: Kernel | null,
    private readonly delay: number | null = 0,
  ) {
    if (kernel !== null) kernel.hear = news => this.receive(news);
  }

  get<K extends keyof Traits>(name: K): Traits[K] {
    return this.traits[name];
  }

  set<K extends keyof Traits>(name: K, value: Traits[K]): void {
    const changed = this.traits[name] !== value;
    this.traits[name] = value;
    if (changed) this.emit(`change:${name}`);
  }

  /** As a message from Python: all traits are in place before the first event. */
  receive(values: Partial<Traits>): void {
    Object.assign(this.traits, values);
    for (const name of Object.keys(values)) this.emit(`change:${name}`);
  }

  on(event: string, listener: Listener): void {
    const listeners = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, listeners.add(listener));
  }

  off(event: string, listener: Listener): void {
    this.listeners.get(event)?.delete(listener);
  }

  emit(event: string, message?: unknown): void {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(message);
  }

  save_changes(): void {
    this.saves++;
    const changes = { ...this.traits };
    const kernel = this.kernel;
    if (kernel !== null) this.later(() => this.receive(kernel.plan(changes)));
  }

  send(message: unknown): void {
    this.sent.push(message);
    const kernel = this.kernel;
    if (kernel === null) return;
    this.later(() => {
      const reply = kernel.answer(message as Parameters<Kernel["answer"]>[0]);
      if (reply !== null) this.emit("msg:custom", reply);
    });
  }

  private later(act: () => void): void {
    if (this.delay !== null) setTimeout(act, this.delay);
  }
}
