import { expect, test, vi } from "vitest";
import type { Opened } from "../src/hosts/open";
import { openRest } from "../src/hosts/rest";
import { FakeServer, say } from "./fakeserver";

const soon = () => new Promise<void>(resolve => setTimeout(resolve, 0));
const settle = async () => {
  for (let i = 0; i < 5; i++) await soon();
};

const open = async (server = new FakeServer(), traits = {}) => {
  const pauses: number[] = [];
  const document = await openRest(server.call, { path: "a/b.jsonl" }, traits, async milliseconds => {
    pauses.push(milliseconds);
    await soon();
  });
  return { server, document, host: document.host, pauses };
};

const seqOf = ({ host }: Opened) => (host.get("_plan") as { seq: number } | null)?.seq;

const change = ({ host }: Opened, cut: string, seq: number) => {
  host.set("cut", cut);
  host.set("_seq", seq);
  host.save_changes();
};

test("a session is open as soon as its first frame is there", async () => {
  const { server, document, host } = await open(new FakeServer(), { policy: "plain" });
  expect(server.log[0]).toEqual({
    method: "POST",
    route: "open",
    body: { path: "a/b.jsonl", wanted: { policy: "plain" } },
  });
  expect(host.get("_scene")).toEqual({ named: "d1" });
  expect(host.get("_scene_data")?.getUint8(2)).toBe(3);
  expect([host.get("policy"), host.get("at")]).toEqual(["plain", "m1"]);
  document.dispose();
});

test("one change is under way at a time, and those behind it go together, the newest winning", async () => {
  const { server, document } = await open();
  server.queue = [];
  for (const [i, cut] of ["e1", "e2", "e3", "e4"].entries()) change(document, cut, i + 1);
  await settle();
  expect(server.posts("documents/d1")).toEqual([{ wanted: { cut: "e1", _seq: 1 } }]);
  const queue = server.queue;
  server.queue = undefined;
  for (const release of queue) release();
  await settle();
  expect(server.posts("documents/d1").slice(1)).toEqual([{ wanted: { cut: "e4", _seq: 4 } }]);
  expect(seqOf(document)).toBe(4);
  document.dispose();
});

test("an answer does not take back what was decided since", async () => {
  const { server, document, host } = await open();
  server.queue = [];
  change(document, "e1", 1);
  await settle();
  host.set("policy", "mine");
  server.pushTraits({ policy: "theirs", cut: "e9" });
  await settle();
  expect(host.get("policy")).toBe("mine");
  expect(host.get("cut")).toBe("e9");
  document.dispose();
});

test("changes arrive once each while the view is visible, and are not requested while it is hidden", async () => {
  const { server, document, host } = await open();
  const listener = vi.fn();
  host.on("change:_scene", listener);
  server.pushTraits({ _scene: { named: "exact" } });
  await settle();
  expect(host.get("_scene")).toEqual({ named: "exact" });
  expect(listener).toHaveBeenCalledTimes(1);
  document.watch(false);
  await settle();
  const requestCount = server.log.length;
  server.pushTraits({ _scene: { named: "grown" } });
  await settle();
  expect(server.log.length).toBe(requestCount);
  document.watch(true);
  await settle();
  expect(host.get("_scene")).toEqual({ named: "grown" });
  document.dispose();
});

test("a change received as an answer is not drawn again when the poll reports it", async () => {
  const { server, document, host } = await open();
  const listener = vi.fn();
  host.on("change:_plan", listener);
  change(document, "e1", 1);
  await settle();
  server.wake();
  await settle();
  expect(listener).toHaveBeenCalledTimes(1);
  document.dispose();
});

test("a lost server is reported in a sentence, polled ever more rarely, and used again when it returns", async () => {
  const { server, document, host, pauses } = await open();
  server.gone = true;
  server.wake();
  change(document, "e1", 1);
  for (let i = 0; i < 40; i++) await soon();
  expect(host.get("_error")).toContain("server does not answer");
  expect(pauses.slice(0, 2)).toEqual([500, 500]);
  expect(Math.max(...pauses)).toBe(15_000);
  server.gone = false;
  await settle();
  expect(host.get("_error")).toBe("");
  expect(seqOf(document)).toBe(1);
  document.dispose();
});

test("a document that was forgotten is opened again with all that was decided", async () => {
  const { server, document, host } = await open(new FakeServer(), { policy: "plain" });
  host.set("settings", { knob: 3 });
  host.set("pins", ["e1/0"]);
  host.set("versus", { recorded: true });
  change(document, "e1", 1);
  await settle();
  server.forget();
  await settle();
  expect(server.posts("open").at(-1)?.wanted).toMatchObject({
    at: "m1",
    policy: "plain",
    settings: { knob: 3 },
    cut: "e1",
    pins: ["e1/0"],
    versus: { recorded: true },
  });
  expect(host.get("_scene")).toEqual({ named: "d2" });
  change(document, "e2", 2);
  await settle();
  expect(server.posts("documents/d2")).toHaveLength(1);
  expect(host.get("_error")).toBe("");
  document.dispose();
});

