// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { NO_TRACING } from "../src/model/facts";
import { TRAITS } from "../src/model/outcomes";
import { paidNear } from "../src/panels/overview/needed-again-marks";
import { type FactsReply, KIND_NAMES, OUTCOMES } from "../src/payloads/types";
import { PAGE } from "../src/store/facts";
import type { ViewState } from "../src/store/view";
import {
  blocks,
  close,
  cutAt,
  data,
  facts,
  find,
  lost,
  open,
  plan,
  press,
  requestsOf,
  rows,
  type StubMessage,
  settle,
  wire,
} from "./factbench";
import { inventFacts } from "./invented-facts";
import { until } from "./wait";

afterEach(close);

test("facts are requested once per plan, and only while the panel is open", async () => {
  const host = await open({ tab: "blocks" });
  expect(requestsOf(host)).toEqual([]);
  find("tab-facts").click();
  await settle();
  expect(requestsOf(host).map(({ place, from }) => [place, from])).toEqual([[3, 0]]);
  expect(requestsOf(host, "regret")).toHaveLength(1);
  find("tab-blocks").click();
  find("tab-facts").click();
  await settle();
  expect(requestsOf(host)).toHaveLength(1);
});

test("another policy asks again, and a cut only once it has settled", async () => {
  const host = await open();
  host.set("policy", "other");
  host.receive(plan({ policy: "other" }));
  await settle();
  expect(requestsOf(host)).toHaveLength(2);
  press("ArrowRight", find("cut-handle"));
  await settle();
  expect(requestsOf(host)).toHaveLength(2);
  host.receive({ cut: "e4", ...plan({ policy: "other", seq: 9, cut: cutAt(4, 9)._plan.cut }) });
  await settle();
  expect(requestsOf(host).map(({ place }) => place)).toEqual([3, 3, 4]);
  expect(requestsOf(host, "regret")).toHaveLength(1);
});

test("an answer to an older question is dropped", async () => {
  const late: StubMessage[] = [];
  const host = await open({}, {}, message => {
    if (message.type !== "facts") return undefined;
    late.push(message);
    return null;
  });
  host.receive({ cut: "e4", ...cutAt(4, 1) });
  await settle();
  const [first, second] = late as [StubMessage, StubMessage];
  const answer = ({ id }: StubMessage, total: number) =>
    host.emit("msg:custom", { type: "facts", id, ...facts.list({}), total });
  answer(second, 7);
  await settle();
  answer(first, 8);
  await settle();
  expect(find("facts-count").textContent).toBe("7 facts");
});

test("a file that grows while its facts are found is asked about again only once there is an answer", async () => {
  const host = await open({}, {}, ({ type }) => (type === "facts" ? null : undefined));
  for (const windowSource of ["grown", "grown again"]) {
    host.receive({ _scene: { ...wire, windowSource }, _scene_data: data, ...plan({}) });
    await settle();
  }
  expect(requestsOf(host)).toHaveLength(1);
  host.emit("msg:custom", { type: "facts", id: requestsOf(host)[0]?.id, ...facts.list({}) });
  await settle();
  expect(requestsOf(host)).toHaveLength(2);
});

test("each compaction and the plan have a column of their own, in words as well as by shape", async () => {
  await open();
  const heads = [...find("facts-list").querySelectorAll("th")].map(cell => cell.textContent);
  expect(heads).toEqual(["fact", "kind", "in ◆1", "this plan", "turn"]);
  const cells = [...(rows()[0]?.closest("tr")?.children ?? [])].map(cell => cell.textContent);
  expect(cells).toEqual([
    lost.form,
    KIND_NAMES[lost.sort],
    "■ absent",
    "■ absent",
    String(lost.lastTurn + 1),
  ]);
});

test("missing is red, undecided amber, unknown grey, each with words of its own", async () => {
  await open();
  const looks = new Map<string, string>();
  for (const { name, colour } of OUTCOMES) {
    find(`facts-${name}`).click();
    await settle();
    await settle();
    const cell = rows()[0]?.closest("tr")?.querySelector("td:nth-last-child(2) > span");
    expect(cell?.textContent).toContain(TRAITS[name].label);
    expect(cell?.getAttribute("title")).toBe(TRAITS[name].sentence);
    expect(cell?.className).toBe({ red: "ci-bad", amber: "ci-unsure", grey: "ci-quiet", green: "" }[colour]);
    looks.set(name, cell?.querySelector("i")?.textContent ?? "");
    find("facts-Outcome").click();
    await settle();
  }
  // The sign next to a filter is the sign in the rows that it finds.
  expect(Object.fromEntries(looks)).toEqual(
    Object.fromEntries(OUTCOMES.map(({ name }) => [name, TRAITS[name].sign])),
  );
});

test("of many facts few exist, and more come when they are asked for", async () => {
  const many = inventFacts(blocks, 3000);
  const host = await open({}, {}, message => many.answer(message));
  expect(rows()).toHaveLength(40);
  expect(document.querySelectorAll(".ci *").length).toBeLessThan(3000);
  const more = () =>
    [...find("facts").querySelectorAll("button")].find(b => /^Show/.test(b.textContent ?? ""));
  more()?.click();
  await settle();
  expect(requestsOf(host).map(({ from }) => from)).toEqual([0, PAGE]);
  expect(rows()).toHaveLength(240);
  expect(rows().at(-1)?.textContent).toContain(many.list({ from: 239, to: 240 }).rows[0]?.form);
});

