import { expect, test } from "vitest";
import { ReplayState } from "../src/store/replay";
import { Sync } from "../src/store/send";
import { MemoryHost } from "./host";
import { smallRun, smallTraits } from "./small";

const { wire, data } = smallRun();

const open = (replay = false) => {
  const host = new MemoryHost(smallTraits({ replay }));
  const sync = new Sync(host);
  const replayState = new ReplayState(host);
  const change = (choices: Parameters<Sync["change"]>[0]) => {
    sync.change(choices);
    replayState.follow(choices);
  };
  const answer = (changes: Partial<typeof wire> = {}) => {
    host.receive({ _run: { ...wire, ...changes }, _run_data: data });
    replayState.receive();
  };
  return { host, replayState, change, answer };
};

test("a host that cannot replay offers none", () => {
  const { host, replayState } = open();
  delete host.traits.replay;
  expect(replayState.replay).toBe("none");
});

test("asked for, it is waited for until the answer comes", () => {
  const { replayState, change, answer } = open();
  expect(replayState.replay).toBe("off");
  change({ replay: true });
  expect(replayState.replay).toBe("waiting");
  answer();
  expect(replayState.replay).toBe("on");
  change({ replay: false });
  expect(replayState.replay).toBe("off");
});

test("put away and asked for again, the same run answers the same question without Python", () => {
  const { replayState, change, answer } = open(true);
  change({ settings: { a: 1, b: 2 } });
  answer();
  change({ replay: false });
  change({ replay: true });
  expect(replayState.replay).toBe("on");
  change({ settings: { b: 2, a: 1 } });
  expect(replayState.replay).toBe("on");
});

test("another policy or setting makes the run old, another cut does not", () => {
  const { replayState, change, answer } = open(true);
  answer();
  change({ cut: "e1" });
  expect(replayState.replay).toBe("on");
  change({ settings: { "pointer.over": 60 } });
  expect(replayState.replay).toBe("waiting");
  answer();
  expect(replayState.replay).toBe("on");
  change({ policy: "other", settings: {} });
  answer();
  expect(replayState.replay).toBe("waiting");
  answer({ policy: "other" });
  expect(replayState.replay).toBe("on");
});

test("a refused replay is not awaited, and the old run is current again", () => {
  const { host, replayState, change, answer } = open();
  change({ replay: true });
  replayState.fail();
  expect(replayState.replay).toBe("off");
  answer();
  change({ settings: { "pointer.over": 0 } });
  expect(replayState.replay).toBe("waiting");
  host.receive({ settings: {} });
  replayState.fail();
  expect(replayState.replay).toBe("on");
});
