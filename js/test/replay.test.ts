// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import type { Traits } from "../src/payloads/host";
import { close, draw, find, scene } from "./bench";
import { SCENARIO, smallPlan, smallRun, VALUES } from "./small";
import { settle, until } from "./wait";

const frames = () => settle(60);
/** A component's own changes are drawn a moment later. */
const soon = () => settle(5);
const press = async (node: Element, key: string) => {
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await soon();
};
const events = () => [...document.querySelectorAll('[role="option"]')];
const chosen = () => events().findIndex(event => event.getAttribute("aria-selected") === "true");
const valueText = () => find("sawtooth").getAttribute("aria-valuetext");

const open = async (changes: Partial<Traits> = {}) => {
  const host = draw({ replay: false, tab: "replay", _run: {}, _run_data: null, ...changes });
  await frames();
  return host;
};
const replayed = (changes: Parameters<typeof smallRun>[0] = {}) => {
  const { wire: _run, data: _run_data } = smallRun(changes);
  return { replay: true, _run, _run_data };
};

afterEach(close);

test("the button names the policy, asks Python, and says that it is replaying until the answer is there", async () => {
  const host = await open();
  expect(find("replay-ask").textContent).toBe("Replay this session under Plain");
  find("replay-ask").click();
  await frames();
  expect([host.get("replay"), host.get("_seq")]).toEqual([true, 1]);
  expect(find("replay-status").textContent).toBe("replaying…");
  host.receive({ ...replayed({}) });
  await frames();
  expect(find("replay-status").textContent).toBe("Plain: 6 steps replayed, 1 compaction.");
  expect(find("replay-ask")).toBeNull();
});

test("a host without a replay shows nothing of it", async () => {
  await open({ replay: undefined });
  expect(find("replay").hidden).toBe(true);
});

test("a changed setting requests a new replay, and the old chart stays, marked as old", async () => {
  const host = await open(replayed());
  find("tab-rules").click();
  await frames();
  find("all-settings").click();
  const over = find("set-pointer.over") as HTMLInputElement;
  over.value = "60";
  over.dispatchEvent(new Event("change"));
  find("tab-replay").click();
  await frames();
  expect(find("replay-status").textContent).toBe("replaying…");
  expect(find("replay").getAttribute("aria-busy")).toBe("true");
  expect(find("sawtooth").closest("[hidden]")).toBeNull();
  host.receive(replayed({ statusSentence: "Another life." }));
  await frames();
  expect(find("replay-status").textContent).toBe("Plain: Another life.");
});

test("the chart says turn, step, both contexts and the state, in reach of the keyboard", async () => {
  await open(replayed());
  const saw = find("sawtooth");
  expect([saw.getAttribute("role"), saw.tabIndex, saw.getAttribute("aria-valuemax")]).toEqual([
    "slider",
    0,
    "6",
  ]);
  expect(valueText()).toBe(
    "turn 2, step 3 of 6, recorded 120, replayed 60, sent 120, 75\u202f% unchanged, auto, completed",
  );
  await press(saw, "ArrowRight");
  expect(valueText()).toBe(
    "turn 2, step 4 of 6, recorded 130, replayed 70, sent 50, 20\u202f% unchanged, normal",
  );
  await press(saw, "PageDown");
  await press(saw, "End");
  expect(find("replay-readout").textContent).toBe(
    "turn 3 · step 6 of 6 · recorded 40 · replayed 100 · normal",
  );
});

test("comma, point and the two buttons step from event to event", async () => {
  await open(replayed());
  expect([chosen(), find("replay").textContent?.includes("3 of 4")]).toEqual([2, true]);
  await press(find("sawtooth"), ".");
  expect([chosen(), valueText()?.endsWith("failed")]).toEqual([3, true]);
  expect((find("event-next") as HTMLButtonElement).disabled).toBe(true);
  await press(find("events"), ",");
  find("event-previous").click();
  await soon();
  expect(chosen()).toBe(1);
});

