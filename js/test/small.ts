// Two turns by hand, small enough to know every answer:
//   place     0        1           2        3        4           5
//   entry     e0 user  e1 call     e2 out   e3 user  e4 reply    end
//   turn      0        0           0        1        1
//   step      0        0           0        1        1
//   tokens    10       5           100      20       30
import { decodePlan, decodeScene, type Plan, type Scene } from "../src/model/plan";
import { decodeRun, type Run } from "../src/model/run-decode";
import type { Traits } from "../src/payloads/host";
import type { LessonReply, PlanPayload, RunEvent, RunPayload, ScenePayload } from "../src/payloads/types";
import { pack } from "./pack";

const named = (...ids: string[]) => ids.map(id => ({ id, label: id.replace("_", " ") }));

export const smallScene = (): { wire: ScenePayload; data: DataView; scene: Scene } => {
  const { columns, bytes } = pack({
    block_entry: ["i32", [0, 1, 2, 3, 4]],
    block_section: ["u8", [1, 3, 4, 1, 2]],
    block_tokens: ["i32", [10, 5, 100, 20, 30]],
    block_outside: ["i32", [0, 0, 0, 0, 0]],
    entry_step: ["i32", [0, 0, 0, 1, 1]],
    entry_turn: ["i32", [0, 0, 0, 1, 1]],
    entry_role: ["u8", [0, 1, 2, 0, 1]],
    entry_start: ["i32", [0, 1, 2, 3, 4, 5]],
    place_legal: ["u8", [0, 1, 0, 1, 1, 1]],
    place_reason: ["i32", [1, -1, 0, -1, -1, -1]],
    place_splits: ["u8", [0, 1, 0, 0, 1, 0]],
    place_starts: ["u8", [1, 1, 0, 1, 1, 0]],
    overview_reported: ["i32", [120, -1]],
    overview_estimated: ["i32", [115, 165]],
    overview_turn: ["i32", [0, 1]],
    block_pair: ["i32", [-1, 2, 1, -1, -1]],
    step_overview: ["i32", [0, 1]],
    side_lane: ["i32", [0]],
    side_step: ["i32", [1]],
    side_tokens: ["i32", [400]],
  });
  const wire: ScenePayload = {
    version: 1,
    header: {
      ...{
        title: "small",
        id: "s1",
        about: "small · s1",
        harness: "Hand 1.0",
        model: "opus",
        size: "2 turns, 2 steps",
      },
      ...{ compactions: "1 compaction", unknown: [] },
    },
    unit: { short: "words", long: "One token a word." },
    window: 1000,
    windowSource: "The test says so.",
    sections: named("compacted", "user", "assistant", "tool_call", "tool_output"),
    fates: named("verbatim", "truncated", "pointer", "summarised", "dropped", "cleared"),
    lanes: [
      { id: "user", label: "user", sections: [1] },
      { id: "tool_output", label: "tool output", sections: [4] },
    ],
    sides: [{ label: "sub 1", task: "Look around.", tokens: 400, end: "s0" }],
    entryIds: ["e0", "e1", "e2", "e3", "e4"],
    reasons: [
      { sentence: "An output would stand without its call.", error: "" },
      { sentence: "Nothing is older.", error: "" },
    ],
    segments: [
      { at: "m0", firstStep: 0, lastStep: 0, current: false, note: "" },
      { at: "", firstStep: 1, lastStep: 1, current: true, note: "" },
    ],
    boundaries: [],
    overview: { steps: 2, first: 0, last: 1 },
    policies: ["plain", "other"],
    notices: ["1 record is unknown"],
    foot: { words: "", told: "" },
    bill: {
      cost: "at least $1.50",
      sentence: "Cost by the file's usage: at least USD 1.50; the price of some requests is unknown",
      columns: ["", "requests", "tokens", "USD"],
      rows: [
        ["input", "2", "3,000", "1.5000"],
        ["unknown: compactions", "1", "?", "?"],
      ],
      notes: "opus: USD 5 in.",
    },
    columns,
  };
  return { wire, data: bytes, scene: decodeScene(wire, bytes) as Scene };
};

