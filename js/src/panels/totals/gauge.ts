// Before, recorded and planned as rows on one scale from nothing to the window, and below them the thresholds.

import { lineUp, type Range } from "../../model/axis";
import { exact, exactChange, percent, plural, short, signed } from "../../model/format";
import { OUTSIDE } from "../../model/outside";
import { decideSame, isUncut, type Plan, type Scene, sectionAfter, totalAfter } from "../../model/plan";
import { rowsIn, sayTurns, sectionsIn } from "../../model/range";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import type { Palette } from "../../ui/canvas/canvas-colours";
import { h, setAttributes, setShown, setText, toneChip } from "../../ui/dom";
import { nameLane, nameLanes } from "../../ui/lane-names";
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

/** A row to draw: its pieces, its label, and a piece that is uncertain. */
interface Bar {
  shares: Share[];
  words: string;
  /** The words in its largest piece, if that is long enough, instead of those behind the bar. */
  inside?: string;
  range: readonly [low: number, high: number] | null;
  hollow: boolean;
}

/** `picker` chooses the policy of the plan, in the name of its row. */
export const makeGauge = (actions: Actions, picker: View): View => {
  const before = makeRow("before", "before");
  const recorded = makeRow("recorded", "");
  const planned = makeRow("after", "plan", picker.node);
  const other = makeRow("other", "plan B");
  const selected = makeRow("selection", "");
  const ticks = h("div", { class: "ci-ticks" });
  const key = h("div", { class: "ci-key" });
  const notice = h("div", { class: "ci-notice" });
  const drawNotice = makeNotice(notice, actions);
  const rows = [before, recorded, planned, selected, other];
  const node = h(
    "section",
    { class: "ci-gauge", "aria-label": "Tokens before and after" },
    ...rows.map(row => row.node),
    h("div", { class: "ci-grow ci-scale" }, ticks),
    key,
    notice,
  );
  let width = 0;

  return {
    node,
    draw(viewState, parts) {
      picker.draw(viewState, parts);
      const { scene, plan: shownPlan, other: otherPlan, recorded: happened } = viewState;
      const still = hasAny(parts, ...STILL);
      const looksBack = shownPlan === happened;
      // A lesson plays a part of the plan.
      const plan = looksBack ? viewState.planned : shownPlan;
      if (still) {
        setShown(recorded.node, happened !== null);
        setShown(other.node, otherPlan !== null);
        // A selected range takes the place of the plan's row.
        setShown(planned.node, viewState.selection === null);
        setShown(selected.node, viewState.selection !== null);
        node.classList.toggle("ci-four", otherPlan !== null && happened !== null);
        if (width === 0 || hasAny(parts, ...WIDTHS)) width = ticks.clientWidth;
        const shares = sharesBefore(shownPlan);
        if (hasAny(parts, "scene")) key.replaceChildren(...nameLanes(scene), nameLane(NOT_IN_FILE));
        const [words, inside] = [nameSides(scene, shares), nameLargest(scene, shares)];
        before.draw(viewState, { ...BARE, shares, words, inside }, width);
        const { total } = shownPlan.before;
        const text = scene.window === null ? "" : `${percent(total, scene.window)} of ${short(scene.window)}`;
        before.read(
          short(total),
          text,
          `${exact(total)} tokens. Counter: ${scene.unit.long} Window: ${scene.windowSource}`,
        );
        if (happened !== null) {
          recorded.name(happened.label ?? "recorded", happened.policySource, looksBack);
          drawAfter(recorded, viewState, happened, happened.cut.place, width);
          hintFile(recorded, happened);
        }
        planned.name("plan", plan.chosen || plan.policySource, !looksBack);
        if (otherPlan !== null) {
          other.name(`B: ${otherPlan.label ?? otherPlan.policyTitle}`, otherPlan.policySource, false);
          drawAfter(other, viewState, otherPlan, otherPlan.cut.place, width);
          const [ownTotal, its] = [
            totalAfter(plan, plan.cut.place),
            totalAfter(otherPlan, otherPlan.cut.place),
          ];
          if (ownTotal >= 0 && its >= 0) other.hint(`${exactChange(its - ownTotal)} against plan A`);
          hintFile(other, otherPlan);
        }
        if (viewState.selection !== null) drawSelection(selected, viewState, viewState.selection, width);
        drawTicks(ticks, viewState, shownPlan, width);
        drawNotice(viewState, plan, looksBack);
      }
      if (!still && !parts.has("place")) return;
      const place = looksBack ? plan.cut.place : viewState.place;
      const same = happened !== null && place === plan.cut.place && isAsRecorded(plan, happened);
      drawAfter(planned, viewState, plan, place, width, same);
    },
    dispose: () => picker.dispose?.(),
  };
};