test("events are a list with its size, and arrows choose in it", async () => {
  await open(replayed());
  expect(find("events").getAttribute("role")).toBe("listbox");
  expect(events()[2]?.getAttribute("aria-setsize")).toBe("4");
  expect(events()[2]?.getAttribute("aria-posinset")).toBe("3");
  expect(events()[2]?.textContent).toBe("2✓completed150 → 40");
  await press(find("events"), "Home");
  expect([chosen(), find("events").getAttribute("aria-activedescendant")]).toEqual([0, events()[0]?.id]);
});

test("a chosen event shows its effect, its name, and each stage's input and output", async () => {
  await open(replayed());
  const momentText = find("moment").textContent;
  for (const part of ["completed", "named compact_boundary", "It completed.", "150 → 40 tokens"])
    expect(momentText).toContain(part);
  const rows = [...find("stage-table").querySelectorAll("tbody tr")].map(row =>
    [...row.children].map(cell => cell.textContent),
  );
  expect(rows).toEqual([
    ["snip", "150", "90", ""],
    ["auto", "90", "40", ""],
    ["reactive", "40", "", "skipped. Not needed."],
  ]);
});

test("the event's point in the session can be opened, if it has one", async () => {
  const host = await open(replayed());
  find("look").click();
  expect([host.get("at"), host.get("cut")]).toEqual(["e2", ""]);
  await press(find("sawtooth"), ".");
  expect(find("look")).toBeNull();
});

test("findings and recorded compactions are listed, and lead to their steps", async () => {
  await open(replayed());
  const [matched, recorded] = document.querySelectorAll(".ci-rp-notes li");
  expect(matched?.textContent).toBe("turn 3 no progress Nothing becomes smaller.");
  expect(recorded?.textContent).toBe("turn 3 ◆ Recorded two turns later.");
  recorded?.querySelector("button")?.click();
  await soon();
  expect(valueText()).toContain("step 5 of 6");
});

test("the states that occur are shown by mark and by name", async () => {
  await open(replayed());
  const key = find("state-legend").textContent;
  for (const state of ["○ normal", "△ warning", "↻ auto"]) expect(key).toContain(state);
});

test("where Python sent only the first events, the list says so", async () => {
  await open(replayed({ counts: { events: 9_000, findings: 3 } }));
  expect(find("replay").textContent).toContain("4 here, 9,000 in run.events");
  expect(find("replay").textContent).toContain("2 findings more in run.findings");
});

test("a replay can be closed", async () => {
  const host = await open(replayed());
  [...document.querySelectorAll("button")].find(button => button.textContent === "close")?.click();
  await frames();
  expect(host.get("replay")).toBe(false);
  expect([find("replay-ask").hidden, document.activeElement === find("replay-ask")]).toEqual([false, true]);
});

test("a replay that Python refuses is not awaited", async () => {
  const host = await open();
  find("replay-ask").click();
  host.receive({ _error: "No replay: the window is unknown.", replay: false });
  await frames();
  expect(find("replay-ask").hidden).toBe(false);
  expect(find("error").textContent).toBe("No replay: the window is unknown.");
});

test("text of a run stays text", async () => {
  const evil = '<img src="x" onerror="alert(1)">';
  const [event] = smallRun().wire.events;
  const evilEvent = {
    ...(event as NonNullable<typeof event>),
    step: 2,
    label: evil,
    sentence: evil,
    name: evil,
  };
  await open(
    replayed({
      events: [evilEvent],
      statusSentence: evil,
      source: evil,
      aboveWindow: evil,
      first: 0,
      summary: [[evil, evil]],
    }),
  );
  expect(find("moment").textContent).toContain(evil);
  expect(document.querySelector("img")).toBeNull();
});

test("a run whose bytes do not fit becomes a sentence, and the workbench stays", async () => {
  await open({ ...replayed(), _run_data: new DataView(new ArrayBuffer(4)) });
  expect(find("error").textContent).toMatch(/does not fit/);
  expect(find("gauge-before").textContent).toContain("165");
});

