// Before and after as two bars on one scale, with the window, the thresholds and the reserve. Stays in sight.
import { exact, percent, short, signed } from "../core/format";
import { spreadLabels } from "../core/geometry";
import { type Plan, type Scene, sectionAfter, totalAfter } from "../core/state";
import { h, setAttributes, setShown, setText, toneChip } from "./dom";
import { showHint } from "./hint";
import type { Picture, View } from "./picture";
import { paint, snap } from "./surface";

const BAR = 15;

interface Share {
  section: number;
  tokens: number;
  fate: string;
}

export const makeGauge = (): View => {
  const before = h("canvas", { class: "ci-bar", role: "img" });
  const after = h("canvas", { class: "ci-bar", role: "img" });
  const beforeText = h("output", { class: "ci-reading", "data-testid": "gauge-before" });
  const afterText = h("output", { class: "ci-reading", "data-testid": "gauge-after" });
  const ticks = h("div", { class: "ci-ticks" });
  const reserve = h("span", { class: "ci-reading ci-small" });
  const alarm = h("p", { class: "ci-alarm", role: "status", "data-testid": "state", hidden: true });
  const node = h(
    "section",
    { class: "ci-gauge", "aria-label": "Tokens before and after" },
    h("span", { class: "ci-label" }, "before"),
    before,
    beforeText,
    h("span", { class: "ci-label" }, "after"),
    after,
    afterText,
    h("span"),
    ticks,
    reserve,
    alarm,
  );
  let width = 0;
  let shown: Picture | undefined;

  const drawBar = (canvas: HTMLCanvasElement, picture: Picture, shares: Share[]) => {
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
        context.fillStyle = palette.fill(section, fate);
        context.fillRect(left, 0, right - left, BAR);
      }
      for (const { tokens } of marksOf(scene, plan)) {
        context.fillStyle = tokens <= x ? palette.ground : palette.dim;
        context.fillRect(Math.min(snap(tokens * scale, palette.ratio), width - 1), 0, 1, BAR);
      }
    });
  };

  const hint = (event: PointerEvent, shares: (picture: Picture) => Share[]) => {
    if (shown === undefined) return;
    const tokens = (event.offsetX / width) * capacity(shown.scene, shown.plan);
    let end = 0;
    for (const share of shares(shown)) {
      end += share.tokens;
      if (tokens < end) {
        const label = shown.scene.sections[share.section]?.label ?? "";
        showHint(event, [share.fate === "summarised" ? "new summary" : label, exact(share.tokens)]);
        return;
      }
    }
    showHint(event, null);
  };
  before.addEventListener("pointermove", event => hint(event, sharesBefore));
  after.addEventListener("pointermove", event => hint(event, sharesAfter));
  for (const canvas of [before, after])
    canvas.addEventListener("pointerleave", event => showHint(event, null));

  return {
    node,
    draw(picture, parts) {
      const { scene, plan, place } = picture;
      shown = picture;
      const still = parts.has("scene") || parts.has("plan") || parts.has("size") || parts.has("theme");
      if (still) {
        width = ticks.clientWidth;
        drawBar(before, picture, sharesBefore(picture));
        drawTicks(ticks, scene, plan, width);
        setText(beforeText, readBefore(scene, plan));
        setAttributes(beforeText, { title: `${exact(plan.before.total)} tokens. ${scene.windowSource}` });
        beforeText.classList.toggle("ci-fires", plan.trigger.fires);
        setText(reserve, plan.reserve > 0 ? `reserve ${short(plan.reserve)}` : "");
        setShown(reserve, plan.reserve > 0);
        drawAlarm(alarm, plan);
        setAttributes(before, { "aria-label": `Before: ${sayShares(scene, sharesBefore(picture))}` });
      }
      if (still || parts.has("place")) {
        const total = totalAfter(plan, place);
        drawBar(after, picture, total < 0 ? [] : sharesAfter(picture));
        const change = total - plan.before.total;
        setText(afterText, total < 0 ? "not at this place" : `${short(total)}  ${signed(change)}`);
        setAttributes(afterText, { title: total < 0 ? "" : `${exact(total)} tokens, ${exact(change)}` });
        setAttributes(after, {
          "aria-label": total < 0 ? "After" : `After: ${sayShares(scene, sharesAfter(picture))}`,
        });
      }
    },
  };
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

const capacity = (scene: Scene, plan: Plan): number =>
  Math.max(scene.window ?? 0, plan.before.total, ...plan.thresholds.map(({ tokens }) => tokens), 1);

const readBefore = (scene: Scene, plan: Plan): string => {
  const { total } = plan.before;
  const parts = [scene.window === null ? short(total) : `${short(total)} of ${short(scene.window)}`];
  if (scene.window !== null) parts.push(percent(total, scene.window));
  if (plan.trigger.fires) parts.push("fires");
  return parts.join(" · ");
};

const sharesBefore = ({ plan }: Picture): Share[] =>
  plan.before.sections.map((tokens, section) => ({ section, tokens, fate: "verbatim" }));

/** The new summary stands inside "compacted" in Python's numbers and is drawn as what it is: summarised. */
const sharesAfter = ({ scene, plan, place }: Picture): Share[] =>
  scene.sections.flatMap(({ id }, section) => {
    const tokens = sectionAfter(scene, plan, place, section);
    if (id !== "compacted") return [{ section, tokens, fate: "verbatim" }];
    const summary = Math.min(tokens, plan.summaryTokens[place] ?? 0);
    return [
      { section, tokens: tokens - summary, fate: "verbatim" },
      { section, tokens: summary, fate: "summarised" },
    ];
  });

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
