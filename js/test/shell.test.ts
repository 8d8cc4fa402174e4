// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { KEYS } from "../src/layout/key-table";
import type { Traits } from "../src/payloads/host";
import type { LessonReply, SearchHit } from "../src/payloads/types";
import { close, dispose, draw, find, plan, wire } from "./bench";
import type { MemoryHost } from "./host";
import { smallPlayed } from "./small";
import { settle, until } from "./wait";

const frames = (time = 60) => settle(time);
const root = () => document.querySelector(".ci") as HTMLElement;
const slider = () => find("cut-handle");
const press = (key: string, options: KeyboardEventInit = {}, target: Element = root()) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  target.dispatchEvent(event);
  return event;
};

const open = async (changes: Partial<Traits> = {}, extra: object = {}) => {
  const host = draw(changes, extra);
  await frames();
  return host;
};
const answer = async (host: MemoryHost, type: string, reply: object) => {
  const request = host.sent.filter(message => (message as { type: string }).type === type).at(-1) as {
    id: string;
  };
  host.emit("msg:custom", { type, ...reply, id: request.id });
  await frames();
};
const panels = () =>
  [...document.querySelectorAll<HTMLElement>("[data-panel]")]
    .filter(panel => !panel.hidden)
    .map(panel => panel.dataset.panel);

afterEach(close);

test("a tab opens by hand, by its number and from Python, and the picture above stays", async () => {
  const host = await open();
  expect(find("tab-blocks").getAttribute("aria-selected")).toBe("true");
  find("tab-lesson").click();
  await frames();
  expect([host.get("tab"), host.saves]).toEqual(["lesson", 1]);
  expect(panels()).toEqual(["lesson"]);
  press("8");
  await frames();
  expect([host.get("tab"), panels()]).toEqual(["rules", ["rules"]]);
  host.receive({ tab: "blocks" });
  await frames();
  expect([find("tab-blocks").getAttribute("aria-selected"), panels()]).toEqual(["true", ["blocks"]]);
  expect(host.get("_seq")).toBe(0);
});

test("the tabs are one stop, and arrows go round among them", async () => {
  const host = await open();
  press("ArrowRight", {}, find("tab-lesson"));
  expect(host.get("tab")).toBe("blocks");
  find("tab-lesson").focus();
  press("ArrowLeft", {}, find("tab-lesson"));
  await frames();
  expect([host.get("tab"), document.activeElement]).toEqual(["rules", find("tab-rules")]);
  const stops = [...document.querySelectorAll<HTMLElement>('[role="tab"]')].filter(tab => tab.tabIndex === 0);
  expect(stops).toEqual([find("tab-rules")]);
  expect(find("tab-rules").getAttribute("aria-controls")).toBe(
    document.querySelector('[data-panel="rules"]')?.id,
  );
});

test("every key has its words in the help, and no key has two meanings", async () => {
  await open();
  press("?");
  const help = find("help") as HTMLDialogElement;
  expect(help.open).toBe(true);
  for (const { help: words } of KEYS) expect(help.textContent).toContain(words);
  const all = KEYS.flatMap(({ keys }) => keys);
  expect(new Set(all).size).toBe(all.length);
  press("?", {}, help);
  expect(help.open).toBe(false);
});

test("keys do nothing while someone types, and none with alt", async () => {
  const host = await open();
  press("9", {}, find("search"));
  press("9", { altKey: true });
  expect(host.get("tab")).toBe("blocks");
  expect(press("9").defaultPrevented).toBe(true);
  expect(host.get("tab")).toBe("lesson");
  expect(press("F5").defaultPrevented).toBe(false);
});

test("j and k go from turn to turn, Enter opens the text and p pins", async () => {
  const host = await open();
  press("j");
  press("j");
  await frames();
  expect(find("block").textContent).toContain("turn 2 · user");
  press("k");
  await frames();
  expect(find("block").textContent).toContain("turn 1 · user");
  press("p");
  expect(host.get("pins")).toEqual(["e0/0"]);
  press("p");
  expect(host.get("pins")).toEqual([]);
  press("Enter");
  await frames();
  expect(document.querySelector('[data-row="0"]')?.getAttribute("aria-expanded")).toBe("true");
});