/** Python's words about it: numbers in slots are looked up for the place of the cut. */
const SENTENCE: PlanPayload["sentence"] = {
  case: "planned",
  parts: [
    { text: "Left of the cut: ", tone: "", slot: "" },
    { text: "2 blocks, 15 tokens", tone: "strong", slot: "left" },
    { text: " become a summary of ", tone: "", slot: "" },
    { text: "5", tone: "strong", slot: "summary" },
    { text: ".", tone: "", slot: "" },
  ],
  buttons: [],
  loses: false,
  range: "",
};

/** Older user words are summarised, older outputs become pointers of 7 tokens, everything else stays. */
export const smallPlan = (
  scene: Scene,
  changes: Partial<PlanPayload> = {},
): { wire: PlanPayload; data: DataView; plan: Plan } => {
  const { columns, bytes } = pack({
    fate_older: ["u8", [3, 3, 2, 3, 3]],
    fate_kept: ["u8", [0, 0, 0, 0, 0]],
    tokens_older: ["i32", [0, 0, 7, 0, 0]],
    tokens_kept: ["i32", [10, 5, 100, 20, 30]],
    rule_older: ["i32", [1, 1, 0, 1, 1]],
    rule_kept: ["i32", [-1, -3, -3, -2, -1]],
    after_total: ["i32", [-1, 158, -1, 62, 44, 17]],
    after_sections: [
      "i32",
      [
        -1, -1, -1, -1, -1, 3, 20, 30, 5, 100, -1, -1, -1, -1, -1, 5, 20, 30, 0, 7, 7, 0, 30, 0, 7, 10, 0, 0,
        0, 7,
      ],
    ],
    summary_tokens: ["i32", [0, 3, 0, 5, 7, 10]],
    left_blocks: ["i32", [0, 1, 2, 2, 3, 4]],
    left_tokens: ["i32", [0, 10, 15, 15, 35, 65]],
  });
  const wire: PlanPayload = {
    seq: 0,
    policy: "plain",
    policyTitle: "Plain",
    policySource: "Made for tests.",
    chosen: "",
    untold: false,
    unread: "",
    cut: { place: 3, id: "e3", by: "policy", sentence: "The policy cuts before turn 2." },
    sentence: SENTENCE,
    rules: [
      {
        kind: "pointer",
        title: "pointers",
        sentence: "outputs over {over} become pointers",
        source: "",
        enabled: true,
        locked: false,
        delta: -93,
        number: 1,
        words: "",
        note: "",
        knobs: [
          {
            name: "over",
            label: "size",
            type: "integer",
            value: 50,
            minimum: 1,
            maximum: 500,
            choices: null,
            unit: "tokens",
            description: "",
            words: "50",
          },
          {
            name: "errors",
            label: "errors too",
            type: "boolean",
            value: false,
            minimum: null,
            maximum: null,
            choices: null,
            unit: "",
            description: "",
            words: "off",
          },
        ],
      },
      {
        kind: "summary",
        title: "summary",
        sentence: "older turns are {how}",
        source: "",
        enabled: true,
        locked: false,
        delta: -10,
        number: 2,
        words: "",
        note: "the cut is before turn 2",
        knobs: [
          {
            name: "how",
            label: "fate",
            type: "choice",
            value: "summarised",
            minimum: null,
            maximum: null,
            choices: ["summarised", "dropped"],
            unit: "",
            description: "",
            words: "summarised",
          },
        ],
      },
    ],
    stages: [],
    before: { total: 165, sections: [0, 30, 30, 5, 100] },
    after: { total: 165, sections: [0, 30, 30, 5, 100] },
    thresholds: [{ label: "warn", tokens: 800 }],
    figures: [],
    trigger: "Does not fire.",
    notes: [],
    recipe: 'make_plan(session, "plain")',
    pins: [],
    columns,
    ...changes,
  };
  return { wire, data: bytes, plan: decodePlan(wire, bytes, scene) as Plan };
};

