// The content of an exported page, unpacked: the plan at every cut, and the texts. Python made all of it.
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

/**
 * Values by index: ["=", the one of all], ["|", one for each], ["[", a column for each item of a list], or a column for
 * each field of an object.
 */
type Column = readonly unknown[] | Fields;
interface Fields {
  readonly [field: string]: Column;
}

export interface HeldPlan {
  label: string;
  settings: Settings;
  /** The valid cut points that the page holds. */
  places: readonly number[];
  /** The index of the binary data: of the policy's own cut, then of those at `places`; `drawn` has the same order. */
  data: readonly number[];
  drawn: Fields;
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
  plan: HeldPlan;
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
/** Replaces, in a column, a field or an item that a value does not have. */
const MISSING = "@missing@";

/** Unpacks base85 of gzip of: the length of a JSON header (u32, little endian), the header, the bytes of the buffers. */
export const unpack = async (packed: string): Promise<PageData> => {
  const frame = await inflate(packed);
  const start = 4 + new DataView(frame).getUint32(0, true);
  const content = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, start - 4))) as PageContent;
  content.rows = content.rows.map(([label, preview]: readonly [string, string | number], row) => [
    label,
    typeof preview === "string" ? preview : begin(content.bodies[row]?.[0] ?? "", preview),
  ]);
  const buffers = readPlanes(new Uint8Array(frame, start));
  return {
    content,
    bytes(number) {
      const [offset, length] = content.buffers[number] ?? [0, 0];
      return new DataView(buffers, offset, length);
    },
  };
};

/** The bytes of numbers of four bytes, of which the first ones come first, then the second ones and so on. */
const readPlanes = (planes: Uint8Array): ArrayBuffer => {
  const out = new Uint8Array(planes.length);
  const count = planes.length / 4;
  for (let at = 0; at < out.length; at++) out[at] = planes[(at % 4) * count + Math.floor(at / 4)] as number;
  return out.buffer;
};

/** How a text begins, with one blank for several. */
const begin = (text: string, length: number): string => {
  const flat = text
    .split(/[ \t\n\r\f\v]+/)
    .join(" ")
    .slice(0, Math.abs(length));
  return length < 0 ? `${flat}…` : flat;
};

const isList = (column: Column): column is readonly unknown[] => Array.isArray(column);

const readColumn = (column: Column, index: number): unknown => {
  if (isList(column)) {
    const [kind, ...values] = column;
    if (kind === "[")
      return values.map(value => readColumn(value as Column, index)).filter(value => value !== MISSING);
    return values[kind === "=" ? 0 : index];
  }
  const fields = Object.entries(column).map(([field, values]) => [field, readColumn(values, index)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== MISSING));
};

/** The plan with the policy's own cut ("") or with a cut at a place; undefined if the place is not valid. */
export const findPlan = (plan: HeldPlan, cut: string, place: number): Drawn<PlanPayload> | undefined => {
  const position = cut === "" ? 0 : plan.places.indexOf(place) + 1;
  const isFar = cut !== "" && position === 0 && plan.far !== "";
  const index = isFar ? 1 : position;
  const data = plan.data[index];
  if (data === undefined || (cut !== "" && index === 0)) return undefined;
  const whole = readColumn(plan.drawn, index) as PlanPayload;
  if (cut === "") return [whole, data];
  const write = (recipe: string) => recipe.replace(CUT, () => quote(cut));
  const named = {
    cut: { ...whole.cut, id: cut },
    recipe: write(whole.recipe),
    shortRecipe: write(whole.shortRecipe ?? whole.recipe),
  };
  if (!isFar) return [{ ...whole, ...named }, data];
  const rules = whole.rules.map(rule => ({ ...rule, delta: null }));
  return [{ ...whole, ...named, cut: { ...named.cut, place, by: "you" }, rules, notes: [plan.far] }, data];
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
