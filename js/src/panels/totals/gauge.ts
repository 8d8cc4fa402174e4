// Before, recorded and planned as rows on one scale from nothing to the window, and below them the thresholds.

import { lineUp } from "../../model/axis";
import { exact, percent, short, signed } from "../../model/format";
import { OUTSIDE } from "../../model/outside";
import { decideSame, isUncut, type Plan, type Scene, sectionAfter, totalAfter } from "../../model/plan";
import type { Actions, Picture, View } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h, listen, setAttributes, setShown, setText, toneChip } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";
import { makeNotice } from "./notice";

const BAR = 16;
const GAP = 8;
const FONT = 12;

interface Share {
  section: number;
  tokens: number;
  fate: string;
}

/** A row as it is to be drawn: its pieces, the words behind them, and a piece that nobody is sure of. */
interface Bar {
  shares: Share[];
  words: string;
  /** They name one piece and belong into it. */
  inside?: boolean;
  range: readonly [low: number, high: number] | null;
  hollow: boolean;
}

/** `picker` chooses the policy of the plan, in the name of its row. */
export const makeGauge = (actions: Actions, picker: View): View => {
  const before = makeRow("before", "before");
  const recorded = makeRow("recorded", "");
  const planned = makeRow("after", "plan", picker.node);
  const other = makeRow("other", "plan B");
  const ticks = h("div", { class: "ci-ticks" });
  const notice = h("div", { class: "ci-notice" });
  const drawNotice = makeNotice(notice, actions);
  const rows = [before, recorded, planned, other];
  const node = h(
    "section",
    { class: "ci-gauge", "aria-label": "Tokens before and after" },
    ...rows.map(row => row.node),
    h("div", { class: "ci-grow ci-scale" }, ticks),
    notice,
  );
  let width = 0;

  return {
    node,
    draw(picture, parts) {
      picker.draw(picture, parts);
      const { scene, plan: seen, other: theirs, recorded: happened } = picture;
      const still = STILL.some(part => parts.has(part));
      const looksBack = seen === happened;
      // A lesson plays a part of the plan.
      const plan = looksBack ? picture.planned : seen;
      if (still) {
        setShown(recorded.node, happened !== null);
        setShown(other.node, theirs !== null);
        node.classList.toggle("ci-four", theirs !== null && happened !== null);
        if (width === 0 || WIDTHS.some(part => parts.has(part))) width = ticks.clientWidth;
        const shares = sharesBefore(seen);
        before.draw(picture, { ...BARE, shares, words: nameLargest(scene, shares), inside: true }, width);
        const { total } = seen.before;
        const said = scene.window === null ? "" : `${percent(total, scene.window)} of ${short(scene.window)}`;
        before.read(
          short(total),
          said,
          `${exact(total)} tokens, counted by ${scene.unit.long} Window: ${scene.windowSource}`,
        );
        if (happened !== null) {
          recorded.name(happened.label ?? "recorded", happened.policySource, looksBack);
          drawAfter(recorded, picture, happened, happened.cut.place, width);
          hintFile(recorded, happened);
        }
        planned.name("plan", plan.chosen || plan.policySource, !looksBack);
        if (theirs !== null) {
          other.name(`B: ${theirs.label ?? theirs.policyTitle}`, theirs.policySource, false);
          drawAfter(other, picture, theirs, theirs.cut.place, width);
          const [mine, its] = [totalAfter(plan, plan.cut.place), totalAfter(theirs, theirs.cut.place)];
          if (mine >= 0 && its >= 0) other.hint(`${exact(its - mine)} against plan A`);
          hintFile(other, theirs);
        }
        drawTicks(ticks, picture, seen, width);
        drawNotice(plan, looksBack);
      }
      if (!still && !parts.has("place")) return;
      const place = looksBack ? plan.cut.place : picture.place;
      const same = happened !== null && place === plan.cut.place && isAsRecorded(plan, happened);
      drawAfter(planned, picture, plan, place, width, same);
    },
    dispose: () => picker.dispose?.(),
  };
};

const WIDTHS = ["scene", "other", "size", "theme"] as const;
const STILL = ["scene", "plan", "look", "other", "size", "theme"] as const;
const BARE: Bar = { shares: [], words: "", range: null, hollow: false };

type Row = ReturnType<typeof makeRow>;