test("S2-12 the plan's stages are in one line between input and output, each with a look of its own", async () => {
  const skipped = { before: 62, after: 62, ran: false, sentence: "Not needed: the target was met." };
  const stages = [
    { name: "snip", before: 165, after: 90, ran: true, sentence: "", look: "stage1" },
    { name: "micro", before: 90, after: 90, ran: true, sentence: "It found nothing to do.", look: "stage2" },
    { name: "auto", before: 90, after: 62, ran: true, sentence: "", look: "stage3" },
    { name: "collapse", ...skipped, look: "stage4" },
    { name: "later", ...skipped, look: "stage5" },
    {
      name: "reactive",
      ...skipped,
      sentence: "It runs only when the reason is overflow.",
      look: "emergency",
    },
  ];
  const { wire: _plan, data: _plan_data } = smallPlan(scene, { stages });
  await open({ _plan, _plan_data });
  expect([...find("stages").children].map(part => part.textContent)).toEqual([
    "stages",
    "input 165",
    "snip → 90",
    "micro – it found nothing to do",
    "auto → 62",
    "collapse, later – not needed: the target was met",
    "reactive – it runs only when the reason is overflow",
    "output 62",
  ]);
  const looks = [...find("stages").querySelectorAll("i")].map(key => key.className.match(/ci-look-\w+/)?.[0]);
  expect(looks).toEqual(
    ["input", "stage1", "stage2", "stage3", "stage4", "stage5", "emergency", "output"].map(
      look => `ci-look-${look}`,
    ),
  );
  const marks = [...document.querySelectorAll<HTMLElement>(".ci-taken i")];
  expect(marks.map(part => part.className)).toEqual(["ci-look-output", "ci-look-stage3", "ci-look-stage1"]);
});

test("a plan without stages has no such line", async () => {
  await open();
  await until(() => expect(find("stages").closest("[hidden]")).not.toBeNull());
});

test("comma and point over a replay play no lesson", async () => {
  await open(replayed());
  const point = new KeyboardEvent("keydown", { key: ".", bubbles: true, cancelable: true });
  find("sawtooth").dispatchEvent(point);
  await soon();
  await frames();
  expect([chosen(), document.querySelector<HTMLElement>('[data-panel="lesson"]')?.hidden]).toEqual([3, true]);
});

test("a setting of the scenario is sent whole, and the picture of before is marked as old", async () => {
  const host = await open({ ...replayed(), scenario: VALUES });
  find("what-if").click();
  await frames();
  const select = find("scenario-provider") as unknown as HTMLSelectElement;
  expect([select.value, find("chosen").textContent]).toEqual(["refused", "nothing is changed from outside"]);
  select.value = "accepted";
  select.dispatchEvent(new Event("change", { bubbles: true }));
  await frames();
  const accepts = { ...VALUES, provider: "accepts" };
  expect([host.get("scenario"), host.get("_seq"), select.value]).toEqual([accepts, 1, "accepted"]);
  expect(find("replay").getAttribute("aria-busy")).toBe("true");
  // The answer to the question before is not taken for this one's.
  host.receive(replayed({ statusSentence: "Refused." }));
  await frames();
  expect(find("replay").getAttribute("aria-busy")).toBe("true");
  const without = { provider: "refuses" };
  const chosen = [{ label: "Above the window: accepted", step: -1, without }];
  host.receive(replayed({ scenario: { ...SCENARIO, values: accepts, chosen } }));
  await frames();
  expect(find("replay").hasAttribute("aria-busy")).toBe(false);
  find("chosen").querySelector("button")?.click();
  await frames();
  expect(host.get("scenario")).toEqual(VALUES);
});

test("what happens at a step is added at its turn, or at the step within the turn", async () => {
  const host = await open({ ...replayed(), scenario: VALUES });
  await press(find("sawtooth"), "Home");
  await press(find("sawtooth"), "Enter");
  await frames();
  const offers = () => [...document.querySelectorAll<HTMLElement>('[data-testid="offer"]')];
  expect(offers().map(({ textContent }) => textContent)).toEqual(["Compact", "Refuse"]);
  expect(document.activeElement).toBe(offers()[0]);
  offers()[1]?.click();
  await press(find("sawtooth"), "ArrowRight");
  offers()[0]?.click();
  await frames();
  expect(((host.get("scenario") ?? {}).acts as object[]).map(act => Object.values(act).slice(0, 2))).toEqual([
    ["turn 1", "token_overflow"],
    [expect.stringMatching(/^(turn|step) 2$/), "compact"],
  ]);
  find("scenario").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  await frames();
  expect([offers().length, document.activeElement]).toEqual([0, find("what-if")]);
});

