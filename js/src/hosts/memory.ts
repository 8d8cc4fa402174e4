// What was decided for each document, kept small, so that a reload shows the same plan.
import { CHOICES, type Wanted } from "./state";

/** Where it is kept: one value, read once and written whole. */
export interface Store {
  fetch(): Promise<unknown>;
  save(value: Record<string, Wanted>): Promise<unknown>;
}

const MOST = 30;
// What belongs to one sitting is not kept: the replay, and the block looked at.
const KEPT = CHOICES.filter(name => name !== "replay" && name !== "block");

export class Memory {
  private known: Promise<Map<string, Wanted>> | undefined;

  constructor(private readonly store: Store) {}

  /** What was decided for a document the last time, {} for nothing. */
  async recall(document: string): Promise<Wanted> {
    return (await this.load()).get(document) ?? {};
  }

  /** Keeps the choices of a document; those not used for longest are forgotten. */
  async keep(document: string, wanted: Wanted): Promise<void> {
    const known = await this.load();
    known.delete(document);
    known.set(document, pick(wanted));
    for (const name of [...known.keys()].slice(0, -MOST)) known.delete(name);
    await this.store.save(Object.fromEntries(known));
  }

  private load(): Promise<Map<string, Wanted>> {
    this.known ??= this.store.fetch().then(read, () => new Map());
    return this.known;
  }
}

const read = (value: unknown): Map<string, Wanted> => {
  const documents = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return new Map(documents.filter(([, wanted]) => typeof wanted === "object" && wanted !== null));
};

const pick = (wanted: Wanted): Wanted =>
  Object.fromEntries(KEPT.filter(name => wanted[name] !== undefined).map(name => [name, wanted[name]]));