/** The traits of a widget that shows it. */
export const smallTraits = (changes: Partial<Traits> = {}): Traits => {
  const { wire: _scene, data: _scene_data, scene } = smallScene();
  const { wire: _plan, data: _plan_data } = smallPlan(scene);
  return {
    ...{ cut: "", policy: "plain", settings: {}, at: "", pins: [], tab: "blocks", block: "", versus: {} },
    ...{ _seq: 0, _scene, _scene_data, _plan, _plan_data, _error: "" },
    ...changes,
  };
};

/** Turns of one to nine steps, every thirteenth much longer; a step is a call, its output, and maybe words. */
export const longScene = (steps: number): Scene => {
  const entries: { turn: number; step: number; role: number; sections: number[] }[] = [];
  for (let step = 0, turn = 0; step < steps; turn++) {
    const length = turn % 13 === 5 ? Math.round(0.4 * steps) : ([3, 1, 9, 2, 5][turn % 5] as number);
    const end = Math.min(steps, step + length);
    entries.push({ turn, step, role: 0, sections: [1] });
    for (; step < end; step++) {
      entries.push({ turn, step, role: 1, sections: step % 3 === 0 ? [2, 3] : [3] });
      entries.push({ turn, step, role: 2, sections: [4] });
    }
  }
  const blocks = entries.flatMap(({ sections }, entry) => sections.map(section => ({ entry, section })));
  const { scene } = smallScene();
  const entryStart = new Int32Array(entries.length + 1);
  entries.forEach(({ sections }, i) => {
    entryStart[i + 1] = (entryStart[i] as number) + sections.length;
  });
  return {
    ...scene,
    ...{ steps, entries: entries.length, blocks: blocks.length, entryStart },
    entryIds: entries.map((_, i) => `e${i}`),
    blockEntry: Int32Array.from(blocks, block => block.entry),
    blockSection: Uint8Array.from(blocks, block => block.section),
    blockTokens: Int32Array.from(blocks, (_, row) => 1 + ((row * 37) % 900)),
    entryStep: Int32Array.from(entries, entry => entry.step),
    entryTurn: Int32Array.from(entries, entry => entry.turn),
    entryRole: Uint8Array.from(entries, entry => entry.role),
    stepRow: Int32Array.from({ length: steps + 1 }, (_, step) => {
      const first = entries.findIndex(entry => entry.step === step);
      return first < 0 ? blocks.length : (entryStart[first] as number);
    }),
  };
};

/** Outputs become pointers, reasoning and words are dropped or summarised; what is kept stays. */
export const longPlan = (scene: Scene): Plan => ({
  ...smallPlan(smallScene().scene).plan,
  fateOlder: scene.blockSection.map((section, row) => (section === 4 && row % 2 ? 2 : 3 + (row % 2))),
  fateKept: new Uint8Array(scene.blocks),
  tokensOlder: Int32Array.from(scene.blockSection, section => (section === 4 ? 7 : 0)),
  tokensKept: scene.blockTokens,
  ruleOlder: new Int32Array(scene.blocks),
  ruleKept: new Int32Array(scene.blocks).fill(-1),
});

/** A lesson over the small plan: nothing is decided, then the third block is a pointer. */
export const smallPlayed: LessonReply["played"] = [
  {
    ...{ total: 165, sections: [0, 30, 30, 5, 100], summary: 0 },
    ...{ fates: [0, 0, 0, 0, 0], tokens: [10, 5, 100, 20, 30], rules: [-1, -1, -1, -1, -1] },
  },
  {
    ...{ total: 72, sections: [0, 30, 30, 5, 7], summary: 0 },
    ...{ fates: [0, 0, 2, 0, 0], tokens: [10, 5, 7, 20, 30], rules: [-1, -1, 0, -1, -1] },
  },
];

