// Before and after as two bars on one scale, with the window, the thresholds and the reserve. Stays in sight.

import { spreadLabels } from "../../model/axis";
import { exact, percent, short, signed } from "../../model/format";
import { isUncut, type Plan, type Scene, sectionAfter, totalAfter } from "../../model/plan";
import type { Actions, Picture, View } from "../../store/view";
import { paint, snap } from "../../ui/canvas/canvas";
import { h, setAttributes, setShown, setText, toneChip } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";

const BAR = 15;

interface Share {
  section: number;
  tokens: number;
  fate: string;
}

export const makeGauge = (actions: Actions): View => {
  const before = makeLine("gauge-before");
  const after = makeLine("gauge-after");
  const other = makeLine("gauge-other");
  const ticks = h("div", { class: "ci-ticks" });
  const reserve = h("span", { class: "ci-reading ci-small" });
  const alarm = h("p", { "data-testid": "state", hidden: true });
  const offered = h("p", { "data-testid": "offered", hidden: true });
  const node = h(
    "section",
    { class: "ci-gauge", "aria-label": "Tokens before and after" },
    ...before.nodes,
    ...after.nodes,
    ...other.nodes,
    h("span"),
    ticks,
    reserve,
    h("div", { class: "ci-alarm" }, alarm, offered),
  );
  let width = 0;

  return {
    node,
    draw(picture, parts) {
      const { scene, plan, place, other: theirs } = picture;
      const still = STILL.some(part => parts.has(part));
      if (still) {
        if (width === 0 || WIDTHS.some(part => parts.has(part))) width = ticks.clientWidth;
        before.draw("before", picture, sharesBefore(picture), width);
        drawTicks(ticks, scene, plan, width);
        before.read(readBefore(scene, plan), `${exact(plan.before.total)} tokens. ${scene.windowSource}`);
        before.reading.classList.toggle("ci-fires", plan.trigger.fires);
        setText(reserve, plan.reserve > 0 ? `reserve ${short(plan.reserve)}` : "");
        setShown(reserve, plan.reserve > 0);
        drawAlarm(alarm, plan);
        drawOffered(offered, plan, actions);
      }
      if (!still && !parts.has("place")) return;
      const total = totalAfter(plan, place);
      after.draw(theirs === null ? "after" : "after A", picture, sharesAfter(scene, plan, place), width);
      after.read(...readAfter(plan.before.total, total));
      for (const part of other.nodes) setShown(part, theirs !== null);
      if (theirs === null) return;
      const [at, its] = [theirs.cut.place, totalAfter(theirs, theirs.cut.place)];
      if (still) other.draw("after B", picture, sharesAfter(scene, theirs, at), width);
      other.read(...readOther(plan.before.total, total, its));
      setAttributes(other.label, { title: `B: ${theirs.label ?? theirs.policyTitle}` });
    },
  };
};

const WIDTHS = ["scene", "other", "size", "theme"] as const;
const STILL = ["scene", "plan", "other", "size", "theme"] as const;

/** A label, a bar and what it reads; the bar tells its pieces under the pointer. */
const makeLine = (id: string) => {
  const label = h("span", { class: "ci-label" });
  const bar = h("canvas", { class: "ci-bar", role: "img" });
  const reading = h("output", { class: "ci-reading", "aria-live": "off", "data-testid": id });
  let shown: { picture: Picture; shares: Share[]; width: number } | undefined;
  bar.addEventListener("pointermove", event => shown && hint(event, shown));
  bar.addEventListener("pointerleave", event => showHint(event, null));
  return {
    nodes: [label, bar, reading],
    label,
    reading,
    draw(name: string, picture: Picture, shares: Share[], width: number) {
      shown = { picture, shares, width };
      setText(label, name);
      drawBar(bar, picture, shares, width);
      const said = shares.length === 0 ? "" : `: ${sayShares(picture.scene, shares)}`;
      setAttributes(bar, { "aria-label": name.charAt(0).toUpperCase() + name.slice(1) + said });
    },
    read(words: string, title: string) {
      setText(reading, words);
      setAttributes(reading, { title });
    },
  };
};

const drawBar = (canvas: HTMLCanvasElement, picture: Picture, shares: Share[], width: number) => {
  const { scene, plan, palette } = picture;
  const scale = width / capacity(scene, plan);
  paint(canvas, width, BAR, palette.ratio, context => {
    const end = snap((scene.window ?? capacity(scene, plan)) * scale, palette.ratio);
    context.fillStyle = palette.band;
    context.fillRect(0, 0, end, BAR);
    if (scene.window !== null && plan.reserve > 0) {
      context.fillStyle = palette.reserve();
      context.fillRect(end - plan.reserve * scale, 0, plan.reserve * scale, BAR);
    }
    let x = 0;
    for (const { section, tokens, fate } of shares) {
      const left = snap(x * scale, palette.ratio);
      x += tokens;
      const right = snap(x * scale, palette.ratio);
      context.fillStyle = palette.ground;
      context.fillRect(left, 0, right - left, BAR);
      // A hair of ground between two sections: in grey some of them are alike.
      const gap = right - left > 3 ? 1 : 0;
      context.fillStyle = palette.fill(section, fate);
      context.fillRect(left, 0, right - left - gap, BAR);
    }
    for (const { tokens } of marksOf(scene, plan)) {
      context.fillStyle = tokens <= x ? palette.ground : palette.dim;
      context.fillRect(Math.min(snap(tokens * scale, palette.ratio), width - 1), 0, 1, BAR);
    }
  });
};

