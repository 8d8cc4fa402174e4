// Plays Python for the page and the tests: a scene and plans in the real shapes, from an invented session.
// Its planning is a toy; only the shapes are the contract.

import { decodePlan, decodeScene, type Plan, type Scene } from "../src/model/plan";
import type { Traits } from "../src/payloads/host";
import type { Knob, PackedColumn, PlanPayload, ScenePayload } from "../src/payloads/types";
import { inventFacts } from "./facts";
import { type Invented, inventSession } from "./invent";
import { pack } from "./pack";
import { inventRun, stagesOf } from "./replay";
import { inventSummaryWriter, type Screen } from "./summary-writer";

const SECTIONS = [
  ["system", "system"],
  ["tools", "tools"],
  ["provided", "provided"],
  ["compacted", "compacted history"],
  ["user", "user"],
  ["assistant", "assistant"],
  ["reasoning", "reasoning"],
  ["tool_call", "tool call"],
  ["tool_output", "tool output"],
  ["unknown", "unknown"],
  ["fixed", "not in the file: fixed"],
  ["withheld", "not in the file: withheld"],
  ["earlier", "not in the file: earlier history"],
  ["attached", "not in the file: attached again"],
] as const;
const FATES = ["verbatim", "truncated", "pointer", "summarised", "dropped", "cleared"];
const HEAD = [14_180, 11_640, 1_310];
const POLICIES: Record<string, string> = { flue: "Flue", "claude-code": "Claude Code", codex: "Codex" };
const WINDOW = 200_000;

const SIDES = ["Find callers.", "Read the docs.", "Try the fix.", "Run tests.", "Review it.", "Write notes."];

/** [lane, step, tokens]: each sub-agent runs during a few steps. */
const inventSides = (last: number): [number, number, number][] =>
  SIDES.flatMap((_, lane) =>
    Array.from({ length: 5 + 3 * lane }, (_, i): [number, number, number] => [
      lane,
      Math.min(last, Math.floor((last * (lane + 1)) / 8) + i),
      900 * (1 + ((i * 7 + lane) % 5)),
    ]),
  );

/** An output answers the first call before it that has no answer yet. */
const pairUp = (blocks: readonly { section: string }[]): number[] => {
  const pair = blocks.map(() => -1);
  const waiting: number[] = [];
  blocks.forEach(({ section }, row) => {
    if (section === "tool_call") waiting.push(row);
    const call = section === "tool_output" ? waiting.shift() : undefined;
    if (call === undefined) return;
    pair[row] = call;
    pair[call] = row;
  });
  return pair;
};

const code = (id: string) => SECTIONS.findIndex(([name]) => name === id);

export interface Kernel {
  session: Invented;
  traits: Traits;
  plan(traits: Traits): Partial<Traits> & { _plan: PlanPayload; _plan_data: DataView };
  answer(message: {
    type: string;
    id: string;
    from?: number;
    to?: number;
    row?: number;
    place?: number;
    query?: string;
  }): object | null;
  /** Hears of traits that Python hands over by itself. */
  hear: (traits: Partial<Traits>) => void;
}

