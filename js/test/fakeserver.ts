// A Jupyter server in memory: desks with revisions, as the routes' contract says. No network.
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

interface Desk {
  rev: number;
  traits: Json;
}

/** Answers a question of `wanted` with itself as the plan. `gone` and `forget()` are its misfortunes. */
export class FakeServer {
  readonly log: { method: string; route: string; body: Json }[] = [];
  readonly desks = new Map<string, Desk>();
  gone = false;
  /** If it is an array, answers to POSTs wait here until they are released. */
  queue: (() => void)[] | undefined;
  refuse: Answer | undefined;
  private count = 0;
  private polls: { desk: string; rev: number; wake: () => void }[] = [];

  readonly call: Call = async (method, route, body = {}, signal) => {
    this.log.push({ method, route, body: body as Json });
    if (this.gone) throw new TypeError("Failed to fetch");
    if (method === "GET") return this.news(route, signal);
    if (this.queue !== undefined) await new Promise<void>(resolve => this.queue?.push(resolve));
    return this.answer(method, route, body as Json);
  };

  forget(): void {
    this.desks.clear();
    this.wake();
  }

  /** Something happened by itself. */
  pushTraits(traits: Json): void {
    for (const desk of this.desks.values()) {
      desk.rev++;
      Object.assign(desk.traits, traits);
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
      this.desks.set(id, { rev: 1, traits });
      return { status: 200, bytes: encodeFrame({ desk: id, rev: 1, traits }, { _scene_data: [1, 2, 3] }) };
    }
    const [, id = "", what = ""] = route.split("/");
    const desk = this.desks.get(id);
    if (desk === undefined) return say(404, { message: "This session was put away. Open it again." });
    if (method === "DELETE") {
      this.desks.delete(id);
      return say(204, "");
    }
    if (what === "ask" || what === "save") return say(200, { type: body.type, id: body.id, answered: id });
    if (what === "stop") return say(204, "");
    const changes = body.wanted as Json;
    desk.rev++;
    const traits = { _plan: { seq: changes._seq, wanted: changes }, _error: "" };
    Object.assign(desk.traits, traits);
    return { status: 200, bytes: encodeFrame({ rev: desk.rev, traits }) };
  }

  private async news(route: string, signal?: AbortSignal): Promise<Answer> {
    const [, id = ""] = route.split("/");
    const rev = Number(route.split("rev=")[1]);
    if (this.desks.get(id)?.rev === rev) {
      await new Promise<void>((resolve, reject) => {
        const poll = { desk: id, rev, wake: resolve };
        this.polls.push(poll);
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    }
    if (this.gone) throw new TypeError("Failed to fetch");
    const desk = this.desks.get(id);
    if (desk === undefined) return say(404, { message: "This session was put away. Open it again." });
    return { status: 200, bytes: encodeFrame({ rev: desk.rev, traits: desk.traits }) };
  }

  wake(): void {
    const polls = this.polls;
    this.polls = [];
    for (const poll of polls) poll.wake();
  }
}
