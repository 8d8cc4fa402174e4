// A session that was opened, by whatever way: its host, and how to let go of it.
import type { StateHost, Wanted } from "./host";
import { Refusal } from "./host";

/** A file below the server's root, one of a place where a harness keeps its sessions, or the one that comes along. */
export type Source = { readonly path: string } | { readonly known: string } | { readonly bundled: true };

export interface Opened {
  readonly host: StateHost;
  /** Whether anybody looks: what nobody sees need not follow its file. */
  watch(seen: boolean): void;
  dispose(): void;
}

/** `signal` cancels the opening. */
export type Open = (source: Source, wanted: Wanted, signal?: AbortSignal) => Promise<Opened>;

/** What was decided last time may not fit the file any more; then it opens as if for the first time. */
export const openAsBefore =
  (open: Open): Open =>
  async (source, wanted, signal) => {
    try {
      return await open(source, wanted, signal);
    } catch (error) {
      if (!(error instanceof Refusal) || Object.keys(wanted).length === 0) throw error;
      return open(source, {}, signal);
    }
  };