/** Six steps in three turns; at step 2 the context of 150 is compacted to 40, at step 5 that fails. */
export const smallRun = (
  changes: Partial<RunPayload> = {},
): { wire: RunPayload; data: DataView; run: Run } => {
  const { columns, bytes } = pack({
    recorded: ["i32", [50, 100, 120, 130, 20, 40]],
    replayed: ["i32", [50, 100, 60, 70, 80, 100]],
    turn: ["i32", [0, 0, 1, 1, 2, 2]],
    cached: ["i32", [0, 45, 90, 10, 60, 70]],
    sent: ["i32", [45, 90, 120, 50, 70, 0]],
    state: ["u8", [0, 1, 2, 0, 0, 0]],
  });
  const event = (step: number, label: string, tone: string, more: Partial<RunEvent> = {}): RunEvent => ({
    step,
    turn: Math.floor(step / 2),
    label,
    name: "",
    sentence: `It ${label}.`,
    before: null,
    after: null,
    at: `e${step}`,
    details: [],
    tone,
    compaction: -1,
    ...more,
  });
  const wire: RunPayload = {
    policy: "plain",
    policyTitle: "Plain",
    status: "finished",
    statusSentence: "6 steps replayed, 1 compaction.",
    stage: "",
    scenario: SCENARIO,
    aboveWindow: "No request was larger than the window of 200.",
    first: 2,
    window: 200,
    thresholds: [{ label: "compacts above", tokens: 140 }],
    states: [
      { id: "normal", label: "normal", mark: "○", tone: "green" },
      { id: "warning", label: "warning", mark: "△", tone: "yellow" },
      { id: "auto", label: "auto", mark: "↻", tone: "blue" },
    ],
    recoveries: [],
    banners: [],
    counts: { events: 4, findings: 1 },
    summary: [["compactions", "1, recorded 1"]],
    events: [
      event(1, "warned", "warn", { before: 100 }),
      event(2, "threshold hit", "warn", { before: 150, compaction: 0 }),
      event(2, "completed", "done", { before: 150, after: 40, name: "compact_boundary", compaction: 0 }),
      event(5, "failed", "bad", { before: 100, at: "" }),
    ],
    compactions: [
      {
        step: 2,
        before: 150,
        after: 40,
        adopted: true,
        sentence: "By itself: 150 → 40 tokens.",
        stages: [
          { name: "snip", before: 150, after: 90, ran: true, sentence: "", look: "stage1" },
          { name: "auto", before: 90, after: 40, ran: true, sentence: "", look: "stage2" },
          { name: "reactive", before: 40, after: 40, ran: false, sentence: "Not needed.", look: "emergency" },
        ],
      },
    ],
    findings: [{ kind: "no progress", step: 5, sentence: "Nothing becomes smaller." }],
    against: [{ step: 4, sentence: "Recorded two turns later." }],
    source: "One token a word.",
    steps: 6,
    lived: 6,
    columns,
    ...changes,
  };
  return { wire, data: bytes, run: decodeRun(wire, bytes) as Run };
};

export const VALUES = { acts: [] as object[], user: "compacts", provider: "refuses" };
const compact = { do: "compact", confirmed: false };
export const SCENARIO: RunPayload["scenario"] = {
  values: VALUES,
  chosen: [],
  offers: [
    { group: "The user", label: "Compact", act: compact },
    { group: "The provider", label: "Refuse", act: { do: "token_overflow", confirmed: false } },
  ],
  controls: [
    {
      name: "provider",
      label: "Above the window",
      options: [
        { label: "refused", part: { provider: "refuses" } },
        { label: "accepted", part: { provider: "accepts" } },
      ],
    },
  ],
  hint: "",
  code: "replay(session, 'plain')",
};
