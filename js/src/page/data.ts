// The content of an exported page, unpacked: every plan at every cut, and the texts. Python made all of it.
import type { Settings, Traits, Versus } from "../payloads/host";
import type { BodyReply, PlanPayload, RunPayload, ScenePayload } from "../payloads/types";
import { inflate } from "./packed";

/** A payload and the index of its binary data. */
type Drawn<T> = readonly [wire: T, data: number];
/** A text cut to what fits, and its whole length. */
type Text = readonly [text: string, total: number];
/** A kept part of the earlier text, by length, negative if it is removed; a string is new text. */
type Piece = number | string;
/** Replacements of rewritten blocks, by row. */
type Rewritten = Readonly<Record<string, readonly [text: string, total: number, pieces: Piece[]]>>;

interface HandPlan extends PlanPayload {
  /** The effect of each rule, in order. */
  deltas: (number | null)[];
}

export interface HeldPlan {
  label: string;
  settings: Settings;
  own: Drawn<PlanPayload>;
  /** The plan at the first valid cut point; the others differ from it by what `at` contains. */
  hand: HandPlan | null;
  at: {
    places: readonly number[];
    data: readonly number[];
    /** By field: its value at each of the places; they travel apart from it, field by field. */
    differs?: Readonly<Record<string, readonly unknown[]>>;
  };
  /** The reason why other places are missing; "" if the page contains all of them. */
  far: string;
  /** By the number of the columns: before the cut and behind it. */
  texts: Readonly<Record<string, readonly [older: Rewritten, kept: Rewritten]>>;
  /** By place: the whole length, then runs of lines. */
  summaries: Readonly<Record<string, readonly number[]>>;
  facts: [string, string][];
  /** Summaries written by the user or a model, by place. */
  written?: Record<number, [string, string][]>;
}

export interface PageContent {
  wanted: Pick<Traits, "cut" | "policy" | "settings" | "at" | "look"> & { pins: string[]; versus: Versus };
  scene: ScenePayload;
  sceneData: number;
  plans: Readonly<Record<string, HeldPlan>>;
  /** Differences of the plans at other places: by field, then by policy. */
  differs: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;
  recorded: { plan?: Drawn<PlanPayload>; sentence?: string };
  /** The recorded state right after this point in time. */
  side?: Drawn<PlanPayload> | null;
  /** Plan B as it was when the page was made. */
  other: Drawn<PlanPayload> | null;
  run: Drawn<RunPayload> | null;
  /** The tab to open on. */
  tab?: string;
  /** Answers to the first questions of a user, by question: "findings recorded:1", "story recorded:1 29". */
  told: Readonly<Record<string, object>>;
  /** A preview that is a prefix of its block's text is given by its length, negative if dots follow. */
  rows: readonly (readonly [label: string, preview: string])[];
  bodies: readonly (readonly [text: string, total: number, facts: [string, string][]])[];
  lines: readonly string[];
  buffers: readonly (readonly [offset: number, length: number])[];
}

export interface PageData {
  content: PageContent;
  bytes(number: number): DataView;
}

const CUT = "'@cut@'";
/** Marks a field that equals the same field of the plan at the first place. */
const SAME = "@same@";

/** Unpacks base85 of gzip of: the length of a JSON header (u32, little endian), the header, the buffers. */
export const unpack = async (packed: string): Promise<PageData> => {
  const frame = await inflate(packed);
  const start = 4 + new DataView(frame).getUint32(0, true);
  const content = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, start - 4))) as PageContent;
  for (const [field, columns] of Object.entries(content.differs))
    for (const [policy, column] of Object.entries(columns)) {
      const { at } = content.plans[policy] as HeldPlan;
      at.differs = { ...at.differs, [field]: column };
    }
  content.rows = content.rows.map(([label, preview]: readonly [string, string | number], row) => [
    label,
    typeof preview === "string" ? preview : begin(content.bodies[row]?.[0] ?? "", preview),
  ]);
  return {
    content,
    bytes(number) {
      const [offset, length] = content.buffers[number] ?? [0, 0];
      return new DataView(frame, start + offset, length);
    },
  };
};

/** How a text begins, with one blank for several. */
const begin = (text: string, length: number): string => {
  const flat = text
    .split(/[ \t\n\r\f\v]+/)
    .join(" ")
    .slice(0, Math.abs(length));
  return length < 0 ? `${flat}…` : flat;
};

/** The plan of a policy with its own cut ("") or with a cut at a place; undefined if the place is not valid. */
export const findPlan = (plan: HeldPlan, cut: string, place: number): Drawn<PlanPayload> | undefined => {
  if (cut === "") return plan.own;
  const { hand } = plan;
  if (hand === null) return undefined;
  const planIndex = plan.at.places.indexOf(place);
  const index = planIndex < 0 && plan.far !== "" ? 0 : planIndex;
  const [at, data] = [plan.at.places[index], plan.at.data[index]];
  if (at === undefined || data === undefined) return undefined;
  const values = Object.entries(plan.at.differs ?? {}).map(
    ([name, column]) => [name, column[index]] as const,
  );
  const differs = Object.fromEntries(values.filter(([, value]) => value !== SAME));
  const whole: HandPlan = { ...hand, ...differs };
  // Its notes mostly repeat.
  const sentence = { ...whole.sentence, notes: whole.sentence.notes ?? whole.notes };
  const rules = whole.rules.map((rule, i) => ({ ...rule, delta: whole.deltas[i] ?? null }));
  const named = (recipe: string) => recipe.replace(CUT, () => quote(cut));
  const recipes = { recipe: named(whole.recipe), shortRecipe: named(whole.shortRecipe ?? whole.recipe) };
  if (at === place) return [{ ...whole, sentence, rules, ...recipes }, data];
  const unknown = whole.rules.map(rule => ({ ...rule, delta: null }));
  const moved = { ...whole.cut, place, id: cut, by: "you" as const };
  return [{ ...whole, sentence, cut: moved, rules: unknown, notes: [plan.far], ...recipes }, data];
};

/** A Python literal, quoted like Python's own if possible. */
const quote = (name: string): string => {
  const literal = JSON.stringify(name);
  const isPlain = literal.length === name.length + 2 && [...name].every(letter => letter !== "'");
  return isPlain ? `'${name}'` : literal;
};

/** The difference in full, null if the page contains less of the text than it covers. */
export const layOut = (before: string, pieces: readonly Piece[]): NonNullable<BodyReply["diff"]> | null => {
  let at = 0;
  const out = pieces.map<["same" | "gone" | "new", string]>(piece => {
    if (typeof piece === "string") return ["new", piece];
    const from = at;
    at += Math.abs(piece);
    return [piece < 0 ? "gone" : "same", before.slice(from, at)];
  });
  return at === before.length && out.length > 0 ? out : null;
};

/** The summary for a cut at a place; undefined if the page does not contain it. */
export const findSummary = (content: PageContent, plan: HeldPlan, place: number): Text | undefined => {
  const match = plan.summaries[place];
  if (match === undefined) return undefined;
  const [total = 0, ...runs] = match;
  const lines: string[] = [];
  for (let i = 0; i < runs.length; i += 2) {
    const first = runs[i] as number;
    lines.push(...content.lines.slice(first, first + (runs[i + 1] as number)));
  }
  return [lines.join("\n"), total];
};
