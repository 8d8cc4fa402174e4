// Plays Python's writing of a summary: a look, a text that grows with every question, an end of one kind or another.

import type { Traits } from "../src/payloads/host";
import type { WritingReply } from "../src/payloads/replies";
import type { SecretName, SendingReply } from "../src/payloads/types";
import type { Kernel } from "./host";
import { smallPlan, smallScene, smallTraits } from "./small";

export const SUMMARY = `## Goal
Make the second commit see the new shadow branch, without touching the hooks that are already installed.

## Constraints
- The state file is read before anything else; nothing is written to it while a hook runs.
- No new dependency.

## Progress
- hooks_git_cmd.go reads the state file first and says which session it belongs to.
- The failing test is TestShadowBranchMigration; it fails at the second commit only.

## Decisions
- Carry the branch's name in the state file rather than in the environment: a hook of another shell would not have it.

## Next steps
1. Migrate the shadow branch when its base commit has moved.
2. Run the whole suite again.

## Critical context
- state.json, hooks_git_cmd.go, strategy/manual_commit.go
`;
const EVIL = "<img src=x onerror=alert(1)> the session begins: make the hooks work in every shell";
const SECRETS: SecretName[] = [
  { name: "anthropic-key-1", hint: "an API key of Anthropic", count: 2 },
  { name: "password-1", hint: "a value that stands after “password”", count: 1 },
];
const PERSONAL: SecretName[] = [{ name: "mail-1", hint: "a mail address", count: 3 }];
const MODELS = ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-1"];
const STEP = 170;
const COUNTED = Math.round(SUMMARY.split(/\s+/).length * 1.4);

/** The plan that is on the screen: `name` identifies it. */
interface Screen {
  name: string;
  cut: string;
  turn: number;
  /** Tokens of the placeholder. */
  tokens: number;
}

interface Message {
  type: string;
  id: string;
  by?: string;
  model?: string;
  focus?: string;
  keep?: readonly string[];
  digest?: string;
  text?: string;
  from?: number;
  what?: string;
}

/** `screen` says what is on it, `planned` is called when it has to be redrawn. */
const inventSummaryWriter = (screen: () => Screen, planned: () => void) => {
  let state: WritingReply["state"] = "none";
  let [by, full, shown, sentence, tries] = ["", "", 0, "", 1];
  let trouble = "";
  let written: { screen: Screen; by: string; tokens: number } | null = null;
  let begun = screen;

  const digestOf = ({ model, focus, keep }: Message) => JSON.stringify([screen().name, model, focus, keep]);

  const look = (message: Message): SendingReply => {
    const isModel = message.by === "model";
    const { tokens } = screen();
    const blank = {
      ...{
        host: "",
        model: "",
        requests: [],
        tokens: 0,
        counter: "",
        counterNote: "",
        price: "",
        priceNote: "",
      },
      ...{ redacted: [], kept: [], personal: [], notes: [], digest: "" },
    };
    const none = { by: message.by as SendingReply["by"], ready: false, ...blank };
    if (tokens === 0)
      return { ...none, sentence: "This plan summarises nothing: there is nothing to write." };
    if (!isModel) {
      const words = "Made here from the session's own words, within 4,000 tokens; nothing is sent.";
      return { ...none, ready: true, sentence: words };
    }
    if (message.model === "no-key")
      return {
        ...none,
        sentence: "There is no key: set ANTHROPIC_API_KEY where the kernel runs, and try again.",
      };
    const keep = message.keep ?? [];
    return {
      ...none,
      ...{
        ready: true,
        sentence: "One request is sent, with what the plan summarises; its answer becomes the summary.",
      },
      ...{ host: "api.anthropic.com", model: message.model || "claude-sonnet-4-5" },
      requests: [
        { kind: "initial", tokens: 39_800, cached: 30_100, text: EVIL.repeat(40), total: 161_204 },
        { kind: "turn_prefix", tokens: 1_420, cached: 0, text: EVIL, total: EVIL.length },
      ],
      ...{
        tokens: 41_220,
        counter: "calibrated",
        counterNote: "chars / 3.4, fitted to the usage the file records; ±7 %",
      },
      ...{
        price: "at most $0.43",
        priceNote: "$3 per million read, $15 written, none of it cached; prices of 2026-10-01",
      },
      redacted: SECRETS.filter(({ name }) => !keep.includes(name)),
      ...{ kept: SECRETS.map(({ name }) => name).filter(name => keep.includes(name)), personal: PERSONAL },
      digest: digestOf(message),
    };
  };

  const reply = (from = 0): WritingReply => {
    const words = full.slice(0, shown);
    const done = state === "done";
    const { cut, turn, name } = begun();
    return {
      ...{ state, by, sentence, text: words.slice(from, from + 20_000), from, total: words.length, tries },
      share: state === "writing" ? shown / Math.max(1, full.length) : null,
      tokens: done ? COUNTED : 0,
      usage: done && by === "claude-sonnet-4-5" ? "read 41,302 tokens, 30,104 of them cached; wrote 402" : "",
      price: done && by === "claude-sonnet-4-5" ? "$0.07" : "",
      findings: done && by === "pasted" ? ["It has no section “Next steps”."] : [],
      ...{ here: screen().name === name, cut, turn },
      ...{ models: MODELS, model: "claude-sonnet-4-5", limit: 4_000 },
    };
  };

  const end = () => {
    state = "done";
    shown = full.length;
    sentence = `Written by ${by}: ${COUNTED} tokens; the stand-in had ${begun().tokens}.`;
    written = { screen: begun(), by, tokens: COUNTED };
    planned();
  };

  const begin = (message: Message) => {
    const now = screen();
    begun = () => now;
    [full, shown, tries, sentence] = [message.text || SUMMARY, 0, 1, ""];
    by = message.by === "model" ? message.model || "claude-sonnet-4-5" : (message.by ?? "");
    trouble = message.focus ?? "";
    state = "writing";
    if (message.by !== "model") end();
  };

  const grow = () => {
    if (state !== "writing") return;
    shown = Math.min(full.length, shown + STEP);
    if (trouble === "fail" && shown > 3 * STEP) {
      [state, shown] = ["failed", 0];
      sentence =
        "The provider is overloaded (529), also after 3 tries. Nothing was kept; try again in a minute.";
    } else if (trouble === "again" && shown > 3 * STEP && tries === 1) [shown, tries] = [20, 2];
    else if (shown === full.length) end();
  };

  return {
    /** Of the plan with that name. */
    of: (name: string) =>
      written?.screen.name === name ? { by: written.by, tokens: written.tokens, digest: written.by } : null,
    /** Null if there is nothing to answer, undefined if it was not asked. */
    answer(message: Message): object | null | undefined {
      const { type, id } = message;
      if (type === "stop") {
        if (state === "writing") [state, shown] = ["stopped", 0];
        return null;
      }
      if (type === "sending") return { type, id, ...look(message) };
      if (type === "writing") {
        grow();
        return { type, id, ...reply(message.from) };
      }
      if (type === "unsummarise") {
        [state, written, shown] = ["none", null, 0];
        planned();
        return { type, id, ...reply() };
      }
      if (type !== "summarise") return undefined;
      if (message.by === "model" && message.digest !== digestOf(message))
        return { type: "error", id, sentence: "What would be sent is no longer what you saw: look again." };
      begin(message);
      return { type, id, ...reply() };
    },
    text: () => full,
  };
};

