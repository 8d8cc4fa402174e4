// A replay for the page and the tests, in the real shapes; its harness is a toy.
import type { Traits } from "../src/payloads/host";
import type { RunCompaction, RunEvent, RunPayload } from "../src/payloads/types";
import type { Invented } from "./invent";
import { pack } from "./pack";

const STATES = [
  ["normal", "○", "green"],
  ["warning", "△", "yellow"],
  ["critical", "▲", "orange"],
  ["blocking", "■", "red"],
  ["auto", "↻", "blue"],
  ["manual", "✎", "grey"],
  ["reactive", "!", "darkred"],
] as const;

export const inventRun = (
  session: Invented,
  traits: Traits,
  window: number,
): { _run: RunPayload; _run_data: DataView } => {
  const { overview, entries } = session;
  const threshold = window - 16_384 - Number(traits.settings["recent.tokens"] ?? 20_000);
  const recorded = overview.map(step => (step.reported < 0 ? step.estimated : step.reported));
  const replayed: number[] = [];
  const state: number[] = [];
  const events: RunEvent[] = [];
  const compactions: RunCompaction[] = [];
  let size = recorded[0] ?? 0;
  overview.forEach(({ turn }, step) => {
    const grown = (recorded[step] ?? 0) - (recorded[step - 1] ?? 0);
    size += Math.max(0, grown);
    const at = entries[step % entries.length]?.id ?? "";
    const describe = (
      label: string,
      tone: string,
      before: number | null,
      after: number | null,
      sentence: string,
    ) =>
      events.push({
        step,
        turn,
        kind: label,
        label,
        name: `Compaction${events.length}`,
        sentence,
        before,
        after,
        at,
        details: [
          ["provider", "anthropic"],
          ["model", "claude-opus-4-5"],
          ["correlation", `compaction-${compactions.length + 1}`],
        ],
        tone,
        compaction: -1,
      });
    const isFull = state.length > 0 && (state.at(-1) ?? 0) < 1 && size > 0.8 * window;
    if (isFull) describe("compaction warning", "warn", size, null, "The context passed 80 % of the window.");
    if (size <= threshold) {
      state.push(size > 0.8 * window ? 1 : 0);
    } else {
      const before = size;
      const fails = compactions.length === 1;
      describe("compaction threshold hit", "warn", before, null, `The context passed ${threshold} tokens.`);
      size = fails ? before : 38_000 + 2_000 * compactions.length;
      compactions.push({
        step,
        turn,
        at,
        reason: "auto",
        before,
        after: size,
        adopted: !fails,
        sentence: `By itself: ${before} → ${size} tokens; 1 summariser call.`,
        stages: stagesOf(before, size),
      });
      describe(
        fails ? "compaction failed" : "compaction completed",
        fails ? "bad" : "done",
        before,
        fails ? null : size,
        fails
          ? "The summariser failed three times."
          : "The summary is in place; the last 4 turns are verbatim.",
      );
      if (fails) size -= 30_000;
      state.push(fails ? 6 : 4);
    }
    replayed.push(size);
  });
  const { columns, bytes } = pack({
    recorded: ["i32", recorded],
    replayed: ["i32", replayed],
    turn: ["i32", overview.map(({ turn }) => turn)],
    cached: ["i32", replayed.map(tokens => Math.round(tokens * 0.9))],
    sent: ["i32", replayed],
    state: ["u8", state],
  });
  const _run: RunPayload = {
    seq: traits._seq,
    policy: traits.policy,
    policyTitle: traits.policy,
    status: "finished",
    statusSentence: `${overview.length} steps replayed, ${compactions.length} compactions.`,
    stage: "",
    scenario: { values: {}, chosen: [], offers: [], controls: [], hint: "", code: "" },
    aboveWindow: "",
    first: events.length > 0 ? 0 : -1,
    window,
    thresholds: [
      { label: "warns", tokens: 0.8 * window },
      { label: "compacts above", tokens: threshold },
    ],
    states: STATES.map(([id, mark, tone]) => ({ id, label: id, mark, tone })),
    recoveries: [],
    banners: [],
    counts: {
      compactions: compactions.length,
      recorded: session.compactions.length,
      events: events.length,
      findings: 0,
    },
    summary: [
      ["compactions", `${compactions.length}, recorded ${session.compactions.length}`],
      ["sent", "48.2M in 518 requests"],
      ["same prefix", "90 %"],
      ["cost", "$ 31.20"],
    ],
    events,
    compactions,
    findings: [
      { kind: "no progress", step: 60, sentence: "The summary grew at two compactions in a row." },
      {
        kind: "cache lost",
        step: 90,
        sentence: "Clearing outputs changed the prefix 3 times in one turn.",
      },
    ],
    against: session.compactions.map(({ step }) => ({
      step,
      sentence: "Recorded here; the policy fires 12 steps earlier.",
    })),
    source: "Tokens are counted with o200k × 1.24. Prices of 2026-01.",
    steps: overview.length,
    lived: overview.length,
    columns,
  };
  return { _run, _run_data: bytes };
};

export const stagesOf = (before: number, after: number) => [
  { name: "snip", before, after: before - 20_000, ran: true, sentence: "", look: "stage1" },
  {
    name: "micro",
    before: before - 20_000,
    after: before - 20_000,
    ran: true,
    sentence: "It found nothing to do.",
    look: "stage2",
  },
  { name: "auto", before: before - 20_000, after, ran: true, sentence: "", look: "stage3" },
  {
    name: "collapse",
    before: after,
    after,
    ran: false,
    sentence: "Not needed: the target was met.",
    look: "stage4",
  },
  {
    name: "reactive",
    before: after,
    after,
    ran: false,
    sentence: "It runs only when the reason is overflow.",
    look: "emergency",
  },
];
