// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { renderWorkbench } from "../src/layout/all-tabs";
import type { Traits } from "../src/payloads/host";
import { MemoryHost } from "./host";
import { SUMMARY, startWriter } from "./summary-writer";
import { settle, until } from "./wait";

const find = <T extends HTMLElement = HTMLButtonElement>(id: string) =>
  document.querySelector<T>(`[data-testid="${id}"]`) as T;
const press = (target: Element, key: string) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const panel = () => document.querySelector<HTMLElement>('[data-panel="summary"]') as HTMLElement;
const status = () => find("writing-status").textContent;
const cutLine = () => document.querySelector(".ci-cutline .ci-fate")?.textContent;
const type = (id: string, value: string) => {
  const input = find<HTMLInputElement>(id);
  input.value = value;
  input.dispatchEvent(new Event("input"));
};
const choose = async (by: string) => {
  find<HTMLInputElement>(`writer-${by}`).click();
  await settle();
};

interface Request {
  type: string;
  from: number;
  what?: string;
  by?: string;
  keep?: string[];
}

let dispose = () => {};
const start = async (changes: Partial<Traits> = {}, extra: object = {}) => {
  const kernel = startWriter(changes);
  const host = Object.assign(new MemoryHost(kernel.traits, kernel), extra);
  dispose = renderWorkbench(host, document.body);
  await settle();
  const requestsOf = (type: string) => (host.sent as Request[]).filter(message => message.type === type);
  return { host, kernel, requestsOf };
};
/** The panel, open, with a model to write. */
const open = async () => {
  const started = await start();
  find("summarise").click();
  await settle();
  await choose("model");
  return started;
};
const look = async () => {
  find("summary-look").click();
  await settle();
};
const says = (words: string) => until(() => expect(status()).toContain(words));

afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

test("the button opens the panel and focuses who writes, and so does its key", async () => {
  await start();
  expect(panel().hidden).toBe(true);
  find("summarise").click();
  await settle();
  expect([panel().hidden, document.activeElement]).toEqual([false, find("writer-extractive")]);
  (document.activeElement as HTMLElement).blur();
  press(document.querySelector(".ci") as Element, "u");
  await settle();
  expect(document.activeElement).toBe(find("writer-extractive"));
});

test("a page without a kernel has neither the form nor its button nor its key", async () => {
  const { requestsOf } = await start({}, { needsKernel: "This page has no kernel." });
  press(document.querySelector(".ci") as Element, "s");
  await settle();
  expect(find("summarise").hidden).toBe(true);
  expect([panel().hidden, requestsOf("writing"), requestsOf("sending")]).toEqual([true, [], []]);
});

test("the session's own words: one button, and every number that follows is the summary's", async () => {
  const { host } = await start();
  const standIn = cutLine();
  expect(standIn).toContain("placeholder summary");
  const before = find("gauge-after").textContent;
  find("summarise").click();
  await settle();
  expect(find("summary-note").textContent).toContain("nothing is sent");
  expect(find("summary-look").hidden).toBe(true);
  find("summary-write").click();
  await settle();
  expect(status()).toContain("Written by extractive");
  expect(find("summary-text").textContent).toBe(SUMMARY);
  expect(find("findings").textContent).toBe("The checks found nothing wrong.");
  expect(find("written").textContent).toContain("untrusted text");
  expect(cutLine()).toMatch(/^summary \d+ by extractive$/);
  expect(find("gauge-after").textContent).not.toBe(before);
  expect(host.get("_plan")).toMatchObject({ summary: { by: "extractive" } });
  find("writing-drop").click();
  await settle();
  expect([cutLine(), status()?.startsWith("Nothing is written yet.")]).toEqual([standIn, true]);
});

test("a model is sent nothing before it was looked at, and a look shows where to, how much and what", async () => {
  const { requestsOf } = await open();
  expect(find("summary-write").hidden).toBe(true);
  expect(find<HTMLInputElement>("summary-model").value).toBe("claude-sonnet-4-5");
  await look();
  expect(find("summary-write").textContent).toBe("Send 41.2k tokens to api.anthropic.com, at most $0.43");
  const preview = find("sending").textContent;
  for (const words of [
    "api.anthropic.com",
    "at most $0.43",
    "anthropic-key-1",
    "mail-1",
    "161,204 characters",
  ])
    expect(preview).toContain(words);
  expect(document.querySelector("img")).toBeNull();
  expect(requestsOf("summarise")).toEqual([]);
});