const WIDTHS = ["scene", "other", "size", "theme"] as const;
const STILL = ["scene", "plan", "look", "other", "size", "theme", "selection"] as const;
const NOT_IN_FILE = { id: "hidden_reasoning", label: "not in the file" };
const BARE: Bar = { shares: [], words: "", range: null, hollow: false };

type Row = ReturnType<typeof makeRow>;

/** A name, a bar with a label in it or behind it, a total, and its difference; the tooltip lists the pieces. */
const makeRow = (id: string, called: string, control?: HTMLElement) => {
  const label = h("span", { class: "ci-row-name" }, called);
  const bar = h("canvas", {
    ...{ class: "ci-bar", role: "img", "aria-label": called },
    onpointermove: event => shown && hint(event, shown),
    onpointerleave: event => showHint(event, null),
  });
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
  let shown: { viewState: ViewState; shares: Share[]; width: number } | undefined;
  let lastText = "";
  return {
    node,
    name(text: string, title: string, chosen: boolean) {
      setText(label, text);
      setAttributes(label, { title });
      node.classList.toggle("ci-shown", chosen);
    },
    draw(viewState: ViewState, row: Bar, width: number) {
      shown = { viewState, shares: row.shares, width };
      drawBar(bar, viewState, row, width);
      placeWords(words, viewState, row, width);
      const shares = row.shares.length === 0 ? "" : `: ${sayShares(viewState.scene, row.shares)}`;
      setAttributes(bar, { "aria-label": label.textContent + shares });
    },
    read(sum: string, difference: string, title: string, bad = false) {
      setText(total, sum);
      setText(change, difference);
      lastText = title;
      setAttributes(reading, { title });
      node.classList.toggle("ci-refused", bad);
    },
    /** More in the tooltip of the total. */
    hint(more: string) {
      lastText += `; ${more}`;
      setAttributes(reading, { title: lastText });
    },
  };
};

const drawAfter = (
  row: Row,
  viewState: ViewState,
  plan: Plan,
  place: number,
  width: number,
  same = false,
) => {
  const { scene } = viewState;
  const total = totalAfter(plan, place);
  const own = place === plan.cut.place && !viewState.dragging;
  const { low, high } = plan.gauge ?? { low: total, high: total };
  const range = own && low < high ? ([low, high] as const) : null;
  const shares = sharesAfter(scene, plan, place);
  const words = same ? SAME : nameParts(scene, plan, place, shares);
  row.draw(viewState, { shares, words, range, hollow: same }, width);
  if (total < 0) return row.read("–", "no cut here", "");
  const difference = total - plan.before.total;
  const spread = range === null || short(low) === short(high) ? "" : `${short(low)}–${short(high)}`;
  // Every size has its source next to it; the difference of a recorded one is in the tooltip.
  const predicted = difference === 0 ? signed(0) : `predicted ${spread || signed(difference)}`;
  const label = plan.source ?? predicted;
  const refused = own && plan.sentence.case === "refused";
  row.read(
    short(total),
    same ? "no changes" : refused ? "would be refused" : label,
    `${exact(total)} tokens, ${exactChange(difference)}${spread && `, ${spread}`}`,
    refused,
  );
};

