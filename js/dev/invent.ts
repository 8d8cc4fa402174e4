// Invents a session: seeded, so that every run of a test or of the page sees the same one.

export interface InventedBlock {
  section: string;
  tokens: number;
  label: string;
  text: string;
}

export interface InventedEntry {
  id: string;
  role: number;
  turn: number;
  step: number;
  blocks: InventedBlock[];
  opens: boolean;
}

export interface Invented {
  entries: InventedEntry[];
  overview: { reported: number; estimated: number; turn: number }[];
  compactions: { step: number; before: number; after: number }[];
  first: number;
}

const FILES = [
  "src/auth.rs",
  "strategy/session_state.go",
  "hooks_git_cmd.go",
  "docs/guide.md",
  "cmd/root.go",
  "api/routes.py",
];
const WORDS =
  "the state file is read before the hook runs so the second commit sees an older shadow branch and the test fails".split(
    " ",
  );

export const makeRandom = (seed: number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

/** `size` live steps, after a recorded summary at the beginning. */
export const inventSession = (size = 114, seed = 7): Invented => {
  const random = makeRandom(seed);
  const between = (low: number, high: number) => Math.round(low + (high - low) * random());
  const long = (middle: number) =>
    Math.round(middle * Math.exp((random() + random() + random() - 1.5) * 1.7));
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const say = (count: number) => Array.from({ length: count }, () => pick(WORDS)).join(" ");
  const entries: InventedEntry[] = [];
  const add = (role: number, turn: number, step: number, opens: boolean, blocks: InventedBlock[]) =>
    entries.push({ id: `e${entries.length + 400}`, role, turn, step, blocks, opens });

  add(0, 30, 0, true, [
    { section: "compacted", tokens: 2140, label: "summary of turns 1–30", text: say(300) },
  ]);
  let turn = 30;
  for (let step = 0; step < size; ) {
    if (step > 0) turn++;
    const heavy = turn % 13 === 5;
    const length = heavy ? Math.round(size * 0.42) : between(1, 9);
    if (step > 0) add(0, turn, step, true, [{ section: "user", tokens: long(90), label: "", text: say(40) }]);
    for (let i = 0; i < length && step < size; i++, step++) {
      const last = i === length - 1 || step === size - 1;
      const calls = last ? 0 : random() < 0.16 ? between(2, 4) : 1;
      const blocks: InventedBlock[] = [];
      if (random() < 0.8) blocks.push({ section: "reasoning", tokens: long(150), label: "", text: say(60) });
      if (last || random() < 0.22)
        blocks.push({ section: "assistant", tokens: long(last ? 330 : 60), label: "", text: say(50) });
      const tools = Array.from({ length: calls }, () => pick(["Read", "Bash", "Edit", "Grep"]));
      for (const tool of tools) {
        const target = tool === "Bash" ? "go test ./cmd/…" : pick(FILES);
        blocks.push({
          section: "tool_call",
          tokens: long(tool === "Edit" ? 260 : 70),
          label: tool,
          text: `${tool} ${target}`,
        });
      }
      add(1, turn, step, false, blocks);
      for (const tool of tools) {
        const tokens = long(tool === "Read" ? 1500 : tool === "Bash" ? 700 : 120);
        add(2, turn, step, false, [
          {
            section: "tool_output",
            tokens,
            label: tool,
            text: `<b>${tool}</b> ${say(Math.min(1500, tokens))}`,
          },
        ]);
      }
    }
  }
  return { entries, ...inventOverview(entries, size, random) };
};

const FIXED = 26_000;

const inventOverview = (entries: InventedEntry[], size: number, random: () => number) => {
  const perStep = new Array<number>(size).fill(0);
  for (const entry of entries) {
    for (const block of entry.blocks) perStep[entry.step] = (perStep[entry.step] as number) + block.tokens;
  }
  const overview: Invented["overview"] = [];
  const compactions: Invented["compactions"] = [];
  const grow = (from: number, steps: number[], turns: [number, number], noise: number) => {
    let total = from;
    steps.forEach((tokens, i) => {
      total += tokens;
      const turn = Math.round(turns[0] + ((turns[1] - turns[0]) * i) / steps.length);
      const estimated = Math.round(total * (0.94 + 0.05 * random()));
      overview.push({ reported: i % 41 === 40 ? -1 : total + Math.round(noise * random()), estimated, turn });
    });
    return total;
  };
  const earlier = (count: number, mean: number) =>
    Array.from({ length: count }, () => Math.round(mean * 2.2 * random() ** 2.4 * 1.6));
  const part = Math.max(4, Math.round(size * 0.62));
  const first = grow(FIXED, earlier(part, 1700), [0, 11], 300);
  compactions.push({ step: overview.length, before: first, after: 31_000 });
  const second = grow(31_000, earlier(Math.round(part * 1.3), 1400), [11, 30], 300);
  compactions.push({ step: overview.length, before: second, after: FIXED + 2140 });
  const start = overview.length;
  grow(FIXED, perStep, [30, entries.at(-1)?.turn ?? 30], 200);
  return { overview, compactions, first: start };
};
