// What was decided for each document, kept small, so that a reload shows the same plan.
import { CHOICES, type Wanted } from "./host";

/** Where it is kept: one value, read once and written whole. */
export interface Store {
  fetch(): Promise<unknown>;
  save(value: Record<string, Wanted>): Promise<unknown>;
}

const MOST = 30;
// What belongs to one sitting is not kept: the replay, its scenario, and the block looked at.
const SITTING: readonly string[] = ["replay", "scenario", "block"];
const KEPT = CHOICES.filter(name => !SITTING.includes(name));

export class Memory {
  private known = new Map<string, Wanted>();
  private reading: Promise<boolean> | undefined;

  constructor(private readonly store: Store) {}

  /** What was decided for a document the last time, {} for nothing. */
  async recall(document: string): Promise<Wanted> {
    await this.load();
    return this.known.get(document) ?? {};
  }

  /** Keeps the choices of a document; those not used for longest are forgotten. */
  async keep(document: string, wanted: Wanted): Promise<void> {
    const isRead = await this.load();
    const { known } = this;
    known.delete(document);
    known.set(document, pick(wanted));
    for (const name of [...known.keys()].slice(0, -MOST)) known.delete(name);
    // What could not be read must not be written over.
    if (isRead) await this.store.save(Object.fromEntries(known));
  }

  /** False where the store could not be read; it is tried again the next time. */
  private load(): Promise<boolean> {
    this.reading ??= this.store.fetch().then(
      value => {
        this.known = new Map([...read(value), ...this.known]);
        return true;
      },
      () => {
        this.reading = undefined;
        return false;
      },
    );
    return this.reading;
  }
}

const read = (value: unknown): Map<string, Wanted> => {
  const documents = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return new Map(documents.filter(([, wanted]) => typeof wanted === "object" && wanted !== null));
};

const pick = (wanted: Wanted): Wanted =>
  Object.fromEntries(KEPT.filter(name => wanted[name] !== undefined).map(name => [name, wanted[name]]));
