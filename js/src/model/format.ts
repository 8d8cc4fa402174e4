// Numbers and places as people read them.
import { isLegal, turnOfPlace } from "./cuts";
import { isUncut, type Plan, type Scene, totalAfter } from "./plan";

const MINUS = "\u2212";
const THIN = "\u202f";

/** 41 712 -> "41.7k", 918 -> "918", 1 240 000 -> "1.24M". */
export const short = (tokens: number): string => {
  const size = Math.abs(tokens);
  const sign = tokens < 0 ? MINUS : "";
  if (size < 1000) return sign + size;
  if (size < 999_950) return `${sign}${trim((size / 1000).toFixed(1))}k`;
  return `${sign}${trim((size / 1_000_000).toFixed(2))}M`;
};

/** 41712 -> "41,712", as Python's sentences write it. */
export const exact = (tokens: number): string =>
  (tokens < 0 ? MINUS : "") + String(Math.abs(tokens)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** A change with its sign: "+21.3k", "−38.1k", "0". */
export const signed = (tokens: number): string => (tokens > 0 ? `+${short(tokens)}` : short(tokens));

/** A change in full: "+21,320", "−38,100", "0". */
export const exactChange = (tokens: number): string => (tokens > 0 ? "+" : "") + exact(tokens);

export const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)}${THIN}%`;

/** The place as the slider says it: "turn 123, valid, 41.7k after". */
export const sayPlace = (scene: Scene, plan: Plan, place: number): string => {
  const after = totalAfter(plan, place);
  if (isUncut(plan, place)) return `no cut, ${short(after)} after`;
  const parts = [namePlace(scene, place), isLegal(scene, place) ? "valid" : "not valid"];
  if (after >= 0) parts.push(`${short(after)} after`);
  if (scene.placeSplits[place]) parts.push("splits the turn");
  return parts.join(", ");
};

export const namePlace = (scene: Scene, place: number): string =>
  place >= scene.entries ? "end" : `turn ${turnOfPlace(scene, place) + 1}`;

/** Turns first to last, 0-based in, 1-based out: "turn 45", "turns 45–48". */
export const nameTurns = (first: number, last: number): string =>
  first === last ? `turn ${first + 1}` : `turns ${first + 1}–${last + 1}`;

export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${exact(count)} ${count === 1 ? noun : many}`;

const trim = (digits: string) => digits.replace(/\.0+$/, "");

/** A path in pieces, each with the slash that ends it. */
export const splitPath = (path: string): string[] => path.split(/(?<=\/)/);
