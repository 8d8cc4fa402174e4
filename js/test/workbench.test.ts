// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import type { Traits } from "../src/payloads/host";
import { close, dispose, draw, find, plan, scene, wire } from "./bench";
import { smallPlan, smallTraits } from "./small";
import { settle, until } from "./wait";

const frames = () => settle(60);
const press = (node: Element, key: string) =>
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const slider = () => find("cut-handle");

const open = async (changes: Partial<Traits> = {}) => {
  const host = draw(changes);
  await frames();
  return host;
};

afterEach(close);

test("the reading of both gauges comes from Python's columns", async () => {
  await open();
  expect(find("gauge-before").textContent).toBe("165 17\u202f% of 1k");
  expect(find("gauge-after").textContent).toBe("62 predicted \u2212103");
});

test("the slider says place, validity and the tokens after", async () => {
  await open();
  expect(slider().getAttribute("aria-valuenow")).toBe("3");
  expect(slider().getAttribute("aria-valuemax")).toBe("5");
  expect(slider().getAttribute("aria-valuetext")).toBe("turn 2, valid, 62 after");
});

test("if the policy makes no cut, nothing changes and the reason is shown", async () => {
  const parts = [{ text: "Plain keeps everything here.", tone: "" as const, slot: "" as const }];
  const buttons = [{ label: "place the cut myself", edit: { cut: "e3" } }];
  const sentence = { case: "idle" as const, parts, buttons, loses: false, range: "" };
  const cut = { place: 0, id: "", by: "policy" as const, sentence: "There is nothing to compact." };
  const host = await open(plan({ cut, sentence }));
  expect(find("gauge-after").textContent).toBe("165 0");
  expect(slider().getAttribute("aria-valuetext")).toBe("no cut, 165 after");
  expect(find("sentence").textContent).toBe("Plain keeps everything here.");
  [...document.querySelectorAll("button")].find(b => b.textContent === "place the cut myself")?.click();
  expect(host.get("cut")).toBe("e3");
});

test("keys move to the next valid cut at once and send it to Python with a number", async () => {
  const host = await open();
  press(slider(), "ArrowLeft");
  await frames();
  expect(slider().getAttribute("aria-valuetext")).toBe("turn 1, valid, 158 after, splits the turn");
  expect([host.get("cut"), host.get("_seq")]).toEqual(["e1", 1]);
  press(slider(), "End");
  await until(() => expect([host.get("cut"), slider().getAttribute("aria-valuenow")]).toEqual(["end", "5"]));
});

test("an answer to an older question does not move the cut back", async () => {
  const host = await open();
  press(slider(), "ArrowRight");
  await frames();
  host.receive(plan({ seq: 0 }));
  await frames();
  expect(slider().getAttribute("aria-valuenow")).toBe("4");
  host.receive(plan({ seq: 1, cut: { place: 4, id: "e4", by: "you", sentence: "Your cut." } }));
  await frames();
  expect(find("sentence").textContent).toBe("Left of the cut: 3 blocks, 35 tokens become a summary of 7.");
});

test("a cut set in Python moves the handle", async () => {
  const host = await open();
  host.receive({ cut: "e1" });
  await frames();
  expect(slider().getAttribute("aria-valuenow")).toBe("1");
});

test("the person's cut can be given back to the policy", async () => {
  const cut = { place: 4, id: "e4", by: "you" as const, sentence: "Your cut." };
  const host = await open({ cut: "e4", ...plan({ cut }) });
  const free = [...document.querySelectorAll("button")].find(
    button => button.textContent === "Reset to the policy's cut",
  );
  free?.click();
  expect(host.get("cut")).toBe("");
});

test("choosing a policy drops the settings of the old one", async () => {
  const host = await open({ settings: { "pointer.over": 60 } });
  find("policy-picker").click();
  const request = host.sent.find(message => (message as { type: string }).type === "policies") as {
    id: string;
  };
  const policies = ["plain", "other"].map(name => ({ name, title: name, source: "" }));
  const groups = [
    { id: "all", label: "all", families: policies.map(policy => ({ policies: [policy] })), note: "" },
  ];
  host.emit("msg:custom", { type: "policies", id: request.id, groups });
  await frames();
  document.querySelector<HTMLElement>("[data-testid=policy-list] [data-policy=other]")?.click();
  expect([host.get("policy"), host.get("settings")]).toEqual(["other", {}]);
});

const mark = (look: string, at: string, step: number) => ({
  ...{ step, kind: look.startsWith("rec") ? ("compact" as const) : ("micro" as const), before: 1, after: 1 },
  ...{
    source: "reported",
    trigger: "auto",
    label: "",
    look,
    at,
    name: look.startsWith("rec") ? "◆1 · turn 1" : "◇1 · turn 1",
    sign: "◆1",
  },
});