export const startKernel = (size?: number, seed?: number): Kernel => {
  const session = inventSession(size, seed);
  const { entries } = session;
  const blocks = entries.flatMap((entry, position) => entry.blocks.map(block => ({ ...block, position })));
  const firstOfTurn = new Map<number, number>();
  entries.forEach((entry, place) => {
    if (!firstOfTurn.has(entry.turn)) firstOfTurn.set(entry.turn, place);
  });
  const places = [...entries, undefined].map((entry, place) => {
    if (place === 0) return { legal: 0, reason: 1, splits: 0 };
    if (entry?.role === 2) return { legal: 0, reason: 0, splits: 0 };
    return {
      legal: 1,
      reason: -1,
      splits: entry !== undefined && firstOfTurn.get(entry.turn) !== place ? 1 : 0,
    };
  });
  const starts = [0];
  for (const entry of entries) starts.push((starts.at(-1) as number) + entry.blocks.length);

  const lastStep = entries.at(-1)?.step ?? 0;
  const beside = inventSides(lastStep);
  const scene = pack({
    block_entry: ["i32", blocks.map(block => block.position)],
    block_section: ["u8", blocks.map(block => code(block.section))],
    block_tokens: ["i32", blocks.map(block => block.tokens)],
    block_outside: ["i32", blocks.map(() => 0)],
    entry_step: ["i32", entries.map(entry => entry.step)],
    entry_turn: ["i32", entries.map(entry => entry.turn)],
    entry_role: ["u8", entries.map(entry => entry.role)],
    entry_start: ["i32", starts],
    place_legal: ["u8", places.map(place => place.legal)],
    place_reason: ["i32", places.map(place => place.reason)],
    place_splits: ["u8", places.map(place => place.splits)],
    place_starts: ["u8", places.map((place, at) => (at === 0 ? 1 : at < entries.length ? place.legal : 0))],
    overview_reported: ["i32", session.overview.map(step => step.reported)],
    overview_estimated: ["i32", session.overview.map(step => step.estimated)],
    overview_turn: ["i32", session.overview.map(step => step.turn)],
    block_pair: ["i32", pairUp(blocks)],
    step_overview: ["i32", Array.from({ length: lastStep + 1 }, (_, step) => session.first + step)],
    side_lane: ["i32", beside.map(([lane]) => lane)],
    side_step: ["i32", beside.map(([, step]) => step)],
    side_tokens: ["i32", beside.map(([, , tokens]) => tokens)],
  });

  let screen: Screen = { name: "", cut: "", turn: 0, tokens: 0 };
  const writer = inventSummaryWriter(
    () => screen,
    () => kernel.hear(kernel.plan(kernel.traits)),
  );
  const plan: Kernel["plan"] = traits => {
    const over = Number(traits.settings["pointer.over"] ?? 2000);
    const recent = Number(traits.settings["recent.tokens"] ?? 20_000);
    const reasoning = String(traits.settings["reasoning.becomes"] ?? "dropped");
    const carry = traits.settings["carry.files"] ?? true;
    const older = blocks.map(({ section, tokens }) => {
      if (section === "compacted") return { fate: 3, tokens: 0, rule: 3 };
      if (section === "reasoning")
        return reasoning === "dropped" ? { fate: 4, tokens: 0, rule: 5 } : { fate: 3, tokens: 0, rule: 3 };
      if (section === "tool_output" && tokens > over) return { fate: 2, tokens: 58, rule: 2 };
      return { fate: 3, tokens: 0, rule: 3 };
    });
    const keptBlocks = blocks.map(({ section, tokens }) => {
      if (section === "tool_output" && tokens > 3 * over) return { fate: 1, tokens: 3 * over, rule: 2 };
      return { fate: 0, tokens, rule: 1 };
    });
    const totals = sumPlaces(blocks, older, keptBlocks, places.length, carry === true);
    const turnAt = (place: number) => entries[place]?.turn ?? -1;
    const auto = placeAuto(blocks, places, recent);
    const policyAsked =
      traits.cut === ""
        ? auto
        : traits.cut === "end"
          ? entries.length
          : entries.findIndex(e => e.id === traits.cut);
    const place = policyAsked < 0 ? auto : policyAsked;
    const name = JSON.stringify([traits.policy, traits.settings, place]);
    const standing = totals[place] as (typeof totals)[number];
    screen = { name, cut: entries[place]?.id ?? "end", turn: turnAt(place), tokens: standing.summary };
    const summary = writer.of(name);
    if (summary !== null) {
      const compacted = code("compacted");
      standing.sections[compacted] = (standing.sections[compacted] ?? 0) + summary.tokens - standing.summary;
      standing.summary = summary.tokens;
    }
    const before = SECTIONS.map(
      ([id], i) => HEAD[i] ?? sum(blocks.filter(block => block.section === id).map(block => block.tokens)),
    );
    const { bytes, columns } = pack({
      fate_older: ["u8", older.map(block => block.fate)],
      fate_kept: ["u8", keptBlocks.map(block => block.fate)],
      tokens_older: ["i32", older.map(block => block.tokens)],
      tokens_kept: ["i32", keptBlocks.map(block => block.tokens)],
      rule_older: ["i32", older.map(block => block.rule)],
      rule_kept: ["i32", keptBlocks.map(block => block.rule)],
      after_total: ["i32", totals.map((t, i) => (places[i]?.legal ? sum(t.sections) : -1))],
      after_sections: [
        "i32",
        totals.flatMap((t, i) => (places[i]?.legal ? t.sections : t.sections.map(() => -1))),
      ],
      summary_tokens: ["i32", totals.map(t => t.summary)],
      left_blocks: ["i32", starts],
      left_tokens: ["i32", starts.map(start => sum(blocks.slice(0, start).map(block => block.tokens)))],
    });
    const turn = turnAt(place);
    const you = traits.cut !== "";
    const set = Object.entries(traits.settings).map(
      ([key, value]) =>
        `"${key}": ${value === true ? "True" : value === false ? "False" : JSON.stringify(value)}`,
    );
    const edits = [you ? `cut="${traits.cut}"` : "", set.length ? `set={${set.join(", ")}}` : ""].filter(
      Boolean,
    );
    return {
      _plan: {
        seq: traits._seq,
        policy: traits.policy,
        policyTitle: POLICIES[traits.policy] ?? traits.policy,
        policySource: "Flue 0.9, compaction.ts: keep recent 20 000 tokens, reserve 16 384.",
        cut: {
          place,
          id: entries[place]?.id ?? "end",
          by: you ? "you" : "policy",
          sentence: you
            ? `Your cut: everything before turn ${turn + 1} is older.`
            : `The policy keeps the last ${recent} tokens and cuts before turn ${turn + 1}.`,
        },
        chosen: "",
        untold: false,
        unread: "",
        sentence: {
          case: "planned",
          parts: [
            { text: "Left of the cut: ", tone: "", slot: "" },
            { text: "", tone: "strong", slot: "left" },
            { text: " become a summary of ", tone: "", slot: "" },
            { text: "", tone: "strong", slot: "summary" },
            { text: ".", tone: "", slot: "" },
          ],
          buttons: [],
          loses: false,
          range: "",
          notes: [],
        },
        rules: makeRules({ over, recent, reasoning, carry: carry === true }),
        before: { total: sum(before), sections: before },
        after: { total: sum(before), sections: before },
        thresholds: [
          { label: "warn 80", tokens: 160_000 },
          { label: "95", tokens: 190_000 },
        ],
        reserve: 16_384,
        figures: [],
        trigger: "Fires above 183.6k tokens: the window less the reserve. Not yet.",
        state: {
          id: "warning",
          label: "warning",
          mark: "△",
          tone: "yellow",
          banner: sum(before) > 0.8 * WINDOW ? "The window fills. Run /compact." : null,
        },
        notes: ["the split turn is summarised apart"],
        recipe: `make_plan(session, "${traits.policy}"${edits.length ? `, edits=Edits(${edits.join(", ")})` : ""})`,
        pins: [],
        summary,
        stages:
          traits.policy === "claude-code" ? stagesOf(sum(before), sum(totals[place]?.sections ?? [])) : [],
        columns,
      },
      _plan_data: bytes,
      ...(traits.replay ? inventRun(session, traits, WINDOW) : {}),
    };
  };

  const text = (row: number) => blocks[row]?.text ?? "";
  const search = (id: string, query: string) => {
    const hits = blocks.flatMap(({ label, text, position }, row) => {
      const at = text.toLowerCase().indexOf(query.toLowerCase());
      if (at < 0) return [];
      const entry = entries[position];
      const start = Math.max(0, at - 30);
      const spans = [at - start, at - start + query.length];
      const ref = `${entry?.id}/${row - (starts[position] ?? 0)}`;
      const preview = text.slice(start, at + 130);
      return [{ ref, row, at: "", turn: entry?.turn ?? 0, label, preview, spans }];
    });
    return { type: "search", id, query, hits: hits.slice(0, 200), total: hits.length };
  };
  const playRules = (id: string, place: number) => {
    const reason = places[place]?.reason ?? -1;
    if (reason >= 0) {
      const entry = (row: number) => ({ row, turn: 3, label: blocks[row]?.label ?? "" });
      const row = starts[place] ?? 0;
      const error =
        "400 invalid_request_error: messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01FjK2";
      const pairs = reason === 0 ? [{ call: entry(row - 1), output: entry(row) }] : [];
      return {
        type: "lesson",
        id,
        place,
        steps: [],
        played: [],
        refusal: { error, sentence: "", pairs, more: 0 },
      };
    }
    const { _plan, _plan_data } = plan(traits);
    const drawn = decodePlan(
      _plan,
      _plan_data,
      decodeScene(traits._scene ?? null, traits._scene_data) as Scene,
    ) as Plan;
    const sections = [..._plan.before.sections];
    const steps = _plan.rules.map(({ title, sentence }, rule) => {
      const before = sum(sections);
      let count = 0;
      blocks.forEach((block, row) => {
        const older = block.position < place;
        if ((older ? drawn.ruleOlder : drawn.ruleKept)[row] !== rule) return;
        const tokensLeft = (older ? drawn.tokensOlder : drawn.tokensKept)[row] ?? 0;
        sections[code(block.section)] = (sections[code(block.section)] ?? 0) + tokensLeft - block.tokens;
        count++;
      });
      const summary = rule >= 3 ? (drawn.summaryTokens[place] ?? 0) : 0;
      if (rule === 3)
        sections[code("compacted")] = (sections[code("compacted")] ?? 0) + (drawn.summaryTokens[place] ?? 0);
      const after = sum(sections);
      return {
        ...{ rule, title, sentence: sentence.replace(/\{\w+\}/g, "…"), blocks: count },
        ...{ before, after, sections: [...sections], summary },
      };
    });
    const side = (row: number) => (blocks[row]?.position ?? 0) < place;
    const played = steps.map((_, stepCount) => {
      const rule = (row: number) => (side(row) ? drawn.ruleOlder : drawn.ruleKept)[row] ?? -1;
      const isDecided = (row: number) => rule(row) >= 0 && rule(row) < stepCount;
      const fate = (row: number) => (side(row) ? drawn.fateOlder : drawn.fateKept)[row] ?? 0;
      const tokensLeft = (row: number) => (side(row) ? drawn.tokensOlder : drawn.tokensKept)[row] ?? 0;
      return {
        total: steps[stepCount - 1]?.after ?? _plan.before.total,
        sections: steps[stepCount - 1]?.sections ?? _plan.before.sections,
        summary: steps[stepCount - 1]?.summary ?? 0,
        fates: blocks.map((_, row) => (isDecided(row) ? fate(row) : 0)),
        tokens: blocks.map(({ tokens }, row) => (isDecided(row) ? tokensLeft(row) : tokens)),
        rules: blocks.map((_, row) => (isDecided(row) ? rule(row) : -1)),
      };
    });
    return { type: "lesson", id, place, steps, played };
  };
  const facts = inventFacts(
    blocks.map(({ position, label }, row) => ({
      ...{ ref: `${entries[position]?.id}/${row - (starts[position] ?? 0)}`, label },
      turn: entries[position]?.turn ?? 0,
    })),
  );
  const answer: Kernel["answer"] = message => {
    const { type, id } = message;
    const reply = facts.answer(message);
    if (reply !== undefined) return reply;
    const wrote = writer.answer(message);
    if (wrote !== undefined) return wrote;
    if (type === "rows") {
      const rows = blocks
        .slice(message.from, message.to)
        .map(block => ({ label: block.label, preview: block.text.slice(0, 90) }));
      return { type, id, from: message.from, rows };
    }
    const summary = writer.of(screen.name);
    if (type === "summary" && summary !== null) {
      const text = writer.text();
      return { type, id, place: message.place, text, total: text.length, facts: [["by", summary.by]] };
    }
    if (type === "summary") {
      return {
        type,
        id,
        place: message.place,
        text: "## Goal\nMake the second commit see the new shadow branch.\n\n## Done\n- hooks_git_cmd.go reads the state file first",
        total: 2_310,
        facts: [["trust", "untrusted: a model's words"]],
      };
    }
    if (type === "summaries") {
      const text = writer.text();
      const planned = {
        title: "Planned",
        size: "2.3k",
        text,
        total: text.length,
        note: "",
        sentence: "",
      };
      const givenBack = { ...planned, title: "What the hook would give back", size: "", text: "", total: 0 };
      return { type, id, recorded: null, planned, sentence: "The file records no summary here.", givenBack };
    }
    if (type === "compactions") {
      const missing = { files: 0, rules: 0, errors: 0, todos: 0, changed: 0, known: true, losses: "" };
      const again = { again: 0, againTokens: 0, againPrice: "" };
      const plan = { ...missing, ...again, look: "plan", turn: 0, time: "", taken: 0, kept: 0, summary: "" };
      return { type, id, rows: [], plan, worst: "", go: false };
    }
    if (type === "search") return search(id, message.query ?? "");
    if (type === "lesson") return playRules(id, message.place ?? 0);
    const row = message.row ?? 0;
    const after = `[${blocks[row]?.label}: ${text(row).length} chars left out; in the archive as 7f3a]`;
    return {
      type: "body",
      id,
      row,
      before: { text: text(row).slice(0, 2000), total: text(row).length },
      after:
        blocks[row]?.section === "tool_output" && (blocks[row]?.tokens ?? 0) > 2000
          ? { text: after, total: after.length }
          : null,
      diff: null,
      other: null,
      facts: [
        ["record", `line ${row + 611}`],
        ["call id", "toolu_01FjK2"],
      ],
    };
  };

  const traits: Traits = {
    cut: "",
    policy: "flue",
    settings: {},
    at: "",
    _seq: 0,
    _scene: describe(session, scene.columns),
    _scene_data: scene.bytes,
    _plan: {},
    _plan_data: null,
    ...{ pins: [], tab: "blocks", block: "", versus: {} },
    replay: false,
    _run: {},
    _run_data: null,
    _error: "",
  };
  const kernel: Kernel = { session, traits, plan, answer, hear: news => Object.assign(traits, news) };
  Object.assign(traits, plan(traits));
  return kernel;
};