/** Python behind the small plan, once a cut is chosen or a summary is written. */
export const startWriter = (changes: Partial<Traits>): Kernel => {
  const { scene } = smallScene();
  let screen: Screen = { name: "", cut: "", turn: 0, tokens: 0 };
  const writer = inventSummaryWriter(
    () => screen,
    () => kernel.hear(kernel.plan(kernel.traits)),
  );
  const plan: Kernel["plan"] = ({ cut, policy, settings, _seq }) => {
    const place = cut === "" ? 3 : cut === "end" ? scene.entries : scene.entryIds.indexOf(cut);
    const name = JSON.stringify([policy, settings, place]);
    const id = scene.entryIds[place] ?? "end";
    const summary = writer.of(name);
    const small = smallPlan(scene, {
      ...{ seq: _seq, summary },
      cut: { place, id, by: cut === "" ? "policy" : "you", sentence: "" },
    });
    const tokens = small.plan.summaryTokens[place] ?? 0;
    const write = (column: string, value: number) => {
      const { offset = 0 } = small.wire.columns.find(packed => packed.name === column) ?? {};
      small.data.setInt32(offset + 4 * place, value, true);
    };
    screen = { name, cut: id, turn: scene.entryTurn[place] ?? -1, tokens };
    if (summary !== null) {
      write("summary_tokens", summary.tokens);
      write("after_total", (small.plan.afterTotal[place] ?? 0) + summary.tokens - tokens);
    }
    return { _plan: small.wire, _plan_data: small.data };
  };
  const answer = (message: Message): object | null => {
    const { type, id } = message;
    const wrote = writer.answer(message);
    if (wrote !== undefined) return wrote;
    const isWritten = writer.of(screen.name) !== null;
    const text =
      isWritten || type !== "summary" ? writer.text() : "Make the second commit see the shadow branch.";
    const side = { title: "Planned", size: "", text, total: text.length, note: "", sentence: "" };
    if (type === "summary") return { type, id, text, total: text.length, facts: [] };
    if (type !== "summaries") return null;
    return {
      type,
      id,
      recorded: null,
      planned: side,
      sentence: "",
      givenBack: { ...side, text: "", total: 0 },
    };
  };
  const kernel: Kernel = { traits: smallTraits(changes), plan, answer, hear() {} };
  Object.assign(kernel.traits, plan(kernel.traits));
  return kernel;
};