/** A name, a bar with words in it or behind it, a total, and its difference; the bar tells its pieces under the pointer. */
const makeRow = (id: string, called: string, control?: HTMLElement) => {
  const label = h("span", { class: "ci-row-name" }, called);
  const bar = h("canvas", { class: "ci-bar", role: "img", "aria-label": called });
  const words = h("span", { class: "ci-bar-words", "aria-hidden": "true" });
  const total = h("b");
  const change = h("span", { class: "ci-change" });
  const reading = h(
    "output",
    { class: "ci-reading", "data-testid": `gauge-${id}`, "aria-live": "off", tabindex: 0 },
    total,
    " ",
    change,
  );
  const node = h(
    "div",
    { class: "ci-grow", "data-row": id },
    h("div", { class: "ci-row-head" }, label, ...(control === undefined ? [] : [control])),
    h("div", { class: "ci-bar-stage" }, bar, words),
    reading,
  );
  let shown: { picture: Picture; shares: Share[]; width: number } | undefined;
  let known = "";
  listen(bar, "pointermove", event => shown && hint(event, shown));
  listen(bar, "pointerleave", event => showHint(event, null));
  return {
    node,
    name(text: string, title: string, chosen: boolean) {
      setText(label, text);
      setAttributes(label, { title });
      node.classList.toggle("ci-shown", chosen);
    },
    draw(picture: Picture, row: Bar, width: number) {
      shown = { picture, shares: row.shares, width };
      drawBar(bar, picture, row, width);
      placeWords(words, picture, row, width);
      const said = row.shares.length === 0 ? "" : `: ${sayShares(picture.scene, row.shares)}`;
      setAttributes(bar, { "aria-label": label.textContent + said });
    },
    read(sum: string, difference: string, title: string, bad = false) {
      setText(total, sum);
      setText(change, difference);
      known = title;
      setAttributes(reading, { title });
      node.classList.toggle("ci-refused", bad);
    },
    /** More in the tooltip of the total. */
    hint(more: string) {
      known += `; ${more}`;
      setAttributes(reading, { title: known });
    },
  };
};

const drawAfter = (row: Row, picture: Picture, plan: Plan, place: number, width: number, same = false) => {
  const { scene } = picture;
  const total = totalAfter(plan, place);
  const own = place === plan.cut.place && !picture.dragging;
  const { low, high } = plan.gauge ?? { low: total, high: total };
  const range = own && low < high ? ([low, high] as const) : null;
  const shares = sharesAfter(scene, plan, place);
  const words = same ? SAME : nameParts(scene, plan, place, shares);
  row.draw(picture, { shares, words, range, hollow: same }, width);
  if (total < 0) return row.read("–", "no cut here", "");
  const difference = total - plan.before.total;
  const spread = range === null ? "" : `${short(low)}–${short(high)}`;
  // A size that is recorded has its source beside it, and its difference in the tooltip.
  const told = plan.source ?? (spread || signed(difference));
  const refused = own && plan.sentence.case === "refused";
  row.read(
    short(total),
    same ? "same so far" : refused ? "would be refused" : told,
    `${exact(total)} tokens, ${exact(difference)}${spread && `, ${spread}`}`,
    refused,
  );
};

/** What the file itself says of a compaction that it records. */
const hintFile = (row: Row, { told }: Plan) => {
  for (const [what, tokens, by] of told ?? []) row.hint(`${what} ${tokens}: ${by}`);
};

const SAME = "the same so far: drag the cut, or choose a policy";

/** Nobody has changed anything yet of what happened. */
const isAsRecorded = (plan: Plan, happened: Plan): boolean =>
  plan.after.total === happened.after.total &&
  plan.cut.place === happened.cut.place &&
  decideSame(plan, happened);

const drawBar = (canvas: HTMLCanvasElement, picture: Picture, row: Bar, width: number) => {
  const { scene, palette, plan } = picture;
  const scale = width / capacity(picture);
  paint(canvas, width, BAR, palette.ratio, context => {
    const end = snap((scene.window ?? capacity(picture)) * scale, palette.ratio);
    context.fillStyle = palette.band;
    context.fillRect(0, 0, end, BAR);
    let x = 0;
    for (const { section, tokens, fate } of row.shares) {
      const left = snap(x * scale, palette.ratio);
      x += tokens;
      const right = snap(x * scale, palette.ratio);
      if (row.hollow) continue;
      context.fillStyle = palette.ground;
      context.fillRect(left, 0, right - left, BAR);
      // A hair of ground between two sections: in grey some of them are alike.
      const gap = right - left > 3 ? 1 : 0;
      context.fillStyle = palette.fill(section, fate);
      context.fillRect(left, 0, right - left - gap, BAR);
    }
    if (row.range !== null) {
      const [from, to] = row.range.map(tokens => snap(tokens * scale, palette.ratio)) as [number, number];
      context.fillStyle = palette.ground;
      context.fillRect(from, 0, to - from, BAR);
      context.fillStyle = palette.reserve();
      context.fillRect(from, 0, to - from, BAR);
    }
    if (row.hollow) {
      context.strokeStyle = palette.dim;
      context.setLineDash([3, 3]);
      context.strokeRect(0.5, 0.5, Math.max(1, x * scale - 1), BAR - 1);
      context.setLineDash([]);
    }
    for (const { tokens } of marksOf(scene, plan)) {
      if (tokens === scene.window && plan.before.total <= tokens) continue;
      context.fillStyle = tokens <= x ? palette.ground : palette.dim;
      context.fillRect(Math.min(snap(tokens * scale, palette.ratio), width - 1), 0, 1, BAR);
    }
  });
};