test("without a kernel the choices are shown, and nothing can be changed", async () => {
  const chosen = [{ label: "turn 2: Compact", step: 2, without: { acts: [] } }];
  const host = await open(replayed({ scenario: { ...SCENARIO, chosen } }));
  expect(host.get("scenario")).toBeUndefined();
  expect(find("chosen").textContent).toBe("turn 2: Compact");
  expect([find("what-if"), document.querySelector('[aria-label^="Remove"]')]).toEqual([null, null]);
});

test("S2-40 a state that begins and ends within a step has its part of the band, and the legend all of them", async () => {
  const { wire } = smallRun();
  const states = wire.states.map((state, i) => ({ ...state, condition: `condition ${i}` }));
  const unused = { id: "manual", label: "manual", mark: "✎", tone: "grey", condition: "/compact" };
  const events = wire.events.map((event, i) => ({
    ...event,
    ...(i === 2 ? { entered: 0 } : { entered: 1 }),
  }));
  await open(replayed({ states: [...states, unused], events }));
  const legend = [...find("state-legend").querySelectorAll("li")].map(item => item.textContent);
  expect(legend).toEqual([
    "○ normal condition 0",
    "△ warning condition 1",
    "↻ auto condition 2",
    "✎ manual /compact",
  ]);
  // Where the reader looks: after the compaction of step 3 it is normal again.
  expect(find("state-legend").querySelector("[aria-current]")?.textContent).toContain("normal");
});

test("S1-9 the banner belongs to the chosen event, ends with its final record, and all are listed", async () => {
  const { wire } = smallRun();
  const states = wire.states.map(state => ({ ...state, actions: ["/compact", "stop"] }));
  const events = wire.events.map((event, i) => (i === 0 ? { ...event, entered: 1 } : event));
  const banners = [{ event: 0, step: 1, until: 2, sentence: "82.5 % of the window is used.", last: 2 }];
  await open(replayed({ states, events, banners }));
  expect(find("banner").textContent).toBe("No banner at this step.");
  find("banner-history").querySelector("button")?.click();
  await soon();
  expect(find("banner").textContent).toBe(
    "△ warning 82.5 % of the window is used.the user may: /compact · stop",
  );
  expect(chosen()).toBe(0);
  expect(find("banner-history").textContent).toBe("turn 1 △ 82.5 % of the window is used.");
  await press(find("sawtooth"), ".");
  expect(find("banner").textContent).toContain("82.5 %");
  await press(find("sawtooth"), ".");
  expect(find("banner").textContent).toBe("No banner at this step.");
});

test("S4-65 a recovery is drawn at each of its events: the removed leaf, the compaction, the retry", async () => {
  const nodes = [
    { kind: "leaf" as const, title: "user e1", text: "Go on.", usage: "" },
    {
      kind: "removed" as const,
      title: "failed reply e2",
      text: "<b>too long</b>",
      usage: "no usage reported",
    },
    { kind: "compaction" as const, title: "compaction", text: "150 → 40", usage: "2 summariser calls" },
    { kind: "retry" as const, title: "retry", text: "sent again", usage: "request 41" },
  ];
  await open(replayed({ recoveries: [{ nodes, first: 1, last: 2 }] }));
  const tree = [...find("recovery").querySelectorAll("li")];
  expect(tree.map(node => node.dataset.node)).toEqual(["leaf", "removed", "compaction", "retry"]);
  expect(tree[1]?.textContent).toBe(
    "✕ failed reply e2 removed from the path<b>too long</b>no usage reported",
  );
  expect(tree[1]?.querySelector("p b")).toBeNull();
  await press(find("sawtooth"), "End");
  expect(find("recovery")).toBeNull();
});
