import { expect, test } from "vitest";
import { MemoryHost } from "../dev/host";
import { startKernel } from "../dev/kernel";
import { Life } from "../src/store/replay";
import { Sync } from "../src/store/send";
import { smallRun } from "./small";

const { wire, data } = smallRun();

const open = (replay = false) => {
  const { traits } = startKernel(5);
  const host = new MemoryHost({ ...traits, policy: "plain", replay }, null);
  const sync = new Sync(host);
  const life = new Life(host, sync);
  const change = (choices: Parameters<Sync["change"]>[0]) => {
    sync.change(choices);
    life.follow(choices);
  };
  const answer = (changes: Partial<typeof wire> = {}) => {
    host.receive({ _run: { ...wire, seq: sync.seq, ...changes }, _run_data: data });
    life.receive();
  };
  return { host, life, change, answer };
};

test("a host that cannot replay offers none", () => {
  const { host, life } = open();
  delete host.traits.replay;
  expect(life.replay).toBe("none");
});

test("asked for, it is waited for until the answer comes", () => {
  const { life, change, answer } = open();
  expect(life.replay).toBe("off");
  change({ replay: true });
  expect(life.replay).toBe("waiting");
  answer();
  expect(life.replay).toBe("on");
  change({ replay: false });
  expect(life.replay).toBe("off");
});

test("put away and asked for again, the same run answers the same question without Python", () => {
  const { life, change, answer } = open(true);
  change({ settings: { a: 1, b: 2 } });
  answer();
  change({ replay: false });
  change({ replay: true });
  expect(life.replay).toBe("on");
  change({ settings: { b: 2, a: 1 } });
  expect(life.replay).toBe("on");
});

test("another policy or setting makes the run old, another cut does not", () => {
  const { life, change, answer } = open(true);
  answer();
  change({ cut: "e1" });
  expect(life.replay).toBe("on");
  change({ settings: { "pointer.over": 60 } });
  expect(life.replay).toBe("waiting");
  answer();
  expect(life.replay).toBe("on");
  change({ policy: "other", settings: {} });
  answer();
  expect(life.replay).toBe("waiting");
  answer({ policy: "other" });
  expect(life.replay).toBe("on");
});

test("an answer to an older question is not taken for the new one's, one without a number is", () => {
  const { life, change, answer } = open(true);
  change({ settings: { "pointer.over": 60 } });
  change({ settings: { "pointer.over": 61 } });
  answer({ seq: 1 });
  expect(life.replay).toBe("waiting");
  answer({ seq: 0 });
  expect(life.replay).toBe("on");
});

test("what Python refused is not waited for, and the old run is the right one again", () => {
  const { host, life, change, answer } = open();
  change({ replay: true });
  life.fail();
  expect(life.replay).toBe("off");
  answer();
  change({ settings: { "pointer.over": 0 } });
  expect(life.replay).toBe("waiting");
  host.receive({ settings: {} });
  life.fail();
  expect(life.replay).toBe("on");
});
