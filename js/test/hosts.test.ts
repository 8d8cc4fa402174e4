import { expect, test } from "vitest";
import { readRef, writeRef } from "../src/hosts/block-links";
import { Turns } from "../src/hosts/concurrency";
import { type ChangedTraits, Refusal, StateHost } from "../src/hosts/host";
import { decodeFrame } from "../src/hosts/message-frame";
import { type Open, openAsBefore } from "../src/hosts/open";
import { Outbox } from "../src/hosts/outbox";
import { Memory } from "../src/hosts/remembered-choices";
import { writeCell } from "../src/lab/cell";
import { encodeFrame } from "./fakeserver";

test("a frame's columns are views on its bytes, at multiples of four", () => {
  const frame = encodeFrame(
    { document: "d", rev: 3, traits: { cut: "é" } },
    { _scene_data: [1, 0, 0, 0, 9], _plan_data: [7] },
  );
  const { document, rev, traits } = decodeFrame(frame);
  expect([document, rev, traits.cut]).toEqual(["d", 3, "é"]);
  const column = traits._scene_data as DataView;
  expect(column.buffer).toBe(frame);
  expect(column.byteOffset % 4).toBe(0);
  expect([column.getInt32(0, true), column.getUint8(4), column.byteLength]).toEqual([1, 9, 5]);
  expect((traits._plan_data as DataView).getUint8(0)).toBe(7);
});

test("a frame that is cut short says so", () => {
  const frame = encodeFrame({ rev: 1, traits: {} }, { _plan_data: [1, 2, 3, 4] });
  for (const end of [0, 3, 10, frame.byteLength - 4]) {
    expect(() => decodeFrame(frame.slice(0, end))).toThrow("cut short");
  }
});

test("a host has all values of a message in place before its first event, and no event without a change", () => {
  const host = new StateHost();
  const events: string[] = [];
  host.on("change:cut", () => events.push(`cut ${host.get("policy")}`));
  host.on("change:_error", () => events.push("error"));
  host.receive({ cut: "e1", policy: "other", _error: "" });
  expect(events).toEqual(["cut other"]);
});

test("a host reports the changes since the last time, and nothing if there are none", () => {
  const host = new StateHost();
  const changes: ChangedTraits[] = [];
  host.line = { change: traits => changes.push(traits), ask: () => {} };
  host.set("cut", "e1");
  host.set("_seq", 1);
  host.save_changes();
  host.save_changes();
  host.receive({ cut: "e2" });
  host.save_changes();
  expect(changes).toEqual([{ cut: "e1", _seq: 1 }]);
});

test("an outbox holds what waits, and sends it when the way is free", async () => {
  const sent: object[] = [];
  let free = () => {};
  const outbox = new Outbox<{ a: number; b: number }>(message => {
    sent.push(message);
    return new Promise(resolve => {
      free = resolve;
    });
  });
  outbox.put({ a: 1 });
  outbox.put({ a: 2 });
  outbox.put({ b: 3 });
  expect([outbox.holds("a"), outbox.holds("b")]).toEqual([true, true]);
  free();
  await Promise.resolve();
  await Promise.resolve();
  expect(outbox.holds("a")).toBe(false);
  expect(sent).toEqual([{ a: 1 }, { a: 2, b: 3 }]);
});

test("no more take their turn at once than may", async () => {
  const turns = new Turns(2);
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const all = [0, 1, 2, 3].map(i =>
    turns.take(async () => {
      begun.push(i);
      await new Promise<void>(resolve => {
        ends[i] = resolve;
      });
    }),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  for (const i of [1, 0, 2, 3]) {
    ends[i]?.();
    await all[i];
  }
  expect(begun).toEqual([0, 1, 2, 3]);
});

const opened = (name: string) => ({ name, host: new StateHost(), watch() {}, dispose() {} });

test("choices that no longer fit are let go, and the session opens", async () => {
  const server = opened("server");
  const openedWith: ChangedTraits[] = [];
  const open: Open = async (_, traits) => {
    openedWith.push(traits);
    if (traits.cut !== undefined) throw new Refusal("There is no such cut.");
    return server;
  };
  expect(await openAsBefore(open)({ path: "a" }, { cut: "gone" })).toBe(server);
  expect(openedWith).toEqual([{ cut: "gone" }, {}]);
});

test("the memory keeps the choices of the documents used last, and only what outlives a sitting", async () => {
  let saved: Record<string, ChangedTraits> = {};
  const store = {
    fetch: async () => ({ old: { cut: "e0" }, broken: 7 }),
    save: async (value: Record<string, ChangedTraits>) => {
      saved = value;
    },
  };
  const memory = new Memory(store);
  expect(await memory.recall("old")).toEqual({ cut: "e0" });
  expect(await memory.recall("broken")).toEqual({});
  await memory.keep("new", { cut: "e1", tab: "lesson", replay: true, block: "e1/0", _seq: 4 });
  expect(saved).toEqual({ old: { cut: "e0" }, new: { cut: "e1", tab: "lesson" } });
  for (let i = 0; i < 40; i++) await memory.keep(`d${i}`, { cut: "e2" });
  expect(Object.keys(saved)).toHaveLength(30);
  expect(saved.old).toBeUndefined();
  expect(saved.d39).toEqual({ cut: "e2" });
});

test("a store that cannot be read is read the next time, and never written over", async () => {
  let offline = true;
  const saved: Record<string, ChangedTraits>[] = [];
  const store = {
    fetch: () => (offline ? Promise.reject(new Error("offline")) : Promise.resolve({ old: { cut: "e0" } })),
    save: async (value: Record<string, ChangedTraits>) => void saved.push(value),
  };
  const memory = new Memory(store);
  expect(await memory.recall("old")).toEqual({});
  await memory.keep("new", { cut: "e1" });
  expect([saved, await memory.recall("new")]).toEqual([[], { cut: "e1" }]);
  offline = false;
  expect(await memory.recall("old")).toEqual({ cut: "e0" });
  await memory.keep("newer", { cut: "e2" });
  expect(saved).toEqual([{ old: { cut: "e0" }, new: { cut: "e1" }, newer: { cut: "e2" } }]);
});

test("a link to a block is read as it was written", () => {
  const address = writeRef("http://127.0.0.1:8888/lab/tree/a%20b.jsonl#old", "entry 1&2/3");
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:8888\/lab\/tree\/a%20b\.jsonl#ci=/);
  expect(readRef(new URL(address).hash)).toBe("entry 1&2/3");
  expect(readRef("#section-2")).toBe("");
  expect(readRef("")).toBe("");
  const bundled = writeRef("http://127.0.0.1:8888/lab", "e1/0", "ci-bundled");
  const { hash } = new URL(bundled);
  expect([readRef(hash), readRef(hash, "ci-bundled")]).toEqual(["", "e1/0"]);
});

test("a cell names its file as a Python literal", () => {
  expect(writeCell('../a "b"\\c.jsonl')).toBe(
    'from inspector import Workbench\n\nWorkbench("../a \\"b\\"\\\\c.jsonl")',
  );
});
