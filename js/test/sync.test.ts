import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Sync } from "../src/store/send";
import { MemoryHost } from "./host";
import { smallTraits } from "./small";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const open = () => {
  const host = new MemoryHost(smallTraits());
  return { host, sync: new Sync(host) };
};

test("a change raises the number and saves once", () => {
  const { host, sync } = open();
  sync.change({ policy: "codex", settings: {} });
  expect([host.get("policy"), host.get("_seq"), host.saves]).toEqual(["codex", 1, 1]);
});

test("a moving cut is sent at most ten times a second, and its last place always", () => {
  const { host, sync } = open();
  for (let i = 0; i < 60; i++) {
    sync.slide({ cut: `e${i}` });
    vi.advanceTimersByTime(16);
  }
  expect(host.saves).toBeLessThanOrEqual(11);
  vi.advanceTimersByTime(200);
  expect(host.get("cut")).toBe("e59");
  expect(host.get("_seq")).toBe(host.saves);
});

test("an answer to an older question, or one that comes while the hand moves, is stale", () => {
  const { sync } = open();
  sync.change({ cut: "e1" });
  expect([sync.isStale(0), sync.isStale(1)]).toEqual([true, false]);
  sync.slide({ cut: "e2" });
  sync.slide({ cut: "e3" });
  expect(sync.isStale(1)).toBe(true);
});

test("a change overtakes a cut that was still waiting", () => {
  const { host, sync } = open();
  sync.slide({ cut: "e1" });
  sync.slide({ cut: "e2" });
  sync.change({ cut: "" });
  vi.advanceTimersByTime(500);
  expect(host.get("cut")).toBe("");
});

test("its own changes are distinguished from Python's", () => {
  const { host, sync } = open();
  const states: boolean[] = [];
  host.on("change:cut", () => states.push(sync.isOurs));
  sync.change({ cut: "e1" });
  host.receive({ cut: "e2" });
  expect(states).toEqual([true, false]);
});
