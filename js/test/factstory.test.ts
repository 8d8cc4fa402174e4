// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import type { FactReply } from "../src/payloads/types";
import { asked, close, facts, find, lost, open, plan, press, rows, settle, story } from "./factbench";

afterEach(close);

test("a story tells the chain with its evidence, the reason, the regret and the price before it is paid", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  const told = facts.story(lost.number, 3);
  const chain = [...find("fact-chain").querySelectorAll("li")].map(line => line.textContent);
  told.chain.forEach(({ label, fate, tier }, i) => {
    for (const words of [label, fate, tier]) expect(chain[i]).toContain(words);
  });
  expect(find("fact-why").textContent).toBe(told.why);
  expect(story()).toContain(told.regrets[0]?.sentence);
  expect(find("fact-focus").textContent).toBe(told.focus);
  expect(find("fix").nextElementSibling?.textContent).toBe("+92");
  expect(host.saves).toBe(0);
});

test("a fix is one edit, undone as any other, and the story is asked for anew", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  const pins = facts.story(lost.number, 3).fixes[0]?.changes.pins;
  find("fix").focus();
  find("fix").click();
  expect([host.get("pins"), host.saves]).toEqual([pins, 1]);
  expect(find("said").textContent).toContain("+92 tokens");
  host.receive(plan({ seq: 1, pins: [...(pins ?? [])] }));
  await settle();
  expect(asked(host, "fact")).toHaveLength(2);
  expect(find("fact-form").textContent).toBe(lost.form);
  expect(find("fact-story").contains(document.activeElement)).toBe(true);
  press("z", document.querySelector(".ci") as Element);
  expect(host.get("pins")).toEqual([]);
});

test("a fix by another policy leaves the settings of this one behind", async () => {
  const fix = {
    means: "carry",
    sentence: "Carry file operations.",
    price: 5,
    money: "",
    fate: "restated",
    recipe: "",
  };
  const told = { ...facts.story(lost.number, 3), fixes: [{ ...fix, changes: { policy: "other" } }] };
  const host = await open({ settings: { "keep.tokens": 4 } }, {}, ({ type }) =>
    type === "fact" ? { ...(told as unknown as FactReply), type } : undefined,
  );
  rows()[0]?.click();
  await settle();
  find("fix").click();
  expect([host.get("policy"), host.get("settings")]).toEqual(["other", {}]);
});

test("a block that says it is chosen", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  const { ref, label } = facts.story(lost.number, 3).said[0]!;
  const place = [...find("fact-story").querySelectorAll("button")].find(
    button => button.textContent === label,
  );
  place?.click();
  await settle(260);
  expect(host.get("block")).toBe(ref);
});

test("of a fact said very often the first and the last places are told, and how many are between", async () => {
  const one = facts.story(lost.number, 3).said[0]!;
  const said = Array.from({ length: 200 }, (_, i) => ({
    ...one,
    turn: i,
    label: `place ${i < 100 ? i : i + 300}`,
  }));
  await open({}, {}, ({ type }) =>
    type === "fact" ? { ...facts.story(lost.number, 3), type, said, saidTotal: 500 } : undefined,
  );
  rows()[0]?.click();
  await settle();
  const places = () => [...document.querySelectorAll(".ci-places > *")].map(node => node.textContent);
  expect(places()).toEqual([
    "place 0",
    "place 1",
    "494 between",
    "place 496",
    "place 497",
    "place 498",
    "place 499",
  ]);
  expect(story()).toContain("said in 500 blocks · turns 1–200");
  document.querySelectorAll<HTMLElement>(".ci-places button")[2]?.click();
  expect(places()).toHaveLength(201);
  expect(places()[100]).toBe("300 between");
  expect(document.querySelector(".ci-places > span")?.textContent).toBe("300 between");
});