interface Fated {
  fate: number;
  tokens: number;
  rule: number;
}

/** The request after a cut at every place, moving one entry at a time from the kept to the older. */
const sumPlaces = (
  blocks: { position: number; section: string; tokens: number }[],
  older: Fated[],
  keptBlocks: Fated[],
  count: number,
  carry: boolean,
) => {
  const sections = SECTIONS.map((_, i) => HEAD[i] ?? 0);
  const move = (section: number, tokens: number) => {
    sections[section] = (sections[section] as number) + tokens;
  };
  blocks.forEach((block, row) => {
    move(code(block.section), keptBlocks[row]?.tokens ?? 0);
  });
  let summarised = 0;
  let row = 0;
  return Array.from({ length: count }, (_, place) => {
    for (; (blocks[row]?.position ?? place) < place; row++) {
      const block = blocks[row] as (typeof blocks)[number];
      move(code(block.section), (older[row]?.tokens ?? 0) - (keptBlocks[row]?.tokens ?? 0));
      if (older[row]?.fate === 3) summarised += block.tokens;
    }
    const summary =
      summarised === 0 ? 0 : Math.min(4200, 400 + Math.round(summarised * 0.06)) + (carry ? 180 : 0);
    const compacted = code("compacted");
    return { sections: sections.map((tokens, i) => (i === compacted ? tokens + summary : tokens)), summary };
  });
};

