// The way over the server's routes: changes go out one after the other, news come by a long poll, and a document that the
// server has forgotten is opened again as it was.
import type { Traits } from "../payloads/host";
import { Turns } from "./concurrency";
import { CHOICES, type ChangedTraits, Refusal, StateHost } from "./host";
import { decodeFrame, type Frame } from "./message-frame";
import type { Opened, Source } from "./open";
import { Outbox } from "./outbox";

export interface Answer {
  readonly status: number;
  readonly bytes: ArrayBuffer;
}

/** One request below the extension's prefix. Rejects if the server does not answer. */
export type Call = (
  method: "GET" | "POST" | "DELETE",
  route: string,
  body?: object,
  signal?: AbortSignal,
) => Promise<Answer>;

export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const GONE = "The Jupyter server does not answer. Trying again; your changes are kept.";
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const GRACE = 50;
/** Questions that change something. The others end with their view. */
const WRITES = ["save", "write_file", "judge", "summarise", "unsummarise"];
// A server that answers at once and with nothing is not asked in a circle.
const IDLE_PAUSE = 1000;

// A browser keeps six connections to a host open, and JupyterLab needs some for itself.
const POLLS = new Turns(3);

/** The server refused: its status, and its sentence. */
class Denial extends Refusal {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(sentence);
  }
}

const NO_ROUTES =
  "This Jupyter server cannot read sessions: install compaction-inspector, enable its server extension. " +
  "In a notebook, Workbench(session) needs none.";

/** The server did not answer, so the request may or may not have been applied. */
class Silence extends Error {}

/** Opens a session. Rejects with a `Refusal` if the server refuses, or does not have the routes. */
export const openRest = async (
  call: Call,
  source: Source,
  inputs: ChangedTraits,
  pause: Pause = sleep,
  signal?: AbortSignal,
): Promise<Opened> => {
  const document = new RestDocument(call, source, pause);
  await document.open(inputs, signal);
  return document;
};

class RestDocument implements Opened {
  readonly host = new StateHost();
  private document = "";
  /** The newest revision of which nothing is missing here. */
  private rev = 0;
  /** The revision of each trait in this client. */
  private readonly revs = new Map<string, number>();
  private readonly outbox = new Outbox<ChangedTraits>(changes => this.post(changes));
  private readonly end = new AbortController();
  private poll = new AbortController();
  private isVisible = true;
  private look: (() => void) | undefined;
  private opening: Promise<void> | undefined;
  private complained = "";
  private following = Promise.resolve();

  constructor(
    private readonly call: Call,
    private readonly source: Source,
    private readonly pause: Pause,
  ) {
    this.host.line = { change: changes => this.outbox.put(changes), ask: message => void this.ask(message) };
  }

  async open(inputs: ChangedTraits, signal?: AbortSignal): Promise<void> {
    this.host.receive(inputs);
    const body = { ...this.source, wanted: inputs };
    this.start(decodeFrame(await this.reach("POST", "open", body, signal, true)));
    this.following = this.follow();
  }

  watch(isVisible: boolean): void {
    if (isVisible === this.isVisible) return;
    this.isVisible = isVisible;
    if (isVisible) this.look?.();
    else this.poll.abort();
  }

  dispose(): void {
    if (this.end.signal.aborted) return;
    this.end.abort();
    this.poll.abort();
    this.look?.();
    this.host.line = undefined;
    // The poll goes first, so that the server is not asked for news of a document that is gone.
    const { signal } = new AbortController();
    void this.following.then(() => this.pause(GRACE, signal)).then(() => this.drop());
  }

  private drop(): void {
    this.call("DELETE", `documents/${this.document}`).catch(() => {});
  }

  private async post(changes: ChangedTraits): Promise<void> {
    for (let wait = FIRST_PAUSE; !this.end.signal.aborted; wait = lengthen(wait)) {
      try {
        const frame = await this.request(`documents/${this.document}`, { wanted: changes });
        this.take(frame, false);
        return this.complain("");
      } catch (error) {
        if (!(await this.recover(error))) return;
        await this.pause(wait, this.end.signal);
      }
    }
  }

  private async ask(message: unknown): Promise<void> {
    const question = message as { type?: string; id?: string; what?: string };
    try {
      const { what } = question;
      if (question.type === "stop")
        await this.call("POST", `documents/${this.document}/stop`, what ? { what } : {});
      else this.host.answer(await this.askTwice(question));
    } catch (error) {
      this.host.answer({ type: "error", id: question.id ?? "", sentence: sentenceOf(error) });
    }
  }

  private async askTwice(question: { type?: string }): Promise<unknown> {
    // To save writes a file, which is another right.
    const way = question.type === "save" || question.type === "write_file" ? "save" : "ask";
    const signal = WRITES.includes(question.type ?? "") ? undefined : this.end.signal;
    const ask = async () =>
      JSON.parse(decode(await this.reach("POST", `documents/${this.document}/${way}`, question, signal)));
    try {
      return await ask();
    } catch (error) {
      // A question that was under way when its view was closed opens nothing.
      if (!isForgotten(error) || this.end.signal.aborted) throw error;
      await this.reopen();
      return ask();
    }
  }

