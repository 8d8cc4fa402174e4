// The colours and patterns of the canvases, read from the stylesheet so that one place defines them.

import { OUTSIDE } from "../../model/outside";
import type { Labelled } from "../../payloads/types";

const NAMES = ["ink", "text", "dim", "faint", "gone", "line", "band", "area", "ground", "bad"] as const;
type Colours = Record<(typeof NAMES)[number], string>;

export interface Palette extends Colours {
  font: string;
  /** How much larger than usual the type is, and with it the picture. */
  scale: number;
  ratio: number;
  sections: string[];
  /** A fill for a section (by code) under a fate (by id). */
  fill(section: number, fate: string): string | CanvasPattern;
  /** A fate without a section: its pattern in the grey of words. */
  fate(fate: string): string | CanvasPattern;
  /** The pattern of a state's tone. */
  tone(tone: string): string | CanvasPattern;
  /** The hatch of room that the policy keeps free. */
  reserve(): string | CanvasPattern;
}

type Draw = (context: CanvasRenderingContext2D, size: number, hue: string) => void;

/** Pixels of the workbench's type as it is without anybody's settings. */
const TYPE = 13;

export const readScale = (root: HTMLElement): number =>
  Math.max(1, Number.parseFloat(getComputedStyle(root).fontSize) / TYPE || 1);

export const readPalette = (root: HTMLElement, sections: readonly Labelled[]): Palette => {
  const style = getComputedStyle(root);
  // Read once: reading a style in the middle of a frame forces the browser to compute it.
  const values = new Map<string, string>();
  const find = (name: string): string => {
    const value = values.get(name) ?? style.getPropertyValue(`--ci-${name}`).trim();
    values.set(name, value);
    return value;
  };
  const read = (name: string) => find(name) || "#888";
  const hues = sections.map(({ id }) => find(`s-${id}`) || read("s-unknown"));
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  const colours = Object.fromEntries(NAMES.map(name => [name, read(name)])) as Colours;
  const { gone, dim } = colours;
  const tiles = new Map<string, string | CanvasPattern>();
  const tile = (key: string, draw: Draw, hue: string) => {
    const pattern = tiles.get(key) ?? makeTile(draw, hue, ratio);
    tiles.set(key, pattern);
    return pattern;
  };
  return {
    ...colours,
    font: style.fontFamily || "sans-serif",
    scale: readScale(root),
    ratio,
    sections: hues,
    fill(section, fate) {
      const hue = GREY.has(fate) ? gone : (hues[section] ?? gone);
      const draw = PATTERNS[OUTSIDE.has(sections[section]?.id ?? "") ? "outside" : fate];
      if (draw === undefined) return hue;
      return tile(`${hue} ${fate}`, draw, hue);
    },
    fate(fate) {
      const hue = GREY.has(fate) ? gone : dim;
      const draw = PATTERNS[fate];
      return draw === undefined ? hue : tile(`fate ${fate}`, draw, hue);
    },
    tone(tone) {
      const hue = find(`t-${tone}`) || read("faint");
      const draw = TONES[tone];
      return draw === undefined ? hue : tile(`${hue} ${tone}`, draw, hue);
    },
    reserve: () => tile("reserve", stripes, read("faint")),
  };
};

const GREY = new Set(["dropped", "cleared"]);

const hatch: Draw = (context, size, hue) => {
  wash(context, size, hue, 0.2);
  stripe(context, size, 0.22);
};

const stripes: Draw = (context, size) => stripe(context, size, 0.12);

const lattice: Draw = (context, size, hue) => {
  wash(context, size, hue, 0.25);
  stripe(context, size, 0.14);
  context.translate(size, 0);
  context.scale(-1, 1);
  stripe(context, size, 0.14);
};

const stripe = (context: CanvasRenderingContext2D, size: number, weight: number) => {
  context.lineWidth = size * weight;
  context.beginPath();
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift - size * 0.25, size * 1.25);
    context.lineTo(shift + size * 1.25, -size * 0.25);
  }
  context.stroke();
};

const dots: Draw = (context, size, hue) => {
  wash(context, size, hue, 0.1);
  const radius = size * 0.2;
  for (const [x, y] of [
    [0.25, 0.25],
    [0.75, 0.75],
  ] as const) {
    context.beginPath();
    context.arc(x * size, y * size, radius, 0, 2 * Math.PI);
    context.fill();
  }
};

const lines: Draw = (context, size) => context.fillRect(0, size * 0.4, size, size * 0.22);

const PATTERNS: Record<string, Draw> = {
  summarised: hatch,
  outside: lattice,
  pointer: dots,
  cleared: lines,
};

/** The harness's states, from calm to severe; a state without a pattern here is solid. */
const TONES: Record<string, Draw> = {
  green: (context, size, hue) => wash(context, size, hue, 0.3),
  yellow: dots,
  orange: hatch,
  red: lattice,
  grey: lines,
};

const TILE = 5;

const makeTile = (draw: Draw, hue: string, ratio: number): string | CanvasPattern => {
  const size = Math.round(TILE * ratio);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  if (context === null) return hue;
  context.fillStyle = context.strokeStyle = hue;
  draw(context, size, hue);
  const pattern = context.createPattern(canvas, "repeat");
  // Tiles are in device pixels while the canvases are scaled to CSS pixels.
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern ?? hue;
};

const wash = (context: CanvasRenderingContext2D, size: number, hue: string, strength: number) => {
  context.globalAlpha = strength;
  context.fillStyle = hue;
  context.fillRect(0, 0, size, size);
  context.globalAlpha = 1;
};
