// A host that stores the traits itself. Its creator supplies the transport of changes and questions.
import type { Host, Traits } from "../payloads/host";

type Listener = (message: unknown) => void;

/** The user's choices, in the order in which they are sent. */
export const CHOICES = [
  "at",
  "policy",
  "settings",
  "cut",
  "since",
  "pins",
  "versus",
  "look",
  "replay",
  "scenario",
  "tab",
  "block",
  "dock",
] as const satisfies readonly (keyof Traits)[];

export type ChangedTraits = Partial<Pick<Traits, (typeof CHOICES)[number] | "_seq">>;

export interface Line {
  /** The choices that were changed since the last time. */
  change(changes: ChangedTraits): void;
  /** A question; its answer comes back by `answer`. */
  ask(message: unknown): void;
}

/** Why an open failed or an answer is no answer, as a sentence for the person. */
export class Refusal extends Error {}

export const blankTraits = (): Traits => ({
  cut: "",
  policy: "auto",
  settings: {},
  at: "",
  pins: [],
  replay: false,
  versus: {},
  look: "",
  tab: "",
  block: "",
  _seq: 0,
  _scene: null,
  _scene_data: null,
  _plan: null,
  _plan_data: null,
  _recorded: null,
  _recorded_data: null,
  _run: null,
  _run_data: null,
  _other: null,
  _other_data: null,
  _work: null,
  _error: "",
});

export class StateHost implements Host {
  line: Line | undefined;
  linkTo?: (ref: string) => string;
  readonly silence = "The last request is still being worked on. Try again in a moment.";
  private readonly traits = blankTraits();
  private readonly listeners = new Map<string, Set<Listener>>();
  private dirty: ChangedTraits = {};

  get<K extends keyof Traits>(name: K): Traits[K] {
    return this.traits[name];
  }

  set<K extends keyof Traits>(name: K, value: Traits[K]): void {
    const changed = this.traits[name] !== value;
    this.traits[name] = value;
    Object.assign(this.dirty, { [name]: value });
    if (changed) this.emit(`change:${name}`);
  }

  save_changes(): void {
    const changes = this.dirty;
    this.dirty = {};
    if (Object.keys(changes).length > 0) this.line?.change(changes);
  }

  send(message: unknown): void {
    this.line?.ask(message);
  }

  on(event: string, listener: Listener): void {
    const listeners = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, listeners.add(listener));
  }

  off(event: string, listener: Listener): void {
    this.listeners.get(event)?.delete(listener);
  }

  /** Takes over what Python says: everything is in place before the first event. */
  receive(values: Partial<Traits>): void {
    // A choice that is being made here and now is newer than any answer.
    const news = Object.entries(values).filter(([name]) => !(name in this.dirty));
    const changed = news.filter(([name, value]) => this.traits[name as keyof Traits] !== value);
    Object.assign(this.traits, Object.fromEntries(news));
    for (const [name] of changed) this.emit(`change:${name}`);
  }

  answer(message: unknown): void {
    this.emit("msg:custom", message);
  }

  /** All that the person has decided, to be asked again elsewhere. */
  get changes(): ChangedTraits {
    return Object.fromEntries([...CHOICES, "_seq" as const].map(name => [name, this.traits[name]]));
  }

  private emit(event: string, message?: unknown): void {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(message);
  }
}
