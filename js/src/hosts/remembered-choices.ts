// What was decided for each document, kept small, so that a reload shows the same plan.
import { CHOICES, type ChangedTraits } from "./host";

/** The storage: one value, read once and written whole. */
export interface Store {
  fetch(): Promise<unknown>;
  save(value: Record<string, ChangedTraits>): Promise<unknown>;
}

const MOST = 30;
// Choices of one sitting are not stored: the replay, its scenario, and the selected block.
const SITTING: readonly string[] = ["replay", "scenario", "block"];
const REMEMBERED = CHOICES.filter(name => !SITTING.includes(name));

export class Memory {
  private byDocument = new Map<string, ChangedTraits>();
  private reading: Promise<boolean> | undefined;

  constructor(private readonly store: Store) {}

  /** What was decided for a document the last time, {} for nothing. */
  async recall(document: string): Promise<ChangedTraits> {
    await this.load();
    return this.byDocument.get(document) ?? {};
  }

  /** Keeps the choices of a document; those not used for longest are forgotten. */
  async keep(document: string, traits: ChangedTraits): Promise<void> {
    const isRead = await this.load();
    const { byDocument } = this;
    byDocument.delete(document);
    byDocument.set(document, pick(traits));
    for (const name of [...byDocument.keys()].slice(0, -MOST)) byDocument.delete(name);
    // A value that could not be read must not be overwritten.
    if (isRead) await this.store.save(Object.fromEntries(byDocument));
  }

  /** False if the store could not be read; the next call tries again. */
  private load(): Promise<boolean> {
    this.reading ??= this.store.fetch().then(
      value => {
        this.byDocument = new Map([...read(value), ...this.byDocument]);
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

const read = (value: unknown): Map<string, ChangedTraits> => {
  const documents = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return new Map(documents.filter(([, traits]) => typeof traits === "object" && traits !== null));
};

const pick = (traits: ChangedTraits): ChangedTraits =>
  Object.fromEntries(REMEMBERED.filter(name => traits[name] !== undefined).map(name => [name, traits[name]]));