const placeAuto = (
  blocks: { position: number; tokens: number }[],
  places: { legal: number }[],
  recent: number,
) => {
  let budget = recent;
  let place = places.length - 1;
  for (let row = blocks.length - 1; row >= 0 && budget > 0; row--) {
    budget -= blocks[row]?.tokens ?? 0;
    place = blocks[row]?.position ?? 0;
  }
  while (place < places.length - 1 && !places[place]?.legal) place++;
  return place;
};

const makeRules = (values: { over: number; recent: number; reasoning: string; carry: boolean }) => {
  const number = (name: string, label: string, value: number, standard: number, unit: string): Knob => ({
    name,
    label,
    type: "integer",
    value,
    default: standard,
    minimum: 0,
    maximum: 200_000,
    choices: null,
    unit,
    description: `${label}, in tokens`,
    words: String(value),
  });
  const rule = (
    kind: string,
    sentence: string,
    delta: number | null,
    knobs: Knob[] = [],
    enabled = true,
  ) => ({
    kind,
    title: kind,
    sentence,
    source: "",
    enabled,
    locked: false,
    delta,
    knobs,
    ...{ number: 1, words: "", note: "" },
  });
  const plain = { minimum: null, maximum: null, unit: "", description: "", words: "" };
  return [
    rule("system", "system prompt verbatim", 0),
    rule("recent", "keep recent {tokens} tokens", 21_300, [
      number("tokens", "recent tokens", values.recent, 20_000, ""),
    ]),
    rule("pointer", "outputs over {over} become pointers", -Math.round(50_000_000 / (values.over + 300)), [
      number("over", "size of an output", values.over, 2000, ""),
    ]),
    rule("summarise", "older turns summarised, the split turn apart", -74_900),
    rule(
      "carry",
      "file operations carried forward",
      values.carry ? 180 : 0,
      [
        {
          ...plain,
          name: "files",
          label: "paths read and edited",
          type: "boolean",
          value: values.carry,
          default: true,
          choices: null,
        },
      ],
      values.carry,
    ),
    rule("reasoning", "older reasoning is {becomes}", -9600, [
      {
        ...plain,
        name: "becomes",
        label: "older reasoning",
        type: "choice",
        value: values.reasoning,
        default: "dropped",
        choices: ["dropped", "summarised"],
      },
    ]),
  ];
};

