// What an exported page holds, unpacked: every plan at every cut, and the texts. Python made all of it.
import type { Settings, Traits, Versus } from "../payloads/host";
import type {
  BodyReply,
  LessonCheckReply,
  LessonReply,
  LessonStepReply,
  LessonsReply,
  PlanPayload,
  RunPayload,
  ScenePayload,
} from "../payloads/types";
import { inflate } from "./packed";

/** A picture and the number of its bytes. */
type Drawn<T> = readonly [wire: T, data: number];
/** A text cut to what fits, and its whole length. */
type Text = readonly [text: string, total: number];
/** A part of the text before that is kept, or gone where it is negative; a text is new. */
type Piece = number | string;
/** What stands for rewritten blocks, by row. */
type Rewritten = Readonly<Record<string, readonly [text: string, total: number, pieces: Piece[]]>>;

interface HandPlan extends PlanPayload {
  /** What each rule does, in their order. */
  deltas: (number | null)[];
}

export interface HeldPlan {
  label: string;
  settings: Settings;
  own: Drawn<PlanPayload>;
  /** The plan at the first place where a hand may cut; the others differ from it by what `at` says. */
  hand: HandPlan | null;
  at: {
    places: readonly number[];
    data: readonly number[];
    /** By field: its value at each of the places; they travel apart from it, field by field. */
    differs?: Readonly<Record<string, readonly unknown[]>>;
  };
  /** Why there is more to say at the other places; "" where all of them are held. */
  far: string;
  /** By the number of the columns: before the cut and behind it. */
  texts: Readonly<Record<string, readonly [older: Rewritten, kept: Rewritten]>>;
  /** By place: the whole length, then runs of lines. */
  summaries: Readonly<Record<string, readonly number[]>>;
  facts: [string, string][];
  /** The same of summaries that somebody wrote, by their places. */
  written?: Record<number, [string, string][]>;
}

/** The lessons about this session, and what is said to every attempt that the page allows. */
export interface HeldLessons {
  lessons: Omit<LessonsReply, "type" | "id">;
  /** By link. */
  steps: Readonly<Record<string, Omit<LessonStepReply, "type" | "id">>>;
  checks: Readonly<Record<string, HeldCheck>>;
  /** By policy: how its rules play at its own cut. */
  played: Readonly<Record<string, Omit<LessonReply, "type" | "id">>>;
  /** By place: what an illegal cut would break. */
  refused: Readonly<Record<string, Omit<LessonReply, "type" | "id">>>;
}

interface HeldCheck {
  verdicts: readonly Omit<LessonCheckReply, "type" | "id">[];
  /** By policy, answer and place: the number of a verdict; "*" is any policy and any place. */
  by: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;
}

export interface Held {
  wanted: Pick<Traits, "cut" | "policy" | "settings" | "at" | "look"> & { pins: string[]; versus: Versus };
  scene: ScenePayload;
  sceneData: number;
  plans: Readonly<Record<string, HeldPlan>>;
  /** What plans at other places differ by: by field, then by policy. */
  differs: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;
  recorded: { plan?: Drawn<PlanPayload>; sentence?: string };
  /** What the file records right after the moment. */
  side?: Drawn<PlanPayload> | null;
  /** Plan B as it was when the page was made. */
  other: Drawn<PlanPayload> | null;
  run: Drawn<RunPayload> | null;
  /** The tab to open on. */
  tab?: string;
  /** What a person asks first, by what is asked: "findings recorded:1", "story recorded:1 29". */
  told: Readonly<Record<string, object>>;
  lessons?: HeldLessons | null;
  /** A preview that is how the text of its block begins is told by its length, negative where dots follow. */
  rows: readonly (readonly [label: string, preview: string])[];
  bodies: readonly (readonly [text: string, total: number, facts: [string, string][]])[];
  lines: readonly string[];
  buffers: readonly (readonly [offset: number, length: number])[];
}

export interface Store {
  held: Held;
  bytes(number: number): DataView;
}

const CUT = "'@cut@'";
/** Where the plan at the first place says the same. */
const SAME = "@same@";

/** Unpacks base85 of gzip of: the length of a JSON header (u32, little endian), the header, the buffers. */
export const unpack = async (packed: string): Promise<Store> => {
  const frame = await inflate(packed);
  const start = 4 + new DataView(frame).getUint32(0, true);
  const held = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, start - 4))) as Held;
  for (const [field, columns] of Object.entries(held.differs))
    for (const [policy, column] of Object.entries(columns)) {
      const { at } = held.plans[policy] as HeldPlan;
      at.differs = { ...at.differs, [field]: column };
    }
  held.rows = held.rows.map(([label, preview]: readonly [string, string | number], row) => [
    label,
    typeof preview === "string" ? preview : begin(held.bodies[row]?.[0] ?? "", preview),
  ]);
  return {
    held,
    bytes(number) {
      const [offset, length] = held.buffers[number] ?? [0, 0];
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

/** The plan of a policy with its own cut ("") or with a cut at a place; undefined where none may stand. */
export const findPlan = (plan: HeldPlan, cut: string, place: number): Drawn<PlanPayload> | undefined => {
  if (cut === "") return plan.own;
  const { hand } = plan;
  if (hand === null) return undefined;
  const known = plan.at.places.indexOf(place);
  const index = known < 0 && plan.far !== "" ? 0 : known;
  const [at, data] = [plan.at.places[index], plan.at.data[index]];
  if (at === undefined || data === undefined) return undefined;
  const values = Object.entries(plan.at.differs ?? {}).map(
    ([name, column]) => [name, column[index]] as const,
  );
  const differs = Object.fromEntries(values.filter(([, value]) => value !== SAME));
  const whole: HandPlan = { ...hand, ...differs };
  // What it notes is mostly said once.
  const sentence = { ...whole.sentence, notes: whole.sentence.notes ?? whole.notes };
  const rules = whole.rules.map((rule, i) => ({ ...rule, delta: whole.deltas[i] ?? null }));
  const named = (recipe: string) => recipe.replace(CUT, () => quote(cut));
  const recipes = { recipe: named(whole.recipe), shortRecipe: named(whole.shortRecipe ?? whole.recipe) };
  if (at === place) return [{ ...whole, sentence, rules, ...recipes }, data];
  const unknown = whole.rules.map(rule => ({ ...rule, delta: null }));
  const moved = { ...whole.cut, place, id: cut, by: "you" as const };
  return [{ ...whole, sentence, cut: moved, rules: unknown, notes: [plan.far], ...recipes }, data];
};

/** A Python literal, in Python's own quotes where that is all it needs. */
const quote = (name: string): string => {
  const literal = JSON.stringify(name);
  const isPlain = literal.length === name.length + 2 && [...name].every(letter => letter !== "'");
  return isPlain ? `'${name}'` : literal;
};

/** The difference laid out, null where the page holds less of the text than it is of. */
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

/** The summary that would stand at a place; undefined where the page does not hold it. */
export const findSummary = (held: Held, plan: HeldPlan, place: number): Text | undefined => {
  const found = plan.summaries[place];
  if (found === undefined) return undefined;
  const [total = 0, ...runs] = found;
  const lines: string[] = [];
  for (let i = 0; i < runs.length; i += 2) {
    const first = runs[i] as number;
    lines.push(...held.lines.slice(first, first + (runs[i + 1] as number)));
  }
  return [lines.join("\n"), total];
};
