// The way over a kernel, where there is no server to ask: one comm for each document.
import type { Traits } from "../core/host";
import type { Opened, Source } from "./opened";
import { Outbox } from "./outbox";
import { CHOICES, Refusal, StateHost, type Wanted } from "./state";

/** A comm, open on the kernel's side too, or about to be. */
export interface Comm {
  open(data: object): void;
  send(data: object): void;
  onMessage(listener: (data: unknown, buffers: readonly DataView[]) => void): void;
  onClose(listener: () => void): void;
}

/** A kernel of its own that knows the comm's target, and how to end it. */
export interface Line {
  readonly comm: Comm;
  end(): void;
}

interface FromKernel {
  traits?: Partial<Traits>;
  data?: string[];
  reply?: unknown;
  error?: string;
}

const DEAD = "The kernel that read this session is gone. Open the session again.";
// An answer that never comes must not keep later wishes from going out.
const PATIENCE = 15_000;

/** Opens a session in a kernel. Rejects with a `Refusal`; the kernel is then ended. */
export const openComm = async (
  connect: () => Promise<Line>,
  root: string,
  source: Source,
  wanted: Wanted,
): Promise<Opened> => {
  const line = await connect();
  const desk = new CommDesk(line);
  try {
    await desk.open({ ...source, root, wanted }, wanted);
  } catch (error) {
    desk.dispose();
    throw error;
  }
  return desk;
};

class CommDesk implements Opened {
  readonly host = new StateHost();
  private readonly outbox = new Outbox<Wanted>(wanted => this.post(wanted));
  private opened: { resolve: () => void; reject: (error: Error) => void } | undefined;
  private answered: (() => void) | undefined;
  private disposed = false;

  constructor(private readonly line: Line) {
    const { comm } = line;
    comm.onMessage((data, buffers) => this.receive(data as FromKernel, buffers));
    comm.onClose(() => this.fail(DEAD));
    this.host.line = { change: wanted => this.outbox.put(wanted), ask: asked => comm.send({ ask: asked }) };
  }

  open(data: object, wanted: Wanted): Promise<void> {
    this.host.receive(wanted);
    return new Promise((resolve, reject) => {
      this.opened = { resolve, reject };
      this.line.comm.open(data);
    });
  }

  /** A kernel follows no file, so it does not matter whether anybody looks. */
  watch(): void {}

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.host.line = undefined;
    this.answered?.();
    this.line.end();
  }

  private post(wanted: Wanted): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, PATIENCE);
      this.answered = () => {
        clearTimeout(timer);
        resolve();
      };
      try {
        this.line.comm.send({ wanted });
      } catch {
        // A kernel that has gone takes nothing at all.
        this.fail(DEAD);
      }
    });
  }

  private receive(message: FromKernel, buffers: readonly DataView[]): void {
    if (this.disposed) return;
    if (message.reply !== undefined) this.host.answer(message.reply);
    if (message.error !== undefined) this.fail(message.error);
    if (message.traits === undefined) return;
    const columns = (message.data ?? []).map((name, i) => [name, buffers[i] ?? null]);
    const traits = Object.entries({ ...message.traits, ...Object.fromEntries(columns) });
    this.host.receive(Object.fromEntries(traits.filter(([name]) => !this.isOutdated(name))));
    this.opened?.resolve();
    this.answered?.();
  }

  /** A choice that waits to go out is newer than what the kernel answers to an earlier one. */
  private isOutdated(name: string): boolean {
    return (CHOICES as readonly string[]).includes(name) && this.outbox.holds(name);
  }

  private fail(sentence: string): void {
    this.opened?.reject(new Refusal(sentence));
    this.host.receive({ _error: sentence });
    this.answered?.();
  }
}
