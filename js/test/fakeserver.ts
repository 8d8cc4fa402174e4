// A Jupyter server in memory: documents with revisions, as the routes' contract says. No network.
import type { Answer, Call } from "../src/hosts/rest";

type Json = Record<string, unknown>;

export const encodeFrame = (header: Json, buffers: Record<string, readonly number[]> = {}): ArrayBuffer => {
  const data: Record<string, [number, number]> = {};
  let end = 0;
  for (const [name, bytes] of Object.entries(buffers)) {
    data[name] = [end, bytes.length];
    end = Math.ceil((end + bytes.length) / 4) * 4;
  }
  const text = new TextEncoder().encode(JSON.stringify({ ...header, data }));
  const length = Math.ceil(text.length / 4) * 4;
  const frame = new Uint8Array(4 + length + end).fill(32);
  new DataView(frame.buffer).setUint32(0, length, true);
  frame.set(text, 4);
  for (const [name, [offset]] of Object.entries(data)) frame.set(buffers[name] ?? [], 4 + length + offset);
  return frame.buffer;
};

export const say = (status: number, body: unknown): Answer => ({
  status,
  bytes: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))
    .buffer as ArrayBuffer,
});

interface Document {
  rev: number;
  traits: Json;
}

/** Answers a question of `wanted` with itself as the plan. `gone` and `forget()` are its misfortunes. */
export class FakeServer {
  readonly log: { method: string; route: string; body: Json }[] = [];
  readonly documents = new Map<string, Document>();
  gone = false;
  /** If it is an array, answers to POSTs wait here until they are released. */
  queue: (() => void)[] | undefined;
  refuse: Answer | undefined;
  private count = 0;
  private polls: { document: string; rev: number; wake: () => void }[] = [];

  readonly call: Call = async (method, route, body = {}, signal) => {
    this.log.push({ method, route, body: body as Json });
    if (this.gone) throw new TypeError("Failed to fetch");
    if (method === "GET") return this.news(route, signal);
    if (this.queue !== undefined) await new Promise<void>(resolve => this.queue?.push(resolve));
    return this.answer(method, route, body as Json);
  };

  forget(): void {
    this.documents.clear();
    this.wake();
  }

  /** Something happened by itself. */
  pushTraits(traits: Json): void {
    for (const document of this.documents.values()) {
      document.rev++;
      Object.assign(document.traits, traits);
    }
    this.wake();
  }

  posts(part: string): Json[] {
    return this.log
      .filter(({ method, route }) => method === "POST" && route.startsWith(part))
      .map(post => post.body);
  }

  private answer(method: string, route: string, body: Json): Answer {
    if (this.refuse !== undefined) return this.refuse;
    if (route === "open") {
      const id = `d${++this.count}`;
      const changes = body.wanted as Json;
      const traits = {
        at: "m1",
        ...changes,
        _scene: { named: id },
        _plan: { seq: changes._seq ?? 0 },
        _error: "",
      };
      this.documents.set(id, { rev: 1, traits });
      return {
        status: 200,
        bytes: encodeFrame({ document: id, rev: 1, traits }, { _scene_data: [1, 2, 3] }),
      };
    }
    const [, id = "", what = ""] = route.split("/");
    const document = this.documents.get(id);
    if (document === undefined) return say(404, { message: "This session was put away. Open it again." });
    if (method === "DELETE") {
      this.documents.delete(id);
      return say(204, "");
    }
    if (what === "ask" || what === "save") return say(200, { type: body.type, id: body.id, answered: id });
    if (what === "stop") return say(204, "");
    const changes = body.wanted as Json;
    document.rev++;
    const traits = { _plan: { seq: changes._seq, wanted: changes }, _error: "" };
    Object.assign(document.traits, traits);
    return { status: 200, bytes: encodeFrame({ rev: document.rev, traits }) };
  }

  private async news(route: string, signal?: AbortSignal): Promise<Answer> {
    const [, id = ""] = route.split("/");
    const rev = Number(route.split("rev=")[1]);
    if (this.documents.get(id)?.rev === rev) {
      await new Promise<void>((resolve, reject) => {
        const poll = { document: id, rev, wake: resolve };
        this.polls.push(poll);
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    }
    if (this.gone) throw new TypeError("Failed to fetch");
    const document = this.documents.get(id);
    if (document === undefined) return say(404, { message: "This session was put away. Open it again." });
    return { status: 200, bytes: encodeFrame({ rev: document.rev, traits: document.traits }) };
  }

  wake(): void {
    const polls = this.polls;
    this.polls = [];
    for (const poll of polls) poll.wake();
  }
}
