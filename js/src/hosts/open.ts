// An open session, independent of the transport: its host, and how to close it.
import type { ChangedTraits, StateHost } from "./host";
import { Refusal } from "./host";

/** A file below the server's root, a session file in a harness's folder, or the bundled demo session. */
export type Source = { readonly path: string } | { readonly known: string } | { readonly bundled: true };

export interface Opened {
  readonly host: StateHost;
  /** Reports whether the panel is visible. A hidden one does not follow its file. */
  watch(isVisible: boolean): void;
  dispose(): void;
}

/** `signal` cancels the opening. */
export type Open = (source: Source, inputs: ChangedTraits, signal?: AbortSignal) => Promise<Opened>;

/** Opens a session with the stored inputs, and without them if they are refused because the file has changed. */
export const openAsBefore =
  (open: Open): Open =>
  async (source, inputs, signal) => {
    try {
      return await open(source, inputs, signal);
    } catch (error) {
      if (!(error instanceof Refusal) || Object.keys(inputs).length === 0) throw error;
      return open(source, {}, signal);
    }
  };
