// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { PAGE } from "../src/store/facts";
import {
  blocks,
  close,
  data,
  facts,
  find,
  lost,
  open,
  plan,
  planned,
  press,
  requestsOf,
  rows,
  settle,
  wire,
} from "./factbench";
import { inventFacts } from "./invented-facts";

afterEach(close);

const showMore = () =>
  [...find("facts").querySelectorAll("button")]
    .find(({ textContent }) => /^Show/.test(textContent ?? ""))
    ?.click();

test("facts are requested again when the user sets the same cut, or changes a rule of the same policy", async () => {
  const host = await open();
  const { cut, rules } = planned.wire;
  host.receive(plan({ cut: { ...cut, by: "you" } }));
  await settle();
  expect(requestsOf(host)).toHaveLength(2);
  host.receive(plan({ cut: { ...cut, by: "you" }, rules: rules.map(rule => ({ ...rule, enabled: false })) }));
  await settle();
  expect(requestsOf(host)).toHaveLength(3);
  host.receive(
    plan({ cut: { ...cut, by: "you" }, rules: rules.map(rule => ({ ...rule, enabled: false, delta: 1 })) }),
  );
  await settle();
  expect(requestsOf(host)).toHaveLength(3);
});

test("what is asked under a moving hand is asked of the cut that the list is of", async () => {
  const many = inventFacts(blocks, 3000);
  const host = await open({}, {}, message => many.answer(message));
  press("ArrowRight", find("cut-handle"));
  find("facts-file").click();
  await settle();
  showMore();
  await settle();
  rows()[0]?.click();
  await settle();
  expect([...requestsOf(host), ...requestsOf(host, "story")].map(({ place }) => place)).toEqual([3, 3, 3, 3]);
});

test("no page is asked for while the list itself is", async () => {
  const many = inventFacts(blocks, 3000);
  let slow = false;
  const host = await open({}, {}, message =>
    slow && message.type === "facts" ? null : many.answer(message),
  );
  slow = true;
  host.receive(plan({ policy: "other" }));
  await settle();
  showMore();
  await settle();
  expect(requestsOf(host).map(({ from }) => from)).toEqual([0, 0]);
  const second = requestsOf(host)[1];
  host.emit("msg:custom", { ...many.answer(second!), id: second?.id });
  slow = false;
  await settle();
  expect(requestsOf(host).map(({ from }) => from)).toEqual([0, 0, PAGE]);
});

test("on another path a fact is asked for by what it is called, and follows its number there", async () => {
  const there = { ...facts.story(lost.number, 3), number: 77 };
  let moved = false;
  const host = await open({}, {}, ({ type }) => (moved && type === "story" ? { ...there, type } : undefined));
  rows()[0]?.click();
  await settle();
  moved = true;
  host.receive({ _scene: { ...wire, windowSource: "another" }, _scene_data: data, ...plan({}) });
  await settle();
  expect(requestsOf(host, "story").at(-1)).toMatchObject({
    number: lost.number,
    kind: lost.kind,
    form: lost.form,
  });
  expect(find("story-title").textContent).toBe(lost.form);
  expect(rows()[0]?.getAttribute("aria-current")).toBeNull();
});

test("Enter right after a query opens nothing of the list before it", async () => {
  const host = await open({}, {}, ({ type, query }) => (type === "facts" && query ? null : undefined));
  const input = find("facts-search") as HTMLInputElement;
  input.value = "state";
  press("Enter", input);
  await settle();
  press("Enter", input);
  await settle();
  expect(requestsOf(host, "story")).toEqual([]);
  const last = requestsOf(host).at(-1);
  host.emit("msg:custom", { ...facts.answer(last!), id: last?.id });
  await settle();
  press("Enter", input);
  await settle();
  expect(find("story-title").textContent).toBe(facts.list({ query: "state" }).rows[0]?.form);
});

test("the text of a block is asked for at the cut on the screen, which Python may not know yet", async () => {
  const host = await open({ block: "e3/0" });
  press("ArrowRight", find("cut-handle"));
  await settle();
  find("show-text").click();
  await settle();
  const bodies = requestsOf(host, "body").filter(({ place }) => place !== undefined);
  expect(bodies.map(({ place }) => place)).toEqual([4]);
});

test("a query while the facts are found still lets the marks come, a failure lets them wait", async () => {
  let kernelState: "slow" | "broken" | "fine" = "slow";
  const host = await open({}, {}, ({ type }) => {
    if (type !== "facts" || kernelState === "fine") return undefined;
    return kernelState === "slow" ? null : { type: "error", sentence: "It was stopped." };
  });
  const input = find("facts-search") as HTMLInputElement;
  kernelState = "broken";
  input.value = "state";
  press("Enter", input);
  await settle();
  expect(requestsOf(host, "regret")).toEqual([]);
  kernelState = "fine";
  input.value = "";
  press("Enter", input);
  await settle();
  expect(requestsOf(host, "regret")).toHaveLength(1);
});