test("brackets go from one recorded compaction to the next", async () => {
  const host = await open();
  press("]");
  expect(host.get("_seq")).toBe(0);
  press("[");
  expect([host.get("at"), host.get("_seq")]).toEqual(["m0", 1]);
});

test("arrows away from the cut take it and move it; on the search box they do not", async () => {
  const host = await open();
  press("ArrowLeft");
  await frames();
  expect(document.activeElement).toBe(slider());
  expect([slider().getAttribute("aria-valuenow"), host.get("cut")]).toEqual(["1", "e1"]);
});

test("undo and redo take back edits by hand and from Python, and say which", async () => {
  const host = await open();
  expect((find("undo") as HTMLButtonElement).disabled).toBe(true);
  press("p");
  press("j");
  await frames();
  press("p");
  host.receive(plan({ seq: 1, pins: ["e0/0"] }));
  await frames();
  expect(find("undo").title).toBe("Undo the change of a pin (z)");
  host.receive({ policy: "other" });
  host.receive(plan({ seq: 1, policy: "other" }));
  await frames();
  expect(find("undo").title).toBe("Undo the change of the policy (z)");
  press("z", { ctrlKey: true });
  await frames();
  expect([host.get("policy"), host.get("pins")]).toEqual(["plain", ["e0/0"]]);
  press("z");
  await frames();
  expect(host.get("pins")).toEqual([]);
  press("Z", { shiftKey: true });
  await frames();
  expect(host.get("pins")).toEqual(["e0/0"]);
  find("redo").click();
  expect(host.get("policy")).toBe("other");
});

test("an edit that Python refuses is no step", async () => {
  const host = await open();
  press("j");
  await frames();
  press("p");
  host.receive({ pins: [], _error: "e0 cannot be pinned." });
  await frames();
  expect((find("undo") as HTMLButtonElement).disabled).toBe(true);
});

test("keys that move the cut without a pause are one step", async () => {
  const host = await open();
  press("ArrowRight", {}, slider());
  press("ArrowRight", {}, slider());
  await until(() => expect(host.get("cut")).toBe("end"));
  host.receive(plan({ seq: host.get("_seq"), cut: { place: 5, id: "end", by: "you", sentence: "" } }));
  await frames();
  press("z");
  await frames();
  expect(host.get("cut")).toBe("");
  expect((find("undo") as HTMLButtonElement).disabled).toBe(true);
});

const hit = (ref: string, changes: Partial<SearchHit> = {}): SearchHit => ({
  ...{ ref, row: 0, at: "", turn: 0, label: "user text", preview: "open <b>door</b> now", spans: [8, 12] },
  ...changes,
});

/** The groups of a reply that found nothing but blocks. */
const reply = (...hits: SearchHit[]) => ({ hits, facts: [], turns: [] });

test("what is searched for is asked of Python, listed as text and marked", async () => {
  const host = await open();
  press("/");
  expect(document.activeElement).toBe(find("search"));
  const input = find("search") as HTMLInputElement;
  input.value = "door";
  press("Enter", {}, input);
  await frames();
  expect(find("found-note").textContent).toBe("Searching …");
  await answer(host, "search", {
    query: "door",
    total: 2,
    ...reply(hit("e0/0"), hit("e3/0", { row: 3, turn: 1 })),
  });
  expect(find("found").hidden).toBe(false);
  expect([...document.querySelectorAll("mark")].map(mark => mark.textContent)).toEqual(["door", "door"]);
  expect(find("found").querySelector("b b, [role=option] > span b")).toBeNull();
  press("ArrowDown", {}, input);
  press("ArrowDown", {}, input);
  expect(input.getAttribute("aria-activedescendant")).toBe(
    document.querySelector('[role="option"][aria-selected="true"]')?.id,
  );
  press("Enter", {}, input);
  await frames();
  expect(find("block").textContent).toContain("turn 2 · user");
  press("n");
  await frames();
  expect(find("block").textContent).toContain("turn 1 · user");
  press("Escape", {}, input);
  await frames();
  expect([input.value, document.querySelector(".ci-hit")]).toEqual(["", null]);
});