test("a moved cut, another model or another wish make the look stale, and the way back makes it good again", async () => {
  const { host } = await open();
  await look();
  const write = find("summary-write");
  press(find("cut-handle"), "ArrowLeft");
  expect(host.get("cut")).not.toBe("");
  await settle();
  expect([write.disabled, find("summary-note").textContent]).toEqual([
    true,
    "The plan has changed: look again.",
  ]);
  press(find("cut-handle"), "ArrowRight");
  await until(() => expect(write.disabled).toBe(false));
  type("summary-focus", "the names of files");
  expect([write.disabled, find("summary-note").textContent]).toEqual([
    true,
    "Your settings have changed: look again.",
  ]);
  press(find("summary-focus"), "Enter");
  await settle();
  expect(write.disabled).toBe(false);
});

test("what is left in is asked for again, and the box that was pressed keeps the focus", async () => {
  const { requestsOf } = await open();
  await look();
  const box = () => document.querySelector<HTMLInputElement>("[data-testid=leave-in]");
  box()?.focus();
  box()?.click();
  await settle();
  expect(requestsOf("sending").at(-1)?.keep).toEqual(["anthropic-key-1"]);
  expect([box()?.checked, document.activeElement]).toEqual([true, box()]);
  expect(find("sending").textContent).toContain("an API key of Anthropic");
});

test("writing streams, the button to cancel has the focus, and at its end the text has", async () => {
  const { requestsOf } = await open();
  await look();
  find("summary-write").focus();
  find("summary-write").click();
  await settle();
  expect(status()).toBe("Writing …");
  expect(document.activeElement).toBe(find("writing-cancel"));
  const percents = new Set<number>();
  await until(() => {
    percents.add(find("summary-text").textContent?.length ?? 0);
    expect(status()).toContain("Written by claude-sonnet-4-5");
  });
  expect(percents.size).toBeGreaterThan(2);
  expect(find("summary-text").textContent).toBe(SUMMARY);
  expect(document.activeElement).toBe(find("summary-text"));
  expect(find("writing-cost").textContent).toContain("$0.07");
  // The plan that its end has changed may ask who wrote it once more; then nothing asks again.
  await until(async () => {
    const asks = requestsOf("writing").length;
    await settle(400);
    expect(requestsOf("writing").length).toBe(asks);
  });
});

test("a text that begins again is shown from its beginning", async () => {
  await open();
  type("summary-focus", "again");
  await look();
  find("summary-write").click();
  await says("try 2");
  expect(SUMMARY.startsWith(find("summary-text").textContent ?? "?")).toBe(true);
  await says("Written by");
  expect(find("summary-text").textContent).toBe(SUMMARY);
});

test("cancelling keeps nothing and says so", async () => {
  const { requestsOf, host } = await open();
  await look();
  find("summary-write").focus();
  find("summary-write").click();
  await settle();
  find("writing-cancel").click();
  expect(find("writing-cancel").disabled).toBe(true);
  await says("Stopped; nothing was saved.");
  expect(requestsOf("stop")[0]?.what).toBe("summary");
  expect(find("summary-text")).toBeNull();
  expect(host.get("_plan")).toMatchObject({ summary: null });
  expect(document.activeElement).toBe(find("summary-write"));
});

test("a failure reads as a sentence and can be tried again", async () => {
  const { requestsOf } = await open();
  type("summary-focus", "fail");
  await look();
  find("summary-write").click();
  await says("overloaded");
  expect(find("writing-status").classList.contains("ci-bad")).toBe(true);
  find("writing-again").click();
  await settle();
  expect([status(), requestsOf("summarise").length]).toEqual(["Writing …", 2]);
});

test("a summary stays until another is done, and can be removed meanwhile", async () => {
  await open();
  await choose("extractive");
  find("summary-write").click();
  await settle();
  await choose("model");
  await look();
  find("summary-write").click();
  await settle();
  find("writing-cancel").click();
  await says("Stopped");
  expect(find("written-away").textContent).toMatch(/^The summary by extractive is still used: \d+ tokens\.$/);
  expect(cutLine()).toContain("by extractive");
  find("writing-drop").click();
  await settle();
  expect([cutLine()?.startsWith("placeholder summary"), find("writing-drop").hidden]).toEqual([true, true]);
});

test("if nothing can be sent there is a sentence and no button", async () => {
  await open();
  type("summary-model", "no-key");
  await look();
  expect(find("summary-note").textContent).toContain("There is no key");
  expect(find("summary-write").hidden).toBe(true);
});

test("who writes can be chosen back and forth", async () => {
  await open();
  await look();
  await choose("extractive");
  expect(find("summary-write").textContent).toBe("Summarise");
  expect([find("summary-write").hidden, find("sending").textContent]).toEqual([false, ""]);
  await choose("model");
  expect(find("summary-write").hidden).toBe(true);
});