  /** Asks for what is new as long as anybody looks. */
  private async follow(): Promise<void> {
    let wait = FIRST_PAUSE;
    while (!this.end.signal.aborted) {
      if (!this.isVisible) {
        await new Promise<void>(resolve => {
          this.look = resolve;
        });
        continue;
      }
      const poll = new AbortController();
      this.poll = poll;
      try {
        await POLLS.take(() => this.listen(poll.signal));
        wait = FIRST_PAUSE;
      } catch (error) {
        if (poll.signal.aborted || this.end.signal.aborted) continue;
        await this.recover(error);
        await this.pause(wait, this.end.signal);
        wait = lengthen(wait);
      }
    }
  }

  private async listen(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const news = await this.reach(
      "GET",
      `documents/${this.document}/news?rev=${this.rev}`,
      undefined,
      signal,
    );
    const frame = decodeFrame(news);
    const isEmpty = frame.rev <= this.rev;
    this.take(frame, true);
    this.complain("");
    if (isEmpty) await this.pause(IDLE_PAUSE, signal);
  }

  /** Reports the error, or reopens the document. Returns true if the request is worth repeating. */
  private async recover(error: unknown): Promise<boolean> {
    if (this.end.signal.aborted) return false;
    if (!isForgotten(error)) {
      this.complain(sentenceOf(error));
      return error instanceof Silence;
    }
    try {
      // Reopening sends all choices, so no change is pending; a request under way may be older, though.
      const late = this.opening !== undefined;
      await this.reopen();
      return late;
    } catch (failed) {
      this.complain(sentenceOf(failed));
      return failed instanceof Silence;
    }
  }

  /** Reopens a document that the server no longer has, with all choices. */
  private reopen(): Promise<void> {
    this.opening ??= this.request("open", { ...this.source, wanted: this.host.changes })
      .then(frame => this.start(frame))
      .finally(() => {
        this.opening = undefined;
      });
    return this.opening;
  }

  private start(frame: Frame): void {
    this.document = frame.document ?? "";
    this.rev = 0;
    this.revs.clear();
    this.complained = "";
    this.take(frame, true);
    if (this.end.signal.aborted) this.drop();
  }

  /** `whole` says that the frame holds everything since the last revision, not only one answer. */
  private take({ rev, traits }: Frame, whole: boolean): void {
    if (this.end.signal.aborted) return;
    const fresh: Partial<Traits> = {};
    for (const [name, value] of Object.entries(traits)) {
      // The same news may come by the poll and as an answer, and the poll's may be the older.
      if (rev <= (this.revs.get(name) ?? Number.NEGATIVE_INFINITY)) continue;
      this.revs.set(name, rev);
      if (!isChoice(name) || !this.outbox.holds(name)) Object.assign(fresh, { [name]: value });
    }
    if (whole || rev === this.rev + 1) this.rev = Math.max(this.rev, rev);
    if ("_error" in fresh) this.complained = "";
    this.host.receive(fresh);
  }

  private complain(sentence: string): void {
    if (sentence === this.complained) return;
    this.complained = sentence;
    this.host.receive({ _error: sentence });
  }

  private async request(route: string, body: object): Promise<Frame> {
    return decodeFrame(await this.reach("POST", route, body));
  }

  private async reach(
    method: "GET" | "POST",
    route: string,
    body?: object,
    signal?: AbortSignal,
    first = false,
  ): Promise<ArrayBuffer> {
    const answer = await this.call(method, route, body, signal).catch(() => {
      throw new Silence(GONE);
    });
    if (answer.status >= 200 && answer.status < 300) return answer.bytes;
    const sentence = readSentence(answer.bytes);
    // Only our own routes say in JSON what is wrong.
    if (first && sentence === "" && [404, 405, 501].includes(answer.status)) throw new Refusal(NO_ROUTES);
    throw new Denial(answer.status, (answer.status < 500 && sentence) || failed(answer.status));
  }
}

// The server's messages about its own failures are for its log.
const failed = (status: number): string => `The Jupyter server failed (status ${status}). Its log says why.`;

const lengthen = (wait: number): number => Math.min(2 * wait, LONGEST_PAUSE);

const isForgotten = (error: unknown): boolean => error instanceof Denial && error.status === 404;

const isChoice = (name: string): boolean => (CHOICES as readonly string[]).includes(name);

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const decode = (bytes: ArrayBuffer): string => new TextDecoder().decode(bytes);

const readSentence = (bytes: ArrayBuffer): string => {
  try {
    const { message } = JSON.parse(decode(bytes));
    return typeof message === "string" ? message : "";
  } catch {
    return "";
  }
};

const sleep: Pause = (milliseconds, signal) =>
  new Promise(resolve => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