const hint = (event: PointerEvent, shown: { picture: Picture; shares: Share[]; width: number }) => {
  const { scene, plan } = shown.picture;
  const tokens = (event.offsetX / shown.width) * capacity(scene, plan);
  let end = 0;
  for (const share of shown.shares) {
    end += share.tokens;
    if (tokens < end) {
      const label = scene.sections[share.section]?.label ?? "";
      return showHint(event, [share.fate === "summarised" ? "new summary" : label, exact(share.tokens)]);
    }
  }
  showHint(event, null);
};

/** What a reading says, and exactly in its title. */
const readAfter = (before: number, after: number): [string, string] =>
  after < 0
    ? ["not at this place", ""]
    : [`${short(after)}  ${signed(after - before)}`, `${exact(after)} tokens, ${exact(after - before)}`];

/** The same of plan B, and what it leaves more than plan A. */
const readOther = (before: number, mine: number, theirs: number): [string, string] => {
  const [words, title] = readAfter(before, theirs);
  if (mine < 0 || theirs < 0) return [words, title];
  const change = theirs - mine;
  const more = change === 0 ? "the same as A" : `${signed(change)} against A`;
  return [`${short(theirs)}  ${more}`, `${title}; ${exact(change)} against A`];
};

/** What the harness tells its user from its first threshold on; said again only when it is another thing. */
const drawAlarm = (node: HTMLElement, { state }: Plan) => {
  const banner = state?.banner ?? "";
  setShown(node, banner !== "");
  if (state === undefined || node.dataset.banner === state.id + banner) return;
  node.dataset.banner = state.id + banner;
  const words =
    banner === "" ? [] : [toneChip(state.tone), h("b", {}, `${state.mark} ${state.label}`), banner];
  node.replaceChildren(...words);
};

/**
 * What the user is offered in this state, for as long as it lasts; nothing is chosen for them. In a plan only
 * compacting means something: the cut is the policy's own, and the summary can be written.
 */
const drawOffered = (node: HTMLElement, { state }: Plan, actions: Actions) => {
  const offers = state?.actions ?? [];
  setShown(node, offers.length > 0);
  const told = offers.join(" ");
  if (node.dataset.told === told) return;
  node.dataset.told = told;
  const compact = h(
    "button",
    { class: "ci-button", title: "The policy's own cut, and who writes its summary" },
    "/compact",
  );
  compact.addEventListener("click", () => {
    actions.freeCut();
    actions.openTab("summary");
  });
  const rest = offers.filter(offer => offer !== "/compact");
  const parts = [
    ...(rest.length < offers.length ? [compact] : []),
    ...(rest.length > 0 ? [h("span", { class: "ci-quiet" }, `the user may also: ${rest.join(" · ")}`)] : []),
  ];
  node.replaceChildren(...parts);
};

const capacity = (scene: Scene, plan: Plan): number =>
  Math.max(scene.window ?? 0, plan.before.total, ...plan.thresholds.map(({ tokens }) => tokens), 1);

const readBefore = (scene: Scene, plan: Plan): string => {
  const { total } = plan.before;
  const parts = [scene.window === null ? short(total) : `${short(total)} of ${short(scene.window)}`];
  if (scene.window !== null) parts.push(percent(total, scene.window));
  if (plan.trigger.fires) parts.push("would compact now");
  return parts.join(" · ");
};

const sharesBefore = ({ plan }: Picture): Share[] =>
  plan.before.sections.map((tokens, section) => ({ section, tokens, fate: "verbatim" }));

/** The new summary stands inside "compacted" in Python's numbers and is drawn as what it is: summarised. */
const sharesAfter = (scene: Scene, plan: Plan, place: number): Share[] => {
  if (totalAfter(plan, place) < 0) return [];
  return scene.sections.flatMap(({ id }, section) => {
    const tokens = sectionAfter(scene, plan, place, section);
    if (id !== "compacted") return [{ section, tokens, fate: "verbatim" }];
    const summary = isUncut(plan, place) ? 0 : Math.min(tokens, plan.summaryTokens[place] ?? 0);
    return [
      { section, tokens: tokens - summary, fate: "verbatim" },
      { section, tokens: summary, fate: "summarised" },
    ];
  });
};

const sayShares = (scene: Scene, shares: Share[]): string =>
  shares
    .filter(({ tokens }) => tokens > 0)
    .map(({ section, tokens }) => `${scene.sections[section]?.label} ${short(tokens)}`)
    .join(", ");

/** The thresholds; and the window, where what stands in it is larger and its edge would not be seen. */
const marksOf = (scene: Scene, plan: Plan): Plan["thresholds"] =>
  scene.window === null || plan.before.total <= scene.window
    ? plan.thresholds
    : [...plan.thresholds, { label: "window", tokens: scene.window }];

const drawTicks = (node: HTMLElement, scene: Scene, plan: Plan, width: number) => {
  const marks = marksOf(scene, plan);
  const scale = width / capacity(scene, plan);
  // To place the labels they are measured, which costs a layout: only when they are others.
  const told = JSON.stringify([marks, scale]);
  if (node.dataset.told === told) return;
  node.dataset.told = told;
  const labels = marks.map(({ label, tokens }) =>
    h("span", { class: "ci-tick", title: `${label}: ${exact(tokens)} tokens` }, label),
  );
  node.replaceChildren(...labels);
  const wishes = marks.map(({ tokens }) => tokens * scale);
  const widths = labels.map(label => label.offsetWidth);
  spreadLabels(wishes, widths, width, 8).forEach((left, i) => {
    (labels[i] as HTMLElement).style.left = `${left}px`;
  });
};