test("a hit in another stretch moves there first and is shown when it has come", async () => {
  const host = await open({ tab: "facts" });
  const input = find("search") as HTMLInputElement;
  input.value = "door";
  press("Enter", {}, input);
  await answer(host, "search", { query: "door", total: 1, ...reply(hit("x1/0", { row: -1, at: "m0" })) });
  expect(find("found").textContent).toContain("stretch 1");
  press("Enter", {}, input);
  expect([host.get("at"), host.get("_seq")]).toEqual(["m0", 1]);
  const moved = { ...wire, entryIds: ["x0", "x1", "x2", "x3", "x4"] };
  host.receive({
    _scene: moved,
    ...plan({ seq: 1, cut: { place: 3, id: "x3", by: "policy", sentence: "" } }),
  });
  await frames(300);
  expect(find("block").textContent).toContain("turn 1 · tool call");
  expect(host.get("block")).toBe("x1/0");
});

test("a search without results names the searched parts", async () => {
  const host = await open({ tab: "facts" });
  const input = find("search") as HTMLInputElement;
  input.value = "nowhere";
  press("Enter", {}, input);
  await answer(host, "search", { query: "nowhere", total: 0, ...reply() });
  expect(find("found-note").textContent).toContain("“nowhere” does not occur anywhere in this session");
  dispose();
  const page = await open({ tab: "blocks" }, { needsKernel: "This page has no kernel." });
  (find("search") as HTMLInputElement).value = "door";
  press("Enter", {}, find("search"));
  await answer(page, "search", { query: "door", total: 0, ...reply() });
  expect(find("found-note").textContent).toBe(
    "“door” does not occur in the blocks and facts of this context.",
  );
});

test("the selected block is sent to Python, and one set there is shown", async () => {
  const host = await open();
  press("j");
  await frames(300);
  expect([host.get("block"), host.get("_seq")]).toEqual(["e0/0", 0]);
  host.receive({ block: "e4/0" });
  await frames();
  expect(find("block").textContent).toContain("turn 2 · assistant");
});

test("a block of another moment is located by its name", async () => {
  const host = await open();
  host.receive({ block: "x1/0" });
  await frames();
  expect(host.sent).toContainEqual(expect.objectContaining({ type: "search", query: "x1/0" }));
  await answer(host, "search", { query: "x1/0", total: 1, ...reply(hit("x1/0", { row: -1, at: "m0" })) });
  expect(host.get("at")).toBe("m0");
});

test("a link is the host's address of the block, or the Python that opens it, and is announced", async () => {
  const written: string[] = [];
  vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => written.push(text) } });
  await open();
  press("y");
  await frames();
  expect(find("said").textContent).toContain("Choose a block first");
  press("j");
  press("y");
  await frames();
  expect(find("said").textContent).toBe('Copied: wb.block = "e0/0"');
  dispose();
  await open({}, { linkTo: (ref: string) => `https://lab/doc#${ref}` });
  press("j");
  press("y");
  await frames();
  expect(written).toEqual(['wb.block = "e0/0"', "https://lab/doc#e0/0"]);
  vi.unstubAllGlobals();
});

test("b holds the plan as B and lets it go", async () => {
  const host = await open({ settings: { "pointer.over": 60 }, pins: ["e0/0"] });
  press("b");
  expect(host.get("versus")).toEqual({ policy: "plain", settings: { "pointer.over": 60 }, pins: ["e0/0"] });
  press("b");
  expect(host.get("versus")).toEqual({});
});

test("Python's work is shown before the first drawing, and can be stopped", async () => {
  const host = await open({
    _scene: {},
    _plan: {},
    _work: { what: "Counting tokens", done: null, stoppable: true },
  });
  expect(find("work").hidden).toBe(false);
  const bar = find("work").querySelector('[role="progressbar"]') as HTMLElement;
  expect([bar.getAttribute("aria-label"), bar.getAttribute("aria-valuenow")]).toEqual([
    "Counting tokens",
    null,
  ]);
  host.receive({ _work: { what: "Counting tokens", done: 0.5, stoppable: true } });
  expect(bar.getAttribute("aria-valuenow")).toBe("50");
  find("stop").click();
  expect(host.sent.at(-1)).toMatchObject({ type: "stop" });
  expect((find("stop") as HTMLButtonElement).disabled).toBe(true);
  host.receive({ _work: { what: "Replaying the session", done: null, stoppable: true } });
  expect((find("stop") as HTMLButtonElement).disabled).toBe(false);
  host.receive({ _work: {} });
  expect(find("work").hidden).toBe(true);
});

