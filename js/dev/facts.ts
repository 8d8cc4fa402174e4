// Plays Python's part in questions about facts: a few hundred of them with every fate, kind and evidence there is.

import { FATES, type FactFate, type Tier } from "../src/payloads/replies";
import type { FactReply, FactRow, FactsReply } from "../src/payloads/types";

const KINDS = [
  ["file", "files"],
  ["command", "commands"],
  ["error", "errors"],
  ["symbol", "symbols"],
  ["constraint", "constraints"],
] as const;
const FORMS: Record<string, string> = {
  file: "cmd/entire/cli/strategy/manual_commit_session_state.go",
  command: "go test ./cmd/... -run TestShadow_DeferredCondensation -count=1",
  error: "manual_commit_test.go:512: want 2 checkpoints, got 1",
  symbol: "getShadowBranchForCommit",
  constraint: "Never push to a branch that somebody else works on.",
};
const WORST = [...FATES].reverse();

export interface Told {
  ref: string;
  turn: number;
  label: string;
}

/** `blocks` are the rows of the moment, `places` its places to cut. */
export const inventFacts = (
  blocks: readonly Told[],
  places: number,
  steps: readonly number[],
  many = 230,
) => {
  const rows: FactRow[] = Array.from({ length: many }, (_, number) => {
    const [kind] = KINDS[number % KINDS.length] as readonly [string, string];
    const row = (number * 37) % Math.max(1, blocks.length);
    const fate = (number % 7 < 3 ? "lost" : WORST[number % 5]) as FactFate;
    const tier: Tier = number % 11 === 0 ? "recorded" : "planned";
    return {
      ...{
        number,
        kind,
        fate,
        tier,
        words: fate === "weakened" ? "state.go" : "",
        others: fate === "weakened" ? 2 : 0,
      },
      form: number < KINDS.length ? (FORMS[kind] as string) : `${FORMS[kind]}_${number}`,
      ...{ stood: number % 29 !== 28, said: 1 + (number % 9), by: ["user", "tool"], operations: ["read"] },
      ...{ firstTurn: 0, lastTurn: blocks[row]?.turn ?? 0, row },
    };
  });
  const order = [...rows].sort(
    (a, b) => Number(b.stood) - Number(a.stood) || WORST.indexOf(a.fate) - WORST.indexOf(b.fate),
  );
  const kinds = KINDS.map(([id, label]) => {
    const mine = rows.filter(row => row.kind === id && row.stood);
    const fates = Object.fromEntries(FATES.map(fate => [fate, mine.filter(row => row.fate === fate).length]));
    return { id, label, total: mine.length, fates };
  });

  const list = (asked: Partial<Omit<FactsReply, "type">> & { to?: number }): FactsReply => {
    const { place = 0, query = "", kind = "", fate = "", from = 0, to = 200 } = asked;
    const found = order.filter(
      row =>
        row.form.toLowerCase().includes(query.toLowerCase()) &&
        (kind === "" || row.kind === kind) &&
        (fate === "" || (row.fate === fate && row.stood)),
    );
    const total = rows.filter(row => row.stood).length;
    const risk = {
      places: Array.from({ length: places }, (_, at) => Math.round((at * total) / places)),
      total,
    };
    return {
      ...{ place, query, kind, fate, from, total: found.length, rows: found.slice(from, to), kinds },
      ...{ tier: "planned", fates: [...FATES], sentence: "", risk: from === 0 ? risk : undefined },
    };
  };

  const story = (number: number, place: number): FactReply => {
    const { kind, form, fate, tier, words, stood, row, said } = rows[number] as FactRow;
    const at = Array.from({ length: said }, (_, i) => (row + i * 5) % Math.max(1, blocks.length)).sort(
      (a, b) => a - b,
    );
    const pin = blocks[at[0] ?? 0];
    const fix = { money: "", recipe: `make_plan(session, "flue", edits=Edits(pins=["${pin?.ref}"]))` };
    return {
      ...{ number, place, kind, form, fate, tier, words },
      others: fate === "weakened" ? ["cmd/other/state.go", "pkg/state.go"] : [],
      said: at.map(row => ({
        ...{
          row,
          ref: blocks[row]?.ref ?? "",
          turn: blocks[row]?.turn ?? 0,
          step: row,
          by: "tool",
          operation: "read",
        },
        label: `turn ${(blocks[row]?.turn ?? 0) + 1} · tool output · ${blocks[row]?.label}`,
      })),
      saidTotal: said,
      chain: [
        {
          step: steps[0] ?? 0,
          label: "compaction at 155.6k → 31k",
          fate: "weakened",
          tier: "recorded",
          words: "state.go",
          stood: true,
        },
        {
          step: steps[1] ?? 0,
          label: "compaction at 155k → 41.7k",
          fate: "lost",
          tier: "inferred",
          words: "",
          stood: true,
        },
        { step: -1, label: "this plan", fate, tier, words, stood },
      ],
      why: "It was first said by a tool in turn 1 (the output of Glob); it was listed, read and edited. Up to here 12 blocks say it, the last in turn 3. The plan (flue) left nothing of it: the blocks that say it went to summarise-older, and the file list of the summary saw only tools named read, write or edit.",
      regrets: [
        {
          sentence: "The file was read again after it was lost: 3,812 tokens.",
          tokens: 3812,
          price: "$0.011",
          ref: blocks[row]?.ref ?? "",
          turn: 40,
          step: 200,
        },
      ],
      fixes:
        fate === "verbatim"
          ? []
          : [
              {
                ...fix,
                means: "pin",
                sentence: `Pin ${pin?.ref}.`,
                price: 92,
                fate: "verbatim",
                changes: { pins: [pin?.ref ?? ""] },
              },
              {
                ...fix,
                means: "knob",
                sentence: "Set keep-recent-tokens.tokens to 74,140.",
                price: 78_668,
                fate: "verbatim",
                changes: { settings: { "recent.tokens": 74_140 } },
              },
            ],
      focus: `Keep these exactly as they are written:\n- ${kind}: ${form}`,
    };
  };

  const regret = () => {
    const marks = [96, 101, 130, 174, 180, 200].map((step, number) => ({
      ...{ step, number, turn: 30 + number, kind: "file", form: rows[number]?.form ?? "" },
      ref: blocks[number % blocks.length]?.ref ?? "",
      ...{
        sentence: `The file ${rows[number]?.form} was read again after it was lost: 3,812 tokens.`,
        tokens: 3812,
      },
    }));
    return { marks, tokens: 22_872, price: "$0.07", sentence: "" };
  };

  const answer = (message: { type: string; id: string; number?: number; place?: number; row?: number }) => {
    const { type, id } = message;
    if (type === "facts") return { ...list(message), type, id };
    if (type === "fact") return { ...story(message.number ?? 0, message.place ?? 0), type, id };
    if (type === "regret") return { ...regret(), type, id };
    if (type !== "grounding") return undefined;
    const mark = {
      line: 1,
      start: 3,
      end: 9,
      words: "shadow",
      what: "path",
      sentence: "Line 1 names the path shadow; nothing it summarises does.",
    };
    return { type, id, row: message.row ?? 0, marks: [mark], hidden: 0, read: true };
  };
  return { rows, list, story, regret, answer };
};
