// @vitest-environment happy-dom
/// <reference types="node" />
// What the published statements ask to be on the screen, drawn from what Python sends (tests/golden_wire.py): by hand
// that is a session under a harness that waits for /compact, and a provider that clears old outputs from its requests.
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { renderWorkbench } from "../src/layout/all-tabs";
import type { PlanPayload, RunPayload, ScenePayload } from "../src/payloads/types";
import { MemoryHost } from "./host";
import { settle } from "./wait";

const read = (name: string): [object, DataView] => {
  const file = (ending: string) =>
    readFileSync(`${import.meta.dirname}/../../tests/cases/wire/${name}.${ending}`);
  const data = file("bin");
  return [
    JSON.parse(file("json").toString("utf-8")),
    new DataView(data.buffer, data.byteOffset, data.byteLength),
  ];
};

const frames = () => settle(60);
const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`) as HTMLElement;
const says = (id: string) => find(id)?.textContent;
const isSeen = (id: string) => find(id) !== null && find(id).closest("[hidden]") === null;

let dispose = () => {};
const draw = async (prefix: "" | "manual_", changes: Partial<PlanPayload> = {}, run = false) => {
  const [[scene, _scene_data], [plan, _plan_data], [replayRun, _run_data]] = [
    read(`${prefix}scene`),
    read(`${prefix}plan`),
    read(`${prefix}run`),
  ];
  const traits = {
    ...{ _scene: scene as ScenePayload, _scene_data, _plan_data, _error: "" },
    ...{ _plan: { ...(plan as PlanPayload), ...changes }, _seq: 7 },
    ...{ cut: "", policy: (plan as PlanPayload).policy, settings: {}, at: "", replay: run },
    tab: run ? ("replay" as const) : ("blocks" as const),
    ...(run ? { _run: replayRun as RunPayload, _run_data } : { _run: {}, _run_data: null }),
  };
  const host = new MemoryHost(traits);
  dispose = renderWorkbench(host, document.body);
  await frames();
  return host;
};
const happened = async (label: string) => {
  const rows = [...document.querySelectorAll<HTMLElement>(".ci-event")];
  rows.find(row => row.querySelector(".ci-what")?.textContent === label)?.click();
  await frames();
  return Object.fromEntries(
    [...find("event-details").querySelectorAll("dt")].map(name => [
      name.textContent,
      name.nextElementSibling?.textContent,
    ]),
  );
};

afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

test("S0-3 the turn in which the requests outgrow the window is named, and gone to", async () => {
  await draw("manual_", {}, true);
  const notes = [...document.querySelectorAll<HTMLElement>(".ci-rp-notes li")];
  const above = notes.find(line => line.textContent?.includes("above window"));
  // 30 + 10 + 8 + 5 + 6 + 20 + 6 + 9 + 5 + 5 + 6 + 30 are 140, and the window has 130.
  expect(above?.textContent).toContain(
    "turn 2 above window 2 requests were larger than the window, first in turn 2",
  );
  expect(above?.closest("[hidden]")).toBeNull();
  above?.querySelector("button")?.click();
  await frames();
  expect(find("sawtooth").getAttribute("aria-valuetext")).toMatch(/^turn 2, step 6 of 8, .*sent 140/);
});

test("S0-46 S0-54 the manifest and the wire are side by side, and blocks cleared on the wire are an in-flight edit", async () => {
  await draw("manual_");
  const [manifest, wire] = [find("manifest"), find("wire")];
  // An output of 70 leaves 6 in the request; what is stored keeps it.
  expect(manifest.textContent).toBe("what is stored217 rewritten");
  expect(wire.textContent).toBe("what is sent153 in-flight edit: 1 block cleared, 64 less");
  expect([manifest.parentElement, isSeen("manifest")]).toEqual([wire.parentElement, true]);
  expect(getWidths(manifest, wire)).toEqual([217, 153].map(tokens => ((100 * tokens) / 263).toFixed(2)));
  // The dialogs separately; one of them says what exporting does.
  for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
  expect(document.body.textContent).not.toMatch(/\bsaved\b/i);
});

test("S0-46 without an edit of requests there are no two surfaces", async () => {
  await draw("");
  expect([find("manifest"), find("wire")]).toEqual([null, null]);
});

const getWidths = (...nodes: HTMLElement[]) =>
  nodes.map(node => Number.parseFloat(node.querySelector<HTMLElement>("i")?.style.width ?? "").toFixed(2));

test("S0-77 S3-11 the loss is shown by kind of block with its share, and whether it is deterministic", async () => {
  await draw("manual_");
  // Outputs: 40 are summarised and 64 of 70 cleared; 104 of 147 in all.
  expect(says("loss")).toBe(
    "tokens gone, by kindtool output 104 (71\u202f%), text 30 (20\u202f%), reasoning 8 (5\u202f%), tool call 5 (3\u202f%)",
  );
  expect(says("deterministic")).toBe("deterministicno, the summary may differ");
  expect([isSeen("loss"), isSeen("deterministic")]).toEqual([true, true]);
  dispose();
  await draw("");
  // 15 and 10 of text and 8 of reasoning are dropped, with no model.
  expect(says("loss")).toBe("tokens gone, by kindtext 25 (76\u202f%), reasoning 8 (24\u202f%)");
  expect(says("deterministic")).toBe("deterministicyes, the same each time");
});

test("S3-2 the first rewritten message is shown with the prefix before it, and can be opened", async () => {
  await draw("manual_");
  expect(says("prefix")).toBe("first rewrittenmessage 1, 30 before it stay cached");
  find("prefix").querySelector("button")?.click();
  await frames();
  // The first message opens turn 1.
  expect(says("block")).toContain("turn 1 · user");
});

test("S0-80 a context provider's text is shown with its source and when it is read", async () => {
  await draw("manual_");
  expect(says("provided")).toBe(
    "provided contextnotes 30 from project file AGENTS.md; read again for every request",
  );
  expect(isSeen("provided")).toBe(true);
});

test("the figures of a whole plan are not shown with a cut that is to be guessed", async () => {
  await draw("manual_");
  find("tab-lesson").click();
  await frames();
  find("guess-hide").click();
  await frames();
  expect(isSeen("plan-facts")).toBe(false);
});

test("S0-93 an event shows its provider, its model, its session and other details", async () => {
  await draw("manual_", {}, true);
  expect(await happened("completed")).toEqual({
    ...{ provider: "unknown", model: "nobody", correlation: "turn-3" },
    ...{ reason: "manual", willRetry: "no", calls: "1", asked: "83", written: "37", ratio: "1.615" },
    ...{ estimated: "256", "estimated after": "210", "loop turn": "0", deterministic: "no" },
    ...{ "messages before": "9", "messages after": "6", "usage input": "83", "usage output": "37" },
    "reasoning by turn": "turn 1: 1 summarised; turn 2: 1 kept",
    "for an archive": expect.stringMatching(/^\d+ entries, as they were, each once$/),
    "the user may": "/compact · /reset · continue · stop",
  });
  expect(await happened("double ran")).toMatchObject({ core: "46", wire: "64" });
});

test("S0-107 S0-124 reasoning that became text is a row of the events, marked, with its blocks", async () => {
  await draw("manual_", {}, true);
  const rows = [...document.querySelectorAll(".ci-event")].map(row => row.textContent ?? "");
  expect(rows.filter(row => row.includes("reasoning downgraded"))).toHaveLength(1);
  // Its sizes are the compaction's own.
  const sizes = /\d+ → \d+$/.exec(rows.find(row => row.includes("completed")) ?? "")?.[0];
  expect(sizes).toBeTruthy();
  expect(rows.find(row => row.includes("reasoning downgraded"))).toBe(`3!reasoning downgraded${sizes}`);
  expect(await happened("reasoning downgraded")).toMatchObject({ blocks: "1" });
  expect(says("moment")).toContain("Reasoning was given to the summariser");
});

test("S1-2 S1-11 while warned the user is offered to compact, to stop or to go on; below the threshold nothing", async () => {
  const host = await draw("manual_", {}, false);
  expect(says("offered")).toBe("/compact/resetcontinuestop");
  expect(isSeen("offered")).toBe(true);
  // Nothing is chosen by itself, however long it takes.
  await settle(400);
  expect([host.get("_seq"), isSeen("summary")]).toEqual([7, false]);
  host.receive({ cut: "m8" });
  find("offered").querySelector("button")?.click();
  await frames();
  // The cut is the policy's own again, and who writes its summary can be chosen.
  expect([host.get("cut"), isSeen("summary")]).toEqual(["", true]);
  expect(host.get("_seq")).toBe(8);
  dispose();
  await draw("");
  expect([isSeen("state"), isSeen("offered")]).toEqual([false, false]);
});

test("S2-13 the rows of dropped turns stay in the list, in grey and struck", async () => {
  await draw("");
  document.querySelector<HTMLElement>('[data-testid="fates"] [data-fold="0"]')?.click();
  await frames();
  const rows = [...document.querySelectorAll<HTMLElement>('[data-testid="fate-row"]')];
  const gone = rows.filter(row => row.classList.contains("ci-gone")).map(row => Number(row.dataset.row));
  // The recorded summary, the words and the reasoning of turn 2; its text is pinned.
  expect(gone).toEqual([0, 1, 2]);
  expect(rows.map(row => Number(row.dataset.row))).toEqual(expect.arrayContaining([0, 1, 2, 3]));
  const style = readFileSync(`${import.meta.dirname}/../src/panels/block-list/block-list.css`, "utf-8");
  expect(style).toMatch(/\.ci-gone[^{]*\{\s*color: var\(--ci-dim\);\s*text-decoration: line-through /);
});