const lesson = (place: number): Partial<LessonReply> => ({
  place,
  steps: [
    {
      ...{
        rule: 0,
        title: "pointers",
        sentence: "outputs become pointers",
        blocks: 1,
        before: 165,
        after: 72,
      },
      ...{ sections: [0, 30, 30, 5, 7], summary: 0, marks: [2] },
    },
    {
      ...{ rule: 1, title: "summary", sentence: "older turns are gone", blocks: 2, before: 72, after: 62 },
      ...{ sections: [5, 20, 30, 0, 7], summary: 5, marks: [0, 1] },
    },
  ],
  played: smallPlayed,
});

test("the policy is played rule by rule, and the whole picture goes along", async () => {
  const host = await open({ tab: "lesson" });
  press(".");
  press(".");
  await answer(host, "lesson", lesson(3));
  expect(find("play-at").textContent).toContain("1 of 2"); // a key pressed while the lesson comes counts
  press(",");
  await frames();
  expect(find("gauge-after").textContent).toBe("165 0");
  press(".");
  await frames();
  expect(find("gauge-after").textContent).toContain("72");
  expect(find("play-at").textContent).toBe("1 of 2: pointers, 1 block, 72 left.");
  expect(document.querySelector('[aria-current="step"]')?.textContent).toContain("outputs become pointers");
  find("play-next").click();
  await frames();
  expect(find("gauge-after").textContent).toContain("62");
  press(",");
  await frames();
  expect(find("gauge-after").textContent).toContain("72");
  press("ArrowRight", {}, slider());
  await frames();
  expect(find("gauge-after").textContent).toContain("44");
  expect(find("play-start")).not.toBeNull();
});

test("a lesson of another policy is not played over this one", async () => {
  const host = await open({ tab: "lesson" });
  press(".");
  await frames();
  host.set("settings", { "pointer.over": 9 });
  await answer(host, "lesson", lesson(3));
  expect(find("play-start")).not.toBeNull();
  press(".");
  await answer(host, "lesson", lesson(3));
  expect(find("play-at").textContent).toContain("Nothing is decided yet");
});

test("a guess hides the policy's cut, stays out of Python, and is compared with it", async () => {
  const host = await open({ tab: "lesson" });
  press("g");
  await frames();
  expect(document.body.textContent).not.toContain("Left of the cut: 2 blocks");
  press("End", {}, slider());
  press("ArrowLeft", {}, slider());
  press("PageUp", {}, slider());
  press("Home", {}, slider());
  await frames();
  expect([slider().getAttribute("aria-valuenow"), host.get("cut"), host.get("_seq")]).toEqual(["1", "", 0]);
  press("g");
  await frames();
  expect(find("verdict").textContent).toBe("1 turn too early, 96 tokens more left.");
  expect(slider().getAttribute("aria-valuenow")).toBe("3");
  expect(document.body.textContent).toContain("Left of the cut: 2 blocks");
});

test("standing on an invalid cut point in Teach shows the pair and the provider's answer", async () => {
  const host = await open({ tab: "lesson" });
  slider().focus();
  press("ArrowLeft", { shiftKey: true }, slider());
  await frames();
  expect(slider().getAttribute("aria-valuenow")).toBe("3");
  const entry = (row: number, label: string) => ({ row, turn: 0, label });
  const pairs = [{ call: entry(1, "Read(a.py)"), output: entry(2, "output") }];
  const refusal = { error: "400: unexpected tool_use_id", sentence: "", pairs, more: 0 };
  await answer(host, "lesson", { place: 2, steps: [], played: [], refusal });
  expect(find("broken").textContent).toContain("An output would stand without its call.");
  expect(find("broken").textContent).toContain("Read(a.py)");
  expect(find("refusal").textContent).toBe("400: unexpected tool_use_id");
  press("ArrowLeft", { shiftKey: true }, slider());
  await frames();
  expect([find("broken").hidden, slider().getAttribute("aria-valuenow")]).toEqual([true, "1"]);
});

test("leaving takes the keys along", async () => {
  const host = await open();
  const first = root();
  dispose();
  press("8", {}, first);
  expect(host.get("tab")).toBe("blocks");
});

