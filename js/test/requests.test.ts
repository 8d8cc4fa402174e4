import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Requests } from "../src/payloads/requests";
import { MemoryHost } from "./host";
import { smallTraits } from "./small";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const open = () => {
  const host = new MemoryHost(smallTraits());
  return { host, requests: new Requests(host) };
};
const idOf = (host: MemoryHost, i: number) => (host.sent[i] as { id: string }).id;

test("each answer goes to the question with its id", async () => {
  const { host, requests } = open();
  const first = requests.ask("body", { row: 1 });
  const second = requests.ask("body", { row: 2 });
  const body = {
    type: "body",
    before: { text: "", total: 0 },
    after: null,
    diff: null,
    other: null,
  };
  host.emit("msg:custom", { ...body, id: idOf(host, 1), facts: [["in the file", "2"]] });
  host.emit("msg:custom", { ...body, id: idOf(host, 0), facts: [["in the file", "1"]] });
  expect((await first).facts).toEqual([["in the file", "1"]]);
  expect((await second).facts).toEqual([["in the file", "2"]]);
});

test("an error arrives as its sentence", async () => {
  const { host, requests } = open();
  const reply = requests.ask("summary", { place: 3 });
  host.emit("msg:custom", { type: "error", id: idOf(host, 0), sentence: "There is no place 3." });
  await expect(reply).rejects.toThrow("There is no place 3.");
});

test("silence becomes a sentence, and what comes after it or for others is ignored", async () => {
  const { host, requests } = open();
  const reply = requests.ask("rows", { from: 0, to: 1 });
  const refusal = expect(reply).rejects.toThrow("The kernel has not answered");
  vi.advanceTimersByTime(20_000);
  await refusal;
  for (const message of [null, "x", {}, { type: "rows", id: "other" }, { type: "rows", id: idOf(host, 0) }]) {
    host.emit("msg:custom", message);
  }
});

test("disposal leaves no listener", () => {
  const { host, requests } = open();
  requests.dispose();
  expect(host.listeners.get("msg:custom")?.size).toBe(0);
});
