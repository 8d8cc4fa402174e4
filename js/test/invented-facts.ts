// Plays Python's part in questions about facts: a few hundred of them with every outcome, kind and evidence there is.

import { TRAITS } from "../src/model/outcomes";
import type { Outcome } from "../src/payloads/replies";
import {
  type FactRow,
  type FactsReply,
  type FindingsReply,
  OUTCOMES,
  type StoryReply,
} from "../src/payloads/types";

const WORST_FIRST = OUTCOMES.map(({ name }) => name);
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
const isBad = (outcome: Outcome): boolean => TRAITS[outcome].colour === "red";

export interface InventedFacts {
  ref: string;
  turn: number;
  label: string;
}

/** `blocks` are the rows of the moment. */
export const inventFacts = (blocks: readonly InventedFacts[], many = 230) => {
  const rowOf = (number: number) => (number * 37) % Math.max(1, blocks.length);
  const rows: FactRow[] = Array.from({ length: many }, (_, number) => {
    const [kind] = KINDS[number % KINDS.length] as readonly [string, string];
    const outcome: Outcome = (number % 7 < 3 ? undefined : WORST_FIRST[number % 11]) ?? "absent";
    const form = number < KINDS.length ? (FORMS[kind] as string) : `${FORMS[kind]}_${number}`;
    const stood = number % 29 !== 28;
    return {
      ...{ number, kind, sort: kind, form, title: form, outcome },
      rounds: [{ outcome: "absent" as Outcome, stood: true, bad: true, judged: false }],
      ...{ stood, bad: isBad(outcome) && stood, judged: false },
      lastTurn: blocks[rowOf(number)]?.turn ?? 0,
    };
  });
  const order = [...rows].sort(
    (a, b) =>
      Number(b.stood) - Number(a.stood) || WORST_FIRST.indexOf(a.outcome) - WORST_FIRST.indexOf(b.outcome),
  );
  const kinds = KINDS.map(([id, label]) => {
    const ownRows = rows.filter(row => row.kind === id && row.stood);
    const outcomes = Object.fromEntries(
      OUTCOMES.map(({ name }) => [name, ownRows.filter(row => row.outcome === name).length]),
    ) as Record<Outcome, number>;
    return { id, label, total: ownRows.length, outcomes };
  });

  interface Question {
    type: string;
    id: string;
    number?: number;
    place?: number;
    row?: number;
    pick?: string;
    look?: string;
    query?: string;
    kind?: string;
    outcome?: string;
    from?: number;
    to?: number;
  }

  const list = (question: Partial<Question>): FactsReply => {
    const { query = "", kind = "", outcome = "", from = 0, to = 200 } = question;
    const matches = order.filter(
      row =>
        row.form.toLowerCase().includes(query.toLowerCase()) &&
        (kind === "" || row.kind === kind) &&
        (outcome === "" || (row.outcome === outcome && row.stood)),
    );
    return {
      ...{ query, kind, outcome, total: matches.length, rows: matches.slice(from, to), kinds },
      marks: ["◆1"],
      ...{ absent: "absent", sentence: "" },
    };
  };

  const story = (number: number, place: number, pick = ""): StoryReply => {
    const { kind, form, outcome } = rows[number] as FactRow;
    const [row, said] = [rowOf(number), 1 + (number % 9)];
    const at = Array.from({ length: said }, (_, i) => (row + i * 5) % Math.max(1, blocks.length)).sort(
      (a, b) => a - b,
    );
    const pin = blocks[at[0] ?? 0];
    const pickOf = pick || "recorded:1";
    const lost = pickOf === "recorded:1" || isBad(outcome);
    const side = { note: "turn 2", ref: pin?.ref ?? "", marks: [{ start: 18, end: 32, differs: false }] };
    const none = { ref: "", tokens: "", price: "" };
    return {
      ...{ number, place, kind, form, title: form, code: lost ? "CI001" : "", pick: pickOf },
      ...{ verdict: "" as const, verdicts: lost ? ["right", "not lost"] : [] },
      head: `${kind} · in ${said} blocks`,
      factLane: { name: form, does: "is named in", ends: lost ? "not mentioned after ◆1" : "by 1 block" },
      ...{ outcome: lost ? "absent" : "verbatim", label: lost ? "Absent" : "Kept", tone: lost ? "red" : "" },
      wording: lost ? "The summary does not mention this." : "It stays as it is, in turn 2.",
      said: { ...side, title: "You said", text: `Please look at the ${form}.`, start: 0, end: 32 },
      found: {
        ...side,
        title: "The summary says",
        text: "The cause was the state helper.",
        start: 0,
        end: 31,
      },
      ...{ searched: "Searched 12 sentences for 3 forms of the path and the file name.", because: [] },
      steps: [
        {
          ...none,
          turn: "turn 1",
          words: "first named, in the output of Glob",
          sign: "named",
          ref: pin?.ref ?? "",
        },
        {
          ...none,
          turn: pickOf === "plan" ? "this plan" : "◆1",
          words: `${said} blocks named it`,
          sign: "missing",
        },
      ],
      outcomes: [
        {
          id: "recorded:1",
          words: "absent in ◆1, turn 9",
          note: "by the file",
          sign: "missing",
          outcome: "absent",
        },
        {
          id: "again:0",
          words: "read again, turn 10",
          note: "+3,812",
          sign: "again",
          outcome: "",
        },
        {
          id: "plan",
          words: outcome,
          note: "by this plan",
          sign: lost ? "missing" : "kept",
          outcome,
        },
      ],
      places: at.map(row => ({
        ref: blocks[row]?.ref ?? "",
        label: `turn ${(blocks[row]?.turn ?? 0) + 1} · ${blocks[row]?.label}`,
      })),
      ...{ placesTotal: said, fixesTitle: "Would have kept it", fixesNote: "" },
      fixes: [
        {
          ...{
            id: "pin",
            does: "Pin",
            words: "the answer in turn 2",
            tokens: 92,
            price: "$0.0005",
          },
          ...{ done: false, said: "Pinned the answer in turn 2: +92 tokens, $0.0005 a request." },
          ...{ changes: { pins: [pin?.ref ?? ""] }, recipe: "make_plan(session, ledger)" },
        },
      ],
      focus: `Keep these exactly as they are written:\n- ${kind}: ${form}`,
    };
  };

  const findings = (look: string): FindingsReply => {
    const some = rows.filter(row => row.outcome === "absent").slice(0, 3);
    const findingRows = some.map(({ number, kind, form }) => ({
      ...{ number, kind, form, title: form, note: "changed, turn 3", sign: "absent" as const },
      outcome: "absent" as const,
      ...{ code: "CI001", pick: "recorded:1", verdict: "" as const },
    }));
    const groups = [
      {
        id: "absent" as const,
        title: "Missing in ◆1",
        count: findingRows.length,
        note: "",
        rows: findingRows,
      },
    ];
    return {
      look,
      label: "◆1",
      total: findingRows.length,
      groups,
      unchecked: "",
      ungrounded: [],
      known: true,
      sentence: "",
    };
  };

  const regret = () => {
    const marks = [96, 101, 130, 174, 180, 200].map((step, number) => ({
      ...{ step, number },
      sentence: `The file ${rows[number]?.form} was read again after it was lost: 3,812 tokens.`,
    }));
    return { marks, rebuilds: [] };
  };

  const answer = (message: Question) => {
    const { type, id } = message;
    if (type === "facts") return { ...list(message), type, id };
    if (type === "story") {
      const { number = 0, place = 0, pick } = message;
      return { ...story(number, place, pick), type, id };
    }
    if (type === "findings") return { ...findings(message.look ?? ""), type, id };
    if (type === "regret") return { ...regret(), type, id };
    if (type !== "grounding") return undefined;
    const sentence = "Line 1 names the path shadow; nothing in what it summarises does.";
    return { type, id, marks: [{ start: 3, end: 9, sentence }], hidden: 0, read: true };
  };
  return { rows, list, story, findings, regret, answer };
};