const describe = (session: Invented, columns: PackedColumn[]): ScenePayload => {
  const { entries, overview, compactions, first } = session;
  const edges = [0, ...compactions.map(compaction => compaction.step), overview.length];
  return {
    version: 1,
    title: "cc-3auto-compactions.jsonl",
    header: {
      ...{
        title: "invented",
        id: "invented",
        about: "invented",
        harness: "Invented 1",
        model: "none",
        unknown: [],
      },
      ...{ size: `${overview.length} steps`, compactions: `${compactions.length} compactions` },
    },
    unit: {
      short: "o200k × 1.24",
      long: "o200k_base counts, scaled by 1.24 to this session's recorded usage (median error 4 %).",
    },
    window: WINDOW,
    windowSource: "The window is the model's published one.",
    sections: SECTIONS.map(([id, label]) => ({ id, label })),
    fates: FATES.map(id => ({ id, label: id })),
    sides: SIDES.map((task, i) => ({ label: `sub ${i + 1}`, task, call: -1, tokens: 9000, end: "" })),
    lanes: ["user", "assistant", "reasoning", "tool_call", "tool_output"].map(id => ({
      id,
      label: id.replace("_", " "),
      sections: id === "user" ? [code("user"), code("compacted")] : [code(id)],
    })),
    entryIds: entries.map(entry => entry.id),
    reasons: [
      {
        rule: "pair",
        sentence:
          "the model would see a tool output without its call, and the provider answers 400: unexpected tool_use_id.",
        error: "400: unexpected tool_use_id",
      },
      { rule: "empty", sentence: "nothing stands before it that could be compacted.", error: "" },
    ],
    segments: edges.slice(1).map((edge, i) => ({
      label: i === edges.length - 2 ? "the session's end" : `before compaction ${i + 1}`,
      at: i === edges.length - 2 ? "" : `moment-${i}`,
      firstStep: edges[i] as number,
      lastStep: edge - 1,
      tokens: overview[edge - 1]?.estimated ?? 0,
      current: i === edges.length - 2,
      note: i === 0 ? "" : `downstream of the summary at moment-${i - 1}; a model wrote it`,
    })),
    boundaries: compactions.map(({ step, before, after }, i) => ({
      step,
      kind: "compact",
      before,
      after,
      source: "reported",
      trigger: "auto",
      label: `compaction ${i + 1}, auto`,
      look: `recorded:${i + 1}`,
      at: `moment-${i}`,
      name: `◆${i + 1} · ${before} → ${after}`,
      sign: `◆${i + 1}`,
    })),
    overview: { steps: overview.length, first, last: overview.length - 1 },
    policies: Object.entries(POLICIES).map(([name, title]) => ({ name, title })),
    foot: { words: "", told: "" },
    bill: { cost: "", sentence: "", columns: [], rows: [], notes: "" },
    notices: ["reasoning of 3 turns is encrypted", "14 steps have no recorded usage and are estimated"],
    columns,
  };
};

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