test("a compaction's button moves to the moment right before it and shows what was recorded", async () => {
  const boundaries = [mark("recorded:1", "m0", 1), mark("cleared:1", "m1", 1)];
  const host = await open({ _scene: { ...wire, boundaries } });
  const button = [...document.querySelectorAll<HTMLButtonElement>(".ci-mark")];
  expect(button.map(entry => entry.getAttribute("aria-label"))).toEqual([
    "Show ◆1 · turn 1",
    "Show ◇1 · turn 1",
  ]);
  expect(button[0]?.getAttribute("aria-pressed")).toBe("false");
  button[0]?.click();
  expect([host.get("at"), host.get("cut"), host.get("look"), host.get("_seq")]).toEqual([
    ...["m0", "", "recorded:1", 1],
  ]);
});

test("what is recorded and the plan are two sides of one scene, and who edits looks at the plan", async () => {
  const recorded = smallPlan(scene, {
    ...{ policy: "recorded", label: "◆1 recorded", look: "recorded:1", after: { total: 40, sections: [] } },
    cut: { place: 5, id: "end", by: "file", sentence: "" },
  });
  const host = await open({
    ...{ look: "recorded:1", _recorded: recorded.wire, _recorded_data: recorded.data },
  });
  const sides = () => [...find("look").querySelectorAll("button")];
  expect(sides().map(side => [side.textContent, side.getAttribute("aria-pressed")])).toEqual([
    ["◆1 recorded", "true"],
    ["Plan", "false"],
  ]);
  expect(slider().getAttribute("aria-valuenow")).toBe("5");
  sides()[1]?.click();
  await frames();
  expect(slider().getAttribute("aria-valuenow")).toBe("3");
  expect(host.get("look")).toBe("plan");
  sides()[0]?.click();
  await frames();
  press(slider(), "ArrowLeft");
  await frames();
  expect([slider().getAttribute("aria-valuenow"), sides()[1]?.getAttribute("aria-pressed")]).toEqual([
    ...["4", "true"],
  ]);
});

test("a chosen block shows its outcome and why no cut is valid before it", async () => {
  const host = await open();
  (document.querySelector('[data-row="2"]') as HTMLElement).click();
  await frames();
  expect(find("block").textContent).toContain("turn 1 · tool output");
  expect(find("block").textContent).toContain("rule 1, pointers");
  expect(find("block").textContent).toContain("An output would stand without its call.");
  expect(host.sent).toContainEqual(expect.objectContaining({ type: "body", row: 2 }));
});

test("a block is pinned by its entry and its index in it, if the host has pins", async () => {
  const host = await open({ pins: ["e9/0"] });
  (document.querySelector('[data-row="2"]') as HTMLElement).click();
  await frames();
  find("pin").click();
  expect([host.get("pins"), host.get("_seq")]).toEqual([["e9/0", "e2/0"], 1]);
});

test("a host without pins offers none", async () => {
  await open({ pins: undefined });
  (document.querySelector('[data-row="2"]') as HTMLElement).click();
  await frames();
  expect(find("pin")).toBeNull();
});

test("arrow keys on the lanes walk the bars, and the chosen block follows", async () => {
  await open();
  const grid = document.querySelector('[role="grid"]') as HTMLElement;
  press(grid, "ArrowRight");
  await frames();
  expect(document.querySelector('[role="gridcell"]')?.textContent).toBe("turn 1, user, 10 → 0 summarised");
  press(grid, "ArrowDown");
  await frames();
  expect(find("block").textContent).toContain("turn 1 · tool output");
});

test("text of a transcript stays text", async () => {
  const host = await open();
  const evil = '<img src="x" onerror="alert(1)">';
  const request = host.sent.find(message => (message as { type: string }).type === "rows") as { id: string };
  host.emit("msg:custom", {
    type: "rows",
    id: request.id,
    from: 0,
    rows: Array(5).fill({ label: evil, preview: evil }),
  });
  await frames();
  expect(find("fates").textContent).toContain(evil);
  expect(document.querySelector("img")).toBeNull();
});

test("an opened row shows both texts and says what is left out", async () => {
  const host = await open();
  const row = () => document.querySelector('[data-row="2"]') as HTMLElement;
  row().click();
  await frames();
  row().click();
  const request = host.sent.filter(message => (message as { type: string }).type === "body") as {
    id: string;
  }[];
  const body = {
    type: "body",
    row: 2,
    before: { text: "long", total: 400 },
    after: { text: "short", total: 5 },
    diff: null,
    facts: [],
    other: null,
  };
  for (const { id } of request) host.emit("msg:custom", { ...body, id });
  await frames();
  expect([...document.querySelectorAll("pre")].map(pre => pre.textContent)).toEqual(["long", "short"]);
  expect(find("fates").textContent).toContain("396 characters are left out here.");
});

test("before anything is sent it says that it loads", async () => {
  await open({ _scene: {}, _plan: {} });
  expect(document.body.textContent).toContain("Reading the session");
});

test("an error of Python is shown as its sentence, with or without a picture", async () => {
  const host = await open({ _scene: {}, _plan: {}, _error: "notes.txt is no transcript." });
  expect(find("error").textContent).toBe("notes.txt is no transcript.");
  host.receive({ ...smallTraits() });
  await frames();
  expect((find("error").parentElement as HTMLElement).hidden).toBe(true);
  press(slider(), "ArrowRight");
  host.receive({ _error: "e4 is no legal cut." });
  await frames();
  expect(find("error").textContent).toBe("e4 is no legal cut.");
  expect(slider().getAttribute("aria-valuenow")).toBe("3");
});