/** The tokens of the selected range, on the scale of the whole context. */
const drawSelection = (row: Row, viewState: ViewState, selection: Range, width: number) => {
  const { scene, selected } = viewState;
  const shares = sectionsIn(scene, selection).map((tokens, section) => ({
    ...{ section, tokens, fate: "verbatim" },
  }));
  const [from, to] = rowsIn(scene, selection);
  const total = sumOf(shares);
  const words = `selected: ${plural(to - from, "block")}, ${plural(selection[1] - selection[0], "step")}`;
  row.name(sayTurns(scene, selection), "", true);
  row.draw(viewState, { ...BARE, shares, words }, width);
  const cost = selected?.cost ? ` · ${selected.cost}` : "";
  row.read(short(total), `counted${cost}`, `${exact(total)} tokens, counted by ${scene.unit.long}`);
};

/** The figures that the file records for a compaction. */
const hintFile = (row: Row, { told: recordedFigures }: Plan) => {
  for (const [what, tokens, by] of recordedFigures ?? []) row.hint(`${what} ${tokens}: ${by}`);
};

const SAME = "no changes yet: drag the cut";

/** Nothing has been changed from the recorded session. */
const isAsRecorded = (plan: Plan, happened: Plan): boolean =>
  plan.after.total === happened.after.total &&
  plan.cut.place === happened.cut.place &&
  decideSame(plan, happened);