test("the user's own text is shown as typed, with the results of the checks", async () => {
  const { host } = await open();
  await choose("pasted");
  expect(find("summary-write").disabled).toBe(true);
  type("summary-own", "## Goal\n<b>Mine</b>");
  find("summary-write").click();
  await settle();
  expect(find("summary-text").textContent).toBe("## Goal\n<b>Mine</b>");
  expect(find("findings").textContent).toContain("no section");
  expect(host.get("_plan")).toMatchObject({ summary: { by: "pasted" } });
});

test("a summary of another cut names that cut, and leads there", async () => {
  const { host } = await start();
  find("summarise").click();
  await settle();
  find("summary-write").click();
  await settle();
  const { cut } = host.get("_plan") as { cut: { id: string } };
  press(find("cut-handle"), "ArrowLeft");
  await until(() =>
    expect([find("written-away").hidden, cutLine()?.startsWith("placeholder summary")]).toEqual([
      false,
      true,
    ]),
  );
  expect(find("writing-drop").hidden).toBe(true);
  find("writing-go").click();
  await until(() =>
    expect([find("written-away").hidden, cutLine()?.startsWith("summary")]).toEqual([true, true]),
  );
  expect(host.get("cut")).toBe(cut.id);
});

test("the text at the cut is asked for again once it is written", async () => {
  await start();
  document.querySelector<HTMLElement>(".ci-cutline")?.click();
  await settle();
  const text = () => document.querySelector(".ci-fates .ci-text pre")?.textContent;
  expect(text()).toContain("shadow branch");
  find("summarise").click();
  await settle();
  find("summary-write").click();
  await until(() => expect(text()).toBe(SUMMARY));
});

test("a reload in the middle of writing finds it, and can cancel it", async () => {
  const { kernel } = await open();
  await look();
  find("summary-write").click();
  await settle();
  dispose();
  dispose = renderWorkbench(new MemoryHost(kernel.traits, kernel), document.body);
  await settle();
  await settle();
  expect([panel().hidden, status()]).toEqual([false, "Writing …"]);
  find("writing-cancel").click();
  await says("Stopped");
});

test("an answer that comes after the panel is gone changes nothing and asks nothing", async () => {
  const { host, requestsOf } = await open();
  await look();
  find("summary-write").click();
  await settle();
  dispose();
  dispose = () => {};
  const polls = requestsOf("writing").length;
  await settle(400);
  expect(requestsOf("writing").length).toBe(polls);
  expect([...host.listeners.values()].every(set => set.size === 0)).toBe(true);
});

test("a kernel that stopped answering is reported, and asked again on request", async () => {
  const { host } = await open();
  await look();
  const { send } = host;
  host.send = () => {
    throw new Error("gone");
  };
  find("summary-write").click();
  await says("The kernel has not answered");
  host.send = send;
  find("writing-again").click();
  await settle();
  expect(status()).toContain("Nothing is written yet");
});

test("a summary request that Python lost is reported, and can be repeated", async () => {
  const { host } = await open();
  await look();
  find("summary-write").click();
  await says("Writing");
  host.send({ type: "unsummarise", id: "another view" });
  await says("no longer being written");
  expect([find("writing-again").hidden, find("summary-write").disabled]).toEqual([false, false]);
  find("writing-again").click();
  await settle();
  expect(status()).toContain("Nothing is written yet");
});

test("what can no longer be left in is not ticked, and not wished for any more", async () => {
  const { host, requestsOf } = await open();
  await look();
  const { send } = host;
  host.send = message => send.call(host, { ...(message as object), keep: [] });
  document.querySelector<HTMLInputElement>("[data-testid=leave-in]")?.click();
  await settle();
  expect(document.querySelector<HTMLInputElement>("[data-testid=leave-in]")?.checked).toBe(false);
  host.send = send;
  expect(find("summary-write").disabled).toBe(false);
  find("summary-write").click();
  await says("Writing");
  expect(requestsOf("summarise").at(-1)?.keep).toEqual([]);
});

test("by keys alone: open, look, send and cancel", async () => {
  await start();
  press(document.querySelector(".ci") as Element, "s");
  await settle();
  await choose("model");
  find("summary-model").focus();
  press(find("summary-model"), "Enter");
  await settle();
  expect(find("summary-write").hidden).toBe(false);
  find("summary-write").focus();
  find("summary-write").click();
  await settle();
  expect(document.activeElement).toBe(find("writing-cancel"));
  (document.activeElement as HTMLElement).click();
  await says("Stopped");
  expect(document.activeElement).toBe(find("summary-write"));
});
