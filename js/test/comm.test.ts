import { expect, test } from "vitest";
import { type Comm, openComm } from "../src/hosts/comm";

type Json = Record<string, unknown>;

class FakeKernel implements Comm {
  opened: Json | undefined;
  ended = 0;
  readonly sent: Json[] = [];
  private listener: (data: unknown, buffers: readonly DataView[]) => void = () => {};
  private closed = () => {};

  readonly connect = async () => ({ comm: this, end: () => void this.ended++ });

  open(data: object): void {
    this.opened = data as Json;
  }

  send(data: object): void {
    this.sent.push(data as Json);
  }

  onMessage(listener: (data: unknown, buffers: readonly DataView[]) => void): void {
    this.listener = listener;
  }

  onClose(listener: () => void): void {
    this.closed = listener;
  }

  say(data: object, ...buffers: DataView[]): void {
    this.listener(data, buffers);
  }

  die(): void {
    this.closed();
  }
}

const soon = () => new Promise<void>(resolve => setTimeout(resolve, 0));

const open = async () => {
  const kernel = new FakeKernel();
  const opening = openComm(kernel.connect, "/drive", { path: "a.jsonl" }, { policy: "plain" });
  await soon();
  kernel.say(
    { traits: { _scene: { named: "a" }, _plan: { seq: 0 } }, data: ["_scene_data"] },
    new DataView(new ArrayBuffer(8)),
  );
  return { kernel, desk: await opening };
};

test("a kernel reads the session and its buffers are named in order", async () => {
  const { kernel, desk } = await open();
  expect(kernel.opened).toEqual({ path: "a.jsonl", root: "/drive", wanted: { policy: "plain" } });
  expect(desk.host.get("_scene")).toEqual({ named: "a" });
  expect(desk.host.get("_scene_data")?.byteLength).toBe(8);
  expect(desk.host.get("policy")).toBe("plain");
});

test("changes go out one after the other, and questions at once", async () => {
  const { kernel, desk } = await open();
  const heard: unknown[] = [];
  desk.host.on("msg:custom", message => heard.push(message));
  for (const [i, cut] of ["e1", "e2", "e3"].entries()) {
    desk.host.set("cut", cut);
    desk.host.set("_seq", i + 1);
    desk.host.save_changes();
  }
  desk.host.send({ type: "rows", id: "q" });
  expect(kernel.sent).toEqual([{ wanted: { cut: "e1", _seq: 1 } }, { ask: { type: "rows", id: "q" } }]);
  kernel.say({ reply: { type: "rows", id: "q", rows: [] } });
  kernel.say({ traits: { _plan: { seq: 1 }, cut: "e1" }, data: [] });
  await soon();
  expect(kernel.sent.at(-1)).toEqual({ wanted: { cut: "e3", _seq: 3 } });
  expect(desk.host.get("cut")).toBe("e3");
  expect(heard).toEqual([{ type: "rows", id: "q", rows: [] }]);
});

test("a session that cannot be read is told as a sentence, and its kernel is ended", async () => {
  const kernel = new FakeKernel();
  const opening = openComm(kernel.connect, "", { path: "a.jsonl" }, {});
  await soon();
  kernel.say({ error: "Line 3 is no JSON." });
  await expect(opening).rejects.toThrow("Line 3 is no JSON.");
  expect(kernel.ended).toBe(1);
});

test("closing the document ends its kernel, once", async () => {
  const { kernel, desk } = await open();
  desk.dispose();
  desk.dispose();
  expect(kernel.ended).toBe(1);
});

test("a kernel that dies is told as a sentence", async () => {
  const { kernel, desk } = await open();
  kernel.die();
  expect(desk.host.get("_error")).toContain("The kernel that read this session is gone");
});

test("a kernel that takes nothing any more is told as a sentence, however often it is tried", async () => {
  const { kernel, desk } = await open();
  kernel.send = () => {
    throw new Error("Kernel is dead");
  };
  for (const cut of ["e1", "e2"]) {
    desk.host.receive({ _error: "" });
    desk.host.set("cut", cut);
    desk.host.save_changes();
    await soon();
    expect(desk.host.get("_error")).toContain("The kernel that read this session is gone");
  }
});