let measuring: CanvasRenderingContext2D | null | undefined;

/** The width of words as they are drawn, without a layout. */
const widthOf = (words: string, font: string): number => {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (measuring === null) return 0;
  measuring.font = `${FONT}px ${font}`;
  return measuring.measureText(words).width;
};

/** In the largest piece where that is long enough and the row says only that, else behind the bar. */
const placeWords = (node: HTMLElement, picture: Picture, row: Bar, width: number) => {
  const scale = width / capacity(picture);
  const needed = widthOf(row.words, picture.palette.font) + 2 * GAP;
  const end = Math.max(sumOf(row.shares), row.range?.[1] ?? 0) * scale;
  const largest = largestOf(row.shares);
  const start = sumOf(row.shares.slice(0, row.shares.indexOf(largest)));
  const fitsBehind = width - end >= needed;
  const isRoomy = !row.hollow && largest.fate === "verbatim" && largest.tokens * scale >= needed;
  const isInside = isRoomy && (row.inside === true || !fitsBehind);
  const id = picture.scene.sections[largest.section]?.id ?? "";
  const solid = isInside && !OUTSIDE.has(id);
  setShown(node, fitsBehind || solid);
  setText(node, row.words);
  node.style.color = solid ? `var(--ci-i-${id}, #000)` : "";
  node.style.transform = `translateX(${Math.round((solid ? start * scale : end) + GAP)}px)`;
};

const sumOf = (shares: readonly Share[]): number => shares.reduce((sum, { tokens }) => sum + tokens, 0);

const NONE: Share = { section: 0, tokens: 0, fate: "" };
const largestOf = (shares: readonly Share[]): Share =>
  shares.reduce((most, share) => (share.tokens > most.tokens ? share : most), NONE);

const nameLargest = (scene: Scene, shares: readonly Share[]): string => {
  const { section, tokens } = largestOf(shares);
  return tokens > 0 ? `${scene.sections[section]?.label ?? ""} ${short(tokens)}` : "";
};

/** "summary 3.4k · kept 32.5k · not in the file 16.8k". */
const nameParts = (scene: Scene, plan: Plan, place: number, shares: readonly Share[]): string => {
  let [summary, kept, outside] = [0, 0, 0];
  for (const { section, tokens, fate } of shares) {
    if (fate === "summarised") summary += tokens;
    else if (OUTSIDE.has(scene.sections[section]?.id ?? "")) outside += tokens;
    else kept += tokens;
  }
  if (isUncut(plan, place) && plan.after.total === plan.before.total) return nameLargest(scene, shares);
  return [["summary", summary] as const, ["kept", kept] as const, ["not in the file", outside] as const]
    .filter(([, tokens]) => tokens > 0)
    .map(([what, tokens]) => `${what} ${short(tokens)}`)
    .join(" · ");
};

const hint = (event: PointerEvent, shown: { picture: Picture; shares: Share[]; width: number }) => {
  const { picture, shares, width } = shown;
  const tokens = (event.offsetX / width) * capacity(picture);
  let end = 0;
  for (const share of shares) {
    end += share.tokens;
    if (tokens < end) {
      const label = picture.scene.sections[share.section]?.label ?? "";
      return showHint(event, [share.fate === "summarised" ? "summary" : label, exact(share.tokens)]);
    }
  }
  showHint(event, null);
};

/** One scale for all rows: that of the window, or of more where more stands in one. */
const capacity = ({ scene, plan, planned }: Picture): number =>
  Math.max(
    scene.window ?? 0,
    plan.before.total,
    planned.after.total,
    ...plan.thresholds.map(({ tokens }) => tokens),
    1,
  );

const sharesBefore = (plan: Plan): Share[] =>
  plan.before.sections.map((tokens, section) => ({ section, tokens, fate: "verbatim" }));