test("f goes to the search, the query is Python's to match, arrows and Enter open a story", async () => {
  const host = await open({ tab: "blocks" });
  press("f", document.querySelector(".ci") as Element);
  await settle();
  const input = find("facts-search") as HTMLInputElement;
  expect(document.activeElement).toBe(input);
  input.value = "state";
  input.dispatchEvent(new Event("input"));
  await settle(260);
  expect(requestsOf(host).at(-1)?.query).toBe("state");
  press("ArrowDown", input);
  expect(document.activeElement).toBe(rows()[0]);
  press("ArrowDown", rows()[0]!);
  expect(document.activeElement).toBe(rows()[1]);
  rows()[1]?.click();
  await settle();
  const second = facts.list({ query: "state" }).rows[1];
  expect(find("story-title").textContent).toBe(second?.form);
  expect(rows()[1]?.getAttribute("aria-current")).toBe("true");
  press("Enter", input);
  await settle();
  expect(find("story-title").textContent).toBe(facts.list({ query: "state" }).rows[0]?.form);
});

test("things needed again are listed in words, whichever tab is open", async () => {
  await open();
  const marks = find("again-marks");
  expect([marks.hidden, marks.getAttribute("role")]).toEqual([false, "img"]);
  expect(marks.getAttribute("aria-label")).toBe("Needed again 6 times. Cache rebuilt 0 times.");
  rows()[0]?.click();
  await settle();
  find("tab-blocks").click();
  await settle();
  expect(marks.hidden).toBe(false);
});

test("kind and outcome filter, and each choice says how many it leaves", async () => {
  const host = await open();
  const files = facts.list({}).kinds[0]!;
  expect(find("facts-file").textContent).toBe(`files${files.total}`);
  find("facts-file").click();
  await settle();
  expect(find("facts-absent").textContent).toBe(`■ absent${files.outcomes.absent}`);
  find("facts-absent").click();
  await settle();
  expect(requestsOf(host).at(-1)).toMatchObject({ kind: "file", outcome: "absent", from: 0 });
  expect(find("facts-absent").getAttribute("aria-pressed")).toBe("true");
  find("facts-Outcome").click();
  await settle();
  expect(requestsOf(host).at(-1)).toMatchObject({ kind: "file", outcome: "" });
});

test("a page without a kernel has the tab, and its list is asked for once", async () => {
  const host = await open({}, { needsKernel: "This page has no kernel." });
  expect(find("tab-facts").getAttribute("aria-selected")).toBe("true");
  expect(requestsOf(host)).toHaveLength(1);
});

test("an error is shown, and the request can be repeated", async () => {
  let broken = true;
  const host = await open({}, {}, ({ type }) =>
    type === "facts" && broken ? { type: "error", sentence: "It was stopped." } : undefined,
  );
  expect(find("facts-note").textContent).toBe("It was stopped.");
  expect(requestsOf(host)).toHaveLength(1);
  broken = false;
  [...find("facts").querySelectorAll("button")]
    .find(({ textContent }) => textContent === "try again")
    ?.click();
  await settle();
  expect(requestsOf(host)).toHaveLength(2);
  expect(rows().length).toBeGreaterThan(0);
});

test("a fact is text, whatever it holds", async () => {
  const evil = "<img src=x onerror=alert(1)>";
  await open({}, {}, message => {
    if (message.type !== "facts") return undefined;
    const reply: Omit<FactsReply, "type" | "id"> = facts.list(
      message as unknown as Partial<Omit<FactsReply, "type">>,
    );
    return { type: "facts", ...reply, rows: reply.rows.map(row => ({ ...row, title: evil, form: evil })) };
  });
  expect(rows()[0]?.textContent).toContain(evil);
  expect(document.querySelector(".ci img")).toBeNull();
});

test("the nearest of several marks is described", () => {
  const marks = [10, 14, 40].map(step => ({ ...facts.regret().marks[0]!, step, sentence: `at ${step}` }));
  const tracing = {
    ...NO_TRACING,
    regret: {
      type: "regret",
      id: "",
      marks,
      tokens: 0,
      price: "",
      sentence: "",
      rebuilds: [{ step: 31, sentence: "built" }],
    },
  };
  const viewState = { tracing, tab: "facts" } as unknown as ViewState;
  expect([12, 13, 15, 25].map(step => paidNear(viewState, step, 5))).toEqual([
    ["at 10"],
    ["at 14"],
    ["at 14"],
    [],
  ]);
  // Both are named if both are near.
  expect(paidNear(viewState, 36, 5)).toEqual(["at 40", "built"]);
});

test("another session ends the selection, and the facts are those of all its blocks", async () => {
  const host = await open({}, {}, message => (message.type === "selection" ? null : undefined));
  const hasRange = () => requestsOf(host).map(message => "rowFrom" in message);
  const shiftRight = { key: "ArrowRight", shiftKey: true, bubbles: true };
  document.querySelector(".ci-grid")?.dispatchEvent(new KeyboardEvent("keydown", shiftRight));
  await until(() => expect(hasRange()).toEqual([false, true]));
  host.receive({ _scene: { ...wire, entryIds: ["f0", "f1", "f2", "f3", "f4"] } });
  await until(() => expect(hasRange().at(-1)).toBe(false));
  expect(find("selection").closest("[hidden]")).not.toBeNull();
});
