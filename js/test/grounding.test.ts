// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import type { Traits } from "../src/payloads/host";
import { close, dispose, find, open, requestsOf, type Stand, settle, wire } from "./factbench";

afterEach(close);

test("unsupported statements of a recorded summary are underlined and listed; other blocks are not checked", async () => {
  const text = "A <b>shadow</b> branch";
  const sentence = "Line 1 names the path shadow; nothing in what it summarises does.";
  const mark = { line: 1, start: 5, end: 11, words: "shadow", what: "path", sentence };
  const stand: Stand = ({ type }) => {
    if (type === "body")
      return { type, row: 0, before: { text, total: 22 }, after: null, diff: null, facts: [], other: null };
    if (type === "rows") return { type, from: 0, rows: [{ label: "summary", preview: text }] };
    return type === "grounding" ? { type, row: 0, read: true, hidden: 0, marks: [mark] } : undefined;
  };
  const show = async (changes: Partial<Traits>) => {
    const host = await open({ block: "e0/0", ...changes }, {}, stand);
    find("show-text").click();
    await settle();
    return host;
  };
  const plain = await show({});
  expect(requestsOf(plain, "grounding")).toEqual([]);
  dispose();
  const [compacted, user, ...rest] = wire.sections;
  const swapped = { ...wire, sections: [user!, compacted!, ...rest] };
  const host = await show({ _scene: swapped });
  expect(requestsOf(host, "grounding")).toHaveLength(1);
  const [pre] = document.querySelectorAll<HTMLElement>(".ci-bodies pre");
  expect(pre?.textContent).toBe(text);
  expect(
    [...(pre?.querySelectorAll("u") ?? [])].map(({ textContent, title }) => [textContent, title]),
  ).toEqual([["shadow", sentence]]);
  expect(find("grounding").textContent).toBe(sentence);
});

/** A recorded summary whose check came to this, opened in the list of blocks. */
const showSummary = async (reply: object) => {
  const stand: Stand = ({ type }) => {
    if (type === "body")
      return {
        type,
        row: 0,
        before: { text: "A shadow", total: 30000 },
        after: null,
        diff: null,
        facts: [],
        other: null,
      };
    if (type === "rows") return { type, from: 0, rows: [{ label: "summary", preview: "" }] };
    return type === "grounding" ? { type, row: 0, ...reply } : undefined;
  };
  const [compacted, user, ...rest] = wire.sections;
  await open({ block: "e0/0", _scene: { ...wire, sections: [user!, compacted!, ...rest] } }, {}, stand);
  find("show-text").click();
  await settle();
  return document.querySelector(".ci-bodies figure")?.textContent ?? "";
};

test("unsupported words behind what is shown are counted, and one may be all there is", async () => {
  const mark = { line: 1, start: 2, end: 8, words: "shadow", what: "path", sentence: "No." };
  expect(await showSummary({ read: true, whole: true, hidden: 3, marks: [mark] })).toContain(
    "3 more unsupported",
  );
  dispose();
  const text = await showSummary({ read: true, whole: true, hidden: 1, marks: [] });
  expect(text).toContain("1 unsupported in what is left out here");
  expect(text).not.toContain("occurs in the summarised messages");
});

test("a summary that could not be checked says so", async () => {
  expect(await showSummary({ read: false, whole: true, hidden: 0, marks: [] })).toContain(
    "no text that could be checked",
  );
  dispose();
  const part = await showSummary({ read: true, whole: false, hidden: 0, marks: [] });
  expect(part).toContain("Not checked: this file does not hold all that it summarises.");
  dispose();
  const text = await showSummary({ type: "error", sentence: "It was stopped." });
  expect(text).toContain("not checked: It was stopped.");
});

test("Findings lists the lines of a summary without a source apart, and counts none of them", async () => {
  const lines = ["Line 1 names the number 32; nothing in what it summarises does."];
  const stand: Stand = ({ type }) =>
    type === "findings"
      ? {
          ...{ type, look: "plan", label: "this plan", total: 0, groups: [], unchecked: "", known: true },
          ...{ sentence: "No essential fact is missing.", ungrounded: lines },
        }
      : undefined;
  await open({ tab: "findings" }, {}, stand);
  await settle();
  expect(find("ungrounded").querySelector("h3")?.textContent).toBe("Only in the summary 1");
  expect([...find("ungrounded").querySelectorAll("li")].map(line => line.textContent)).toEqual(lines);
  expect(find("tab-findings").textContent).toBe("Findings");
});