const drawBar = (canvas: HTMLCanvasElement, viewState: ViewState, row: Bar, width: number) => {
  const { scene, palette, plan } = viewState;
  const scale = width / capacity(viewState);
  paint(canvas, width, BAR, palette.ratio, context => {
    const end = snap((scene.window ?? capacity(viewState)) * scale, palette.ratio);
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
const widthOf = (words: string, { font, scale }: Palette): number => {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (measuring === null) return 0;
  measuring.font = `${FONT * scale}px ${font}`;
  return measuring.measureText(words).width;
};

/** In the largest piece if that is long enough, else behind the bar; they cover the lines of thresholds. */
const placeWords = (node: HTMLElement, viewState: ViewState, row: Bar, width: number) => {
  const { scene, palette } = viewState;
  const scale = width / capacity(viewState);
  const end = Math.max(sumOf(row.shares), row.range?.[1] ?? 0) * scale;
  const largest = largestOf(scene, row.shares);
  const start = sumOf(row.shares.slice(0, row.shares.indexOf(largest))) * scale;
  const fits = (words: string, room: number) => room >= widthOf(words, palette) + 2 * GAP;
  const fitsBehind = fits(row.words, width - end);
  const words = row.inside ?? (fitsBehind ? "" : row.words);
  const room = !row.hollow && largest.fate === "verbatim" ? largest.tokens * scale : 0;
  const isInside = words !== "" && fits(words, room);
  setShown(node, isInside || fitsBehind);
  setText(node, isInside ? words : row.words);
  const id = scene.sections[largest.section]?.id;
  node.style.color = isInside ? `var(--ci-i-${id}, #000)` : "";
  node.style.background = isInside ? `var(--ci-s-${id})` : "";
  node.style.transform = `translateX(${Math.round((isInside ? start : end) + GAP)}px)`;
};

const sumOf = (shares: readonly Share[]): number => shares.reduce((sum, { tokens }) => sum + tokens, 0);

const NONE: Share = { section: 0, tokens: 0, fate: "" };
const isOutside = (scene: Scene, { section }: Share): boolean =>
  OUTSIDE.has(scene.sections[section]?.id ?? "");

/** The largest piece of what is in the file. */
const largestOf = (scene: Scene, shares: readonly Share[]): Share =>
  shares.reduce(
    (most, share) => (share.tokens > most.tokens && !isOutside(scene, share) ? share : most),
    NONE,
  );

const nameLargest = (scene: Scene, shares: readonly Share[]): string => {
  const { section, tokens } = largestOf(scene, shares);
  return tokens > 0 ? `${scene.sections[section]?.label ?? ""} ${short(tokens)}` : "";
};

/** "in the file 213k · not in the file 116k". */
const nameSides = (scene: Scene, shares: readonly Share[]): string => {
  const outside = sumOf(shares.filter(share => isOutside(scene, share)));
  return outside === 0
    ? nameLargest(scene, shares)
    : `in the file ${short(sumOf(shares) - outside)} · not in the file ${short(outside)}`;
};

/** "summary 3.4k · kept 32.5k · added 285 · not in the file 16.8k". */
const nameParts = (scene: Scene, plan: Plan, place: number, shares: readonly Share[]): string => {
  let [summary, keptTotal, outside] = [0, 0, 0];
  for (const share of shares) {
    if (share.fate === "summarised") summary += share.tokens;
    else if (isOutside(scene, share)) outside += share.tokens;
    else keptTotal += share.tokens;
  }
  if (isUncut(plan, place) && plan.after.total === plan.before.total) return nameSides(scene, shares);
  const added = isUncut(plan, place) ? 0 : Math.min(keptTotal, plan.addedTokens[place] ?? 0);
  const parts = [
    ["summary", summary],
    ["kept", keptTotal - added],
    ["added", added],
    ["not in the file", outside],
  ] as const;
  return parts
    .filter(([, tokens]) => tokens > 0)
    .map(([what, tokens]) => `${what} ${short(tokens)}`)
    .join(" · ");
};

const hint = (event: PointerEvent, shown: { viewState: ViewState; shares: Share[]; width: number }) => {
  const { viewState, shares, width } = shown;
  const tokens = (event.offsetX / width) * capacity(viewState);
  let end = 0;
  for (const share of shares) {
    end += share.tokens;
    if (tokens < end) {
      const label = viewState.scene.sections[share.section]?.label ?? "";
      return showHint(event, [share.fate === "summarised" ? "summary" : label, exact(share.tokens)]);
    }
  }
  showHint(event, null);
};

/** One scale for all rows: the window, or the largest row if that is more. */
const capacity = ({ scene, plan, planned }: ViewState): number =>
  Math.max(
    scene.window ?? 0,
    plan.before.total,
    planned.after.total,
    ...plan.thresholds.map(({ tokens }) => tokens),
    1,
  );

const sharesBefore = (plan: Plan): Share[] =>
  plan.before.sections.map((tokens, section) => ({ section, tokens, fate: "verbatim" }));

/** Python counts the new summary in "compacted"; it is drawn as summarised. */
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

const drawTicks = (node: HTMLElement, viewState: ViewState, plan: Plan, width: number) => {
  const { scene } = viewState;
  const marks = marksOf(scene, plan);
  const scale = width / capacity(viewState);
  const loose = plan.gauge !== undefined && plan.gauge.at === null ? plan.gauge.words : "";
  // To place the labels they are measured, which costs a layout: only when they are others.
  const key = JSON.stringify([marks, scale, loose]);
  if (node.dataset.told === key) return;
  node.dataset.told = key;
  const all = loose === "" ? marks : [{ label: loose, tokens: 0, words: loose, end: false }, ...marks];
  const labels = all.map(({ label, words, tokens }) =>
    h("span", { class: "ci-tick", title: `${label}: ${exact(tokens)} tokens`, "data-tokens": tokens }, words),
  );
  const zones = makeZones(plan, scale, width);
  node.replaceChildren(...zones, ...labels);
  // A label in words ends at its line; a number is centred below it.
  let waiting = all.map(({ tokens, end }, i) => ({
    label: labels[i] as HTMLElement,
    spot: { x: tokens * scale, width: labels[i]?.offsetWidth ?? 0, end },
  }));
  // Labels that do not fit a line move to the next; those that do not fit the last are in its tooltip.
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
      const [mark, left] = [waiting[i] as (typeof waiting)[number], lefts[i] as number];
      const fits = left + mark.spot.width <= edge;
      setShown(mark.label, fits);
      if (fits) {
        mark.label.style.left = `${left}px`;
        mark.label.style.top = `${top + line * LINE}px`;
        edge = left;
      } else rest.unshift(mark);
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
    const state = states.find(candidate => mark.includes(candidate.mark));
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
