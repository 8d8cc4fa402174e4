// A host without Jupyter: traits in memory, and answers of a Python that a test invents.
import type { Host, Traits } from "../src/payloads/host";

/** What a test has in Python's place. */
export interface Kernel {
  readonly traits: Traits;
  plan(traits: Traits): Partial<Traits>;
  answer(message: object): object | null;
  /** Hears of traits that Python hands over by itself. */
  hear: (traits: Partial<Traits>) => void;
}

type Listener = (message: unknown) => void;

export class MemoryHost implements Host {
  readonly listeners = new Map<string, Set<Listener>>();
  readonly sent: unknown[] = [];
  saves = 0;

  /** Without a kernel, Python never answers. */
  constructor(
    readonly traits: Traits,
    private readonly kernel: Kernel | null = null,
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
    const { kernel } = this;
    const changes = { ...this.traits };
    if (kernel !== null) setTimeout(() => this.receive(kernel.plan(changes)));
  }

  send(message: unknown): void {
    this.sent.push(message);
    const { kernel } = this;
    if (kernel === null) return;
    setTimeout(() => {
      const reply = kernel.answer(message as object);
      if (reply !== null) this.emit("msg:custom", reply);
    });
  }
}