test("a change that meets a forgotten document is answered by the new one", async () => {
  const { server, document } = await open();
  document.watch(false);
  await settle();
  server.forget();
  change(document, "e5", 7);
  await settle();
  expect(server.posts("open").at(-1)?.wanted).toMatchObject({ cut: "e5", _seq: 7 });
  expect(seqOf(document)).toBe(7);
  document.dispose();
});

test("a change made while a forgotten document is being reopened is not lost", async () => {
  const { server, document } = await open();
  server.queue = [];
  server.forget();
  await settle();
  expect(server.posts("open")).toHaveLength(2);
  change(document, "e9", 3);
  await settle();
  const { queue } = server;
  server.queue = undefined;
  for (const go of queue.reverse()) go();
  await settle();
  await settle();
  expect(server.posts("documents/d2").at(-1)?.wanted).toMatchObject({ cut: "e9", _seq: 3 });
  expect(seqOf(document)).toBe(3);
  document.dispose();
});

test("questions are answered, stops are passed on, and a refusal is the question's own", async () => {
  const { server, document, host } = await open();
  const events: unknown[] = [];
  host.on("msg:custom", message => events.push(message));
  host.send({ type: "rows", id: "q1", from: 0, to: 3 });
  host.send({ type: "stop", id: "" });
  host.send({ type: "stop", id: "", what: "summary" });
  await settle();
  expect(server.posts("documents/d1/ask")).toEqual([{ type: "rows", id: "q1", from: 0, to: 3 }]);
  expect(server.posts("documents/d1/stop")).toEqual([{}, { what: "summary" }]);
  server.refuse = say(422, { message: "There is no row 3.", reason: null });
  host.send({ type: "rows", id: "q2" });
  await settle();
  expect(events).toEqual([
    { type: "rows", id: "q1", answered: "d1" },
    { type: "error", id: "q2", sentence: "There is no row 3." },
  ]);
  document.dispose();
});

test("to save goes a way of its own, as it needs another right", async () => {
  const { server, document, host } = await open();
  const events: unknown[] = [];
  host.on("msg:custom", message => events.push(message));
  host.send({ type: "save", id: "q1" });
  await settle();
  expect(server.posts("documents/d1/save")).toEqual([{ type: "save", id: "q1" }]);
  expect(server.posts("documents/d1/ask")).toEqual([]);
  expect(events).toEqual([{ type: "save", id: "q1", answered: "d1" }]);
  document.dispose();
});

test("a question to a forgotten document is asked again of the new one", async () => {
  const { server, document, host } = await open();
  const events: unknown[] = [];
  host.on("msg:custom", message => events.push(message));
  document.watch(false);
  server.documents.clear();
  host.send({ type: "rows", id: "q1" });
  await settle();
  expect(events).toEqual([{ type: "rows", id: "q1", answered: "d2" }]);
  document.dispose();
});

test("a refused change is reported as the server's sentence, once, and does not come back", async () => {
  const { server, document, host } = await open();
  server.refuse = say(422, { message: "No such policy.", reason: null });
  change(document, "e1", 1);
  await settle();
  expect(host.get("_error")).toBe("No such policy.");
  expect(server.posts("documents/d1")).toHaveLength(1);
  document.dispose();
});

test("a file that is no session is refused with the server's sentence", async () => {
  const server = new FakeServer();
  server.refuse = say(422, { message: "Line 3 is not JSON.", reason: "syntax" });
  await expect(open(server)).rejects.toThrow("Line 3 is not JSON.");
});

test("a file that is not there is no missing server, but a page that is not ours is one", async () => {
  const server = new FakeServer();
  server.refuse = say(404, { message: "There is no such file.", reason: null });
  await expect(open(server)).rejects.toThrow("There is no such file.");
  server.refuse = say(404, "<!doctype html><title>404</title>");
  await expect(open(server)).rejects.toThrow("enable its server extension");
});

test("a closed document is deleted, and nothing is asked of it any more", async () => {
  const { server, document } = await open();
  document.dispose();
  document.dispose();
  await settle();
  expect(server.log.filter(({ method }) => method === "DELETE")).toEqual([
    { method: "DELETE", route: "documents/d1", body: {} },
  ]);
  const requestCount = server.log.length;
  change(document, "e1", 1);
  server.pushTraits({ _error: "late" });
  await settle();
  expect(server.log.length).toBe(requestCount);
});

test("a question that was under way when its document was closed opens none again", async () => {
  const { server, document, host } = await open();
  server.queue = [];
  host.send({ type: "rows", id: "q1" });
  await settle();
  const queue = server.queue;
  server.queue = undefined;
  document.dispose();
  await settle();
  for (const release of queue) release();
  await settle();
  expect(server.posts("open")).toHaveLength(1);
  expect(server.documents.size).toBe(0);
});