/** The new summary stands inside "compacted" in Python's numbers and is drawn as what it is: summarised. */
const sharesAfter = (scene: Scene, plan: Plan, place: number): Share[] => {
  if (totalAfter(plan, place) < 0) return [];
  return scene.sections.flatMap(({ id }, section) => {
    const tokens = sectionAfter(scene, plan, place, section);
    if (id !== "compacted") return [{ section, tokens, fate: "verbatim" }];
    const summary = isUncut(plan, place) ? 0 : Math.min(tokens, plan.summaryTokens[place] ?? 0);
    return [
      { section, tokens: summary, fate: "summarised" },
      { section, tokens: tokens - summary, fate: "verbatim" },
    ];
  });
};

const sayShares = (scene: Scene, shares: Share[]): string =>
  shares
    .filter(({ tokens }) => tokens > 0)
    .map(({ section, tokens }) => `${scene.sections[section]?.label} ${short(tokens)}`)
    .join(", ");

interface Mark {
  label: string;
  tokens: number;
  words: string;
  end: boolean;
}

/** The thresholds of the row that is shown and the window, by tokens; one of them in words, the others as numbers. */
const marksOf = (scene: Scene, plan: Plan): Mark[] => {
  const { words = "", at = null } = plan.gauge ?? {};
  const sign = (mark = "") => (mark === "" ? "" : `${mark} `);
  const marks = plan.thresholds
    .filter(({ tokens }) => tokens !== at && tokens !== scene.window)
    .map(({ label, tokens, mark, share }): Mark => {
      const size = share === undefined ? short(tokens) : `target ${short(tokens)} (${share})`;
      return { label, tokens, words: sign(mark) + size, end: false };
    });
  const here = plan.thresholds.find(({ tokens }) => tokens === at);
  if (words !== "" && at !== null)
    marks.push({ label: words, tokens: at, words: sign(here?.mark) + words, end: true });
  if (scene.window !== null)
    marks.push({ label: "window", tokens: scene.window, words: short(scene.window), end: true });
  return marks.sort((a, b) => a.tokens - b.tokens);
};

const drawTicks = (node: HTMLElement, picture: Picture, plan: Plan, width: number) => {
  const { scene } = picture;
  const marks = marksOf(scene, plan);
  const scale = width / capacity(picture);
  const loose = plan.gauge !== undefined && plan.gauge.at === null ? plan.gauge.words : "";
  // To place the labels they are measured, which costs a layout: only when they are others.
  const told = JSON.stringify([marks, scale, loose]);
  if (node.dataset.told === told) return;
  node.dataset.told = told;
  const all = loose === "" ? marks : [{ label: loose, tokens: 0, words: loose, end: false }, ...marks];
  const labels = all.map(({ label, words, tokens }) =>
    h("span", { class: "ci-tick", title: `${label}: ${exact(tokens)} tokens`, "data-tokens": tokens }, words),
  );
  const zones = makeZones(plan, scale, width);
  node.replaceChildren(...zones, ...labels);
  // What is said in words ends at its line, a number stands in the middle under it.
  let waiting = all.map(({ tokens, end }, i) => ({
    label: labels[i] as HTMLElement,
    spot: { x: tokens * scale, width: labels[i]?.offsetWidth ?? 0, end },
  }));
  // Labels that have no room in a line stand in the next one; what has none in the last is in its tooltip.
  const top = zones.length > 0 ? ZONE : 0;
  let line = 0;
  for (; line < LINES && waiting.length > 0; line++) {
    const lefts = lineUp(
      waiting.map(({ spot }) => spot),
      width,
      GAP,
    );
    const rest: typeof waiting = [];
    let edge = width;
    for (let i = waiting.length - 1; i >= 0; i--) {
      const [one, left] = [waiting[i] as (typeof waiting)[number], lefts[i] as number];
      const fits = left + one.spot.width <= edge;
      setShown(one.label, fits);
      if (fits) {
        one.label.style.left = `${left}px`;
        one.label.style.top = `${top + line * LINE}px`;
        edge = left;
      } else rest.unshift(one);
    }
    waiting = rest;
  }
  node.style.height = `${top + Math.max(1, line) * LINE}px`;
};

const LINES = 2;
const LINE = 16;
const ZONE = 5;

/** The levels of a harness along the scale, each in the pattern of its state. */
const makeZones = ({ thresholds, states = [] }: Plan, scale: number, width: number): HTMLElement[] => {
  const starts = thresholds.flatMap(({ tokens, mark = "" }) => {
    const state = states.find(one => mark.includes(one.mark));
    return state === undefined ? [] : [{ at: tokens * scale, tone: state.tone }];
  });
  return starts.map(({ at, tone }, i) => {
    const end = Math.min(starts[i + 1]?.at ?? width, width);
    const zone = toneChip(tone);
    zone.classList.add("ci-zone");
    zone.style.left = `${at}px`;
    zone.style.width = `${Math.max(0, end - at)}px`;
    return zone;
  });
};