test("bytes that do not fit become a sentence too", async () => {
  await open({ _scene_data: new DataView(new ArrayBuffer(8)) });
  expect(find("error").textContent).toMatch(/does not fit/);
});

test("recipe and notices are shown as they came", async () => {
  await open();
  expect(find("recipe").textContent).toContain('make_plan(session, "plain")');
  expect(find("notices").textContent).toBe("1 record is unknown");
});

test("leaving removes every listener and every node", async () => {
  const host = await open();
  dispose();
  expect([...host.listeners.values()].every(set => set.size === 0)).toBe(true);
  expect(document.body.children.length).toBe(0);
});

test("S2-41 from a warning on the gauge shows mark, words and tone, and below it nothing", async () => {
  const state = { id: "warning", label: "warning (WARNED)", mark: "△", tone: "yellow" };
  const host = await open(plan({ state: { ...state, banner: "82 % of the window is used. Run /compact." } }));
  expect(find("state").hidden).toBe(false);
  expect(find("state").textContent).toBe("△ warning (WARNED) 82 % of the window is used. Run /compact.");
  expect(find("state").querySelector(".ci-tone-yellow")).not.toBeNull();
  host.receive(plan({ state: { ...state, id: "normal", banner: null } }));
  await frames();
  expect(find("state")).toBeNull();
});

test("S0-111 S0-115 a summary is escaped text next to its details", async () => {
  const host = await open();
  const evil = "<img src=x onerror=alert(1)>";
  document.querySelector<HTMLElement>(".ci-cutline")?.click();
  await frames();
  const request = host.sent.find(message => (message as { type: string }).type === "summary") as {
    id: string;
  };
  host.emit("msg:custom", {
    type: "summary",
    id: request.id,
    place: 3,
    text: evil,
    total: 28,
    facts: [["trust", evil]],
  });
  await frames();
  expect(document.querySelector("figure pre")?.textContent).toBe(evil);
  expect(find("known").textContent).toBe(`trust${evil}`);
  expect(document.querySelector("img")).toBeNull();
});

test("S0-70 a stretch that follows a model's summary is marked and says so", async () => {
  const segments = scene.segments.map((segment, i) => ({ ...segment, note: i ? "downstream of e2" : "" }));
  await open({ _scene: { ...wire, segments, boundaries: [mark("recorded:1", "m0", 1)] } });
  expect(find("overview-key").textContent).toContain("after a summary");
  expect(document.querySelector(".ci-mark")?.getAttribute("title")).toContain("downstream of e2");
});

test("Escape takes a drag back for good: a hand that is still down moves nothing, and nothing is there to undo", async () => {
  const host = await open({ ...plan({ seq: 0 }) });
  const grip = slider();
  Object.assign(grip, { setPointerCapture() {}, releasePointerCapture() {} });
  const point = (type: string, clientX: number) =>
    grip.dispatchEvent(
      new PointerEvent(type, { button: 0, buttons: 1, pointerId: 1, clientX, bubbles: true }),
    );
  const before = grip.getAttribute("aria-valuenow");
  point("pointerdown", 0);
  point("pointermove", 5000);
  await frames();
  expect(grip.getAttribute("aria-valuenow")).not.toBe(before);
  press(grip, "Escape");
  await frames();
  expect(grip.getAttribute("aria-valuenow")).toBe(before);
  expect(host.get("cut")).toBe("");
  point("pointermove", 4000);
  point("lostpointercapture", 4000);
  await frames();
  expect(grip.getAttribute("aria-valuenow")).toBe(before);
  expect(find("undo")).toHaveProperty("disabled", true);
});

test("the table of compactions has one stop of the tab key, also if its filter hides the chosen row", async () => {
  const manual = { ...mark("recorded:1", "m0", 1), trigger: "manual" };
  const auto = { ...mark("recorded:2", "m1", 1), trigger: "auto" };
  await open({ tab: "compactions", look: "recorded:1", _scene: { ...wire, boundaries: [manual, auto] } });
  const stops = () =>
    [...document.querySelectorAll<HTMLElement>('[data-testid="compaction"]')].flatMap(row =>
      row.tabIndex === 0 ? [row.dataset.look] : [],
    );
  expect(stops()).toEqual(["recorded:1"]);
  find("compactions-auto").click();
  await until(() => expect(stops()).toEqual(["recorded:2"]));
});

test("a filter that no compaction passes says so instead of a bare head", async () => {
  const byHand = ["m0", "m1"].map((id, i) => ({ ...mark(`recorded:${i + 1}`, id, 1), trigger: "manual" }));
  await open({ tab: "compactions", look: "recorded:1", _scene: { ...wire, boundaries: byHand } });
  find("compactions-auto").click();
  await until(() => expect(find("compaction-table").textContent).toContain("None of them is automatic."));
  expect(find("compaction-table").querySelector("table")?.hidden).toBe(true);
});