test("a block stays chosen when the same point in time is drawn again", async () => {
  const host = await open();
  press("j");
  press("j");
  await frames();
  host.receive({ _scene: { ...wire, unit: { short: "exact", long: "Counted." } } });
  await frames();
  expect(find("block").textContent).toContain("turn 2 · user");
  expect(find("gauge-before").title).toContain("Counter: Counted");
});

test("the keys zoom around the cut as the buttons do", async () => {
  await open();
  const zoomed = async (act: () => void) => {
    press("0");
    await frames();
    act();
    await frames();
    return document.querySelector<HTMLElement>(".ci-zoom")?.title;
  };
  const button = document.querySelector<HTMLElement>('[aria-label="Zoom in"]') as HTMLElement;
  expect(await zoomed(() => press("+"))).toBe(await zoomed(() => button.click()));
});

test("the lanes leave the browser its own zoom", async () => {
  await open();
  const grid = document.querySelector(".ci-grid") as HTMLElement;
  expect(press("-", { ctrlKey: true }, grid).defaultPrevented).toBe(false);
  expect(press("-", {}, grid).defaultPrevented).toBe(true);
});

test("plain keys never reach JupyterLab, whatever has the focus; saving does", async () => {
  await open();
  const shielded = (target: Element, key: string, options: KeyboardEventInit = {}) => {
    press(key, options, target);
    return target.hasAttribute("data-lm-suppress-shortcuts");
  };
  for (const target of [root(), slider(), find("search"), find("tab-lesson")]) {
    expect(["a", "x", "d", "M", "Escape", "Enter"].map(key => shielded(target, key))).not.toContain(false);
    expect(shielded(target, "s", { ctrlKey: true })).toBe(false);
    expect(shielded(target, "C", { ctrlKey: true, shiftKey: true })).toBe(false);
    expect(shielded(target, "z", { ctrlKey: true })).toBe(true);
  }
  press("a");
  press("s", { ctrlKey: true }, slider());
  expect(document.querySelector("[data-lm-suppress-shortcuts]")).toBeNull();
});

test("a value that Python refused itself does not swallow its next change", async () => {
  const host = await open();
  host.receive({ versus: { policy: "nope" } });
  host.receive({ versus: {}, _error: "no such policy" });
  await frames();
  host.receive({ versus: { policy: "nope" }, _error: "no such policy at all" });
  host.receive({ versus: {} });
  await frames();
  host.receive({ policy: "other" });
  host.receive(plan({ seq: 0, policy: "other" }));
  await frames();
  expect(find("undo").title).toBe("Undo the change of the policy (z)");
});

test("a file that grows is no edit, and undoing one does not leave its end", async () => {
  const host = await open({ at: "m1" });
  press("j");
  await frames();
  press("p");
  host.receive(plan({ seq: 1, pins: ["e0/0"] }));
  await frames();
  const overview = { ...wire.overview, steps: wire.overview.steps + 1 };
  const columns = wire.columns.filter(({ name }) => !name.startsWith("overview_"));
  host.receive({ at: "m2", _scene: { ...wire, overview, columns } as typeof wire });
  await frames();
  expect(find("undo").title).toBe("Undo the change of a pin (z)");
  press("z");
  expect([host.get("at"), host.get("pins")]).toEqual(["m2", []]);
});

test("a file that grows past a pin leaves nothing to undo", async () => {
  const host = await open({ at: "m1" });
  press("j");
  await frames();
  press("p");
  host.receive(plan({ seq: 1, pins: ["e0/0"] }));
  await frames();
  const overview = { ...wire.overview, steps: wire.overview.steps + 1 };
  const columns = wire.columns.filter(({ name }) => !name.startsWith("overview_"));
  const _error = "The session has grown past 1 pin that was set.";
  host.receive({ _error, at: "m2", pins: [], _scene: { ...wire, overview, columns } as typeof wire });
  await frames();
  expect(find("undo").title).toBe("Nothing to undo (z)");
});

test("a lost kernel is reported in a sentence", async () => {
  const host = await open();
  Object.assign(host, {
    send() {
      throw new Error("Cannot send");
    },
  });
  const search = find("search") as HTMLInputElement;
  search.value = "word";
  press("Enter", {}, search);
  await frames();
  expect(find("found-note").textContent).toContain("run the cell again");
});
