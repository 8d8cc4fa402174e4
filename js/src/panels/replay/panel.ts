// The session lived again under the policy: the button that asks for it, its sawtooth, and its events to step through.
import { exact, sayStep } from "../../model/format";
import {
  firstSpot,
  nearestEvent,
  neighbour,
  type Run,
  type Spot,
  spotAt,
  spotOf,
  turnStep,
} from "../../model/run";
import type { Actions, Picture, View } from "../../store/view";
import { h, setAttributes, setShown, setText } from "../../ui/dom";
import { showHint } from "../../ui/tooltip";
import { drawSawtooth, HEIGHT } from "./chart";
import { tellFindings, tellMoment } from "./event-details";
import { makeEvents } from "./events";
import { fillFacts, fillKey, sayCount, sayScale, sayStatus } from "./labels";

/** How near the pointer must be to an event to mean it, in pixels. */
const NEAR = 5;
/** After so long without an answer, in milliseconds, it may be that none comes. */
const PATIENCE = 10_000;
const WAITING = "replaying…";
const SILENCE = `${WAITING} Python has not answered yet.`;

export const makeReplay = (actions: Actions): View => {
  const title = h("h3", {}, "Replay");
  const ask = h("button", { class: "ci-button", "data-testid": "replay-ask" });
  const close = h("button", { class: "ci-link" }, "put away");
  const status = h("span", { "data-testid": "replay-status" });
  const facts = h("div", { class: "ci-facts", role: "group", "aria-label": "What it took" });
  const canvas = h("canvas", { class: "ci-canvas", "aria-hidden": "true" });
  const cursor = h("div", { class: "ci-cursor", "aria-hidden": "true" });
  const plot = h(
    "div",
    {
      class: "ci-plot",
      style: `height: ${HEIGHT}px`,
      role: "slider",
      tabindex: 0,
      "aria-label": "Replay, step by step",
      "aria-orientation": "horizontal",
      "data-testid": "sawtooth",
    },
    canvas,
    cursor,
  );
  const scale = h("small");
  const readout = h("p", { class: "ci-readout", "data-testid": "replay-readout" });
  const key = h("div", { class: "ci-fatekey" });
  const findings = h("ul", { class: "ci-findings", "aria-label": "Findings" });
  const source = h("p", { class: "ci-quiet ci-source" });
  const count = h("span");
  const back = h("button", { class: "ci-link", "data-testid": "event-previous" }, "previous");
  const next = h("button", { class: "ci-link", "data-testid": "event-next" }, "next");
  const moment = h("div", { class: "ci-panel", "data-testid": "moment" });
  const events = makeEvents(
    event => run && move(spotOf(run, event)),
    event => look(run?.events[event]?.at ?? ""),
  );
  const body = h(
    "div",
    { class: "ci-replayed" },
    facts,
    h("div", { class: "ci-lined" }, h("div", { class: "ci-label" }, h("span", {}, "replayed"), scale), plot),
    h("div", { class: "ci-under ci-below" }, readout, key),
    findings,
    source,
    h(
      "div",
      { class: "ci-steps" },
      h(
        "div",
        { class: "ci-panel" },
        h("h3", {}, "Events", h("span", { class: "ci-count" }, count, back, next)),
        events.node,
      ),
      moment,
    ),
  );
  const node = h(
    "section",
    { class: "ci-replay", "data-testid": "replay", "aria-label": "Replay" },
    h("div", { class: "ci-ask" }, title, ask, status, close),
    body,
  );
  let shown: Picture | undefined;
  let run: Run | null = null;
  let spot: Spot = { step: 0, event: -1 };
  /** A button that hides when pressed passes the focus on to what comes in its place. */
  let passed = false;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const look = (at: string) => at !== "" && actions.moveTo(at);

  const move = (to: Spot) => {
    if (run === null) return;
    const other = to.event !== spot.event || to.event < 0;
    spot = to;
    const said = sayStep(run, spot.step);
    const event = run.events[spot.event];
    setText(readout, said.join(" · "));
    setAttributes(plot, {
      "aria-valuemin": 1,
      "aria-valuemax": Math.max(1, run.steps),
      "aria-valuenow": spot.step + 1,
      "aria-valuetext": [...said, ...(event === undefined ? [] : [event.label])].join(", "),
    });
    cursor.style.left = `${(100 * (spot.step + 0.5)) / Math.max(1, run.steps)}%`;
    cursor.classList.toggle("ci-on", event !== undefined);
    if (!other) return;
    events.choose(spot.event);
    setText(count, spot.event < 0 ? sayCount(run) : `${exact(spot.event + 1)} of ${sayCount(run)}`);
    back.disabled = neighbour(run, spot, -1) === spot;
    next.disabled = neighbour(run, spot, 1) === spot;
    moment.replaceChildren(...tellMoment(run, spot, look));
  };

  const receive = (picture: Picture) => {
    run = picture.run;
    if (run === null) return;
    fillFacts(facts, run);
    fillKey(key, run);
    setText(scale, sayScale(run));
    findings.replaceChildren(...tellFindings(run, step => run && move(spotAt(run, step))));
    setShown(findings, findings.children.length > 0);
    setText(source, run.source);
    events.fill(run);
    spot = { step: 0, event: -1 };
    move(firstSpot(run));
  };

  const stepUnder = (event: PointerEvent): number => {
    const box = plot.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * (run?.steps ?? 0));
  };

  const scrub = (event: PointerEvent) => {
    if (run === null) return;
    const step = stepUnder(event);
    const near = nearestEvent(run, step, (NEAR * run.steps) / Math.max(1, plot.clientWidth));
    move(near < 0 ? spotAt(run, step) : spotOf(run, near));
  };

  plot.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    scrub(event);
  });
  plot.addEventListener("pointermove", event => {
    if (event.buttons & 1) scrub(event);
    if (run !== null)
      showHint(event, run.steps > 0 ? sayStep(run, spotAt(run, stepUnder(event)).step) : null);
  });
  plot.addEventListener("pointerleave", event => showHint(event, null));
  plot.addEventListener("keydown", event => {
    const to = run && KEYS[event.key]?.(run, spot);
    if (!to || isModified(event)) return;
    event.preventDefault();
    move(to);
  });
  const go = (change: -1 | 1) => run && move(neighbour(run, spot, change));
  body.addEventListener("keydown", event => {
    if (isModified(event) || (event.key !== "," && event.key !== ".")) return;
    // Elsewhere they play a policy's rules.
    event.preventDefault();
    go(event.key === "," ? -1 : 1);
  });
  back.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));
  for (const [button, asked] of [
    [ask, true],
    [close, false],
  ] as const) {
    button.addEventListener("click", () => {
      passed = true;
      actions.askReplay(asked);
    });
  }

  const tellStatus = (replay: Picture["replay"]) => {
    if (replay !== "waiting") {
      clearTimeout(patience);
      patience = undefined;
      setText(status, replay === "on" && run !== null ? sayStatus(run) : "");
    } else if (patience === undefined) {
      setText(status, WAITING);
      patience = setTimeout(() => setText(status, SILENCE), PATIENCE);
    }
  };

  const drawHead = ({ plan, replay, needsKernel }: Picture) => {
    const waiting = replay === "waiting";
    setShown(node, replay !== "none");
    // Without a kernel only a run that is already there can be shown again.
    ask.disabled = needsKernel !== "" && run === null;
    setAttributes(ask, { title: ask.disabled ? "Living the session again needs a kernel." : undefined });
    setText(ask, `Replay this session under ${plan.policyTitle}`);
    setShown(ask, replay === "off");
    setShown(title, replay !== "off");
    setShown(close, replay === "on" || waiting);
    setShown(body, run !== null && run.steps > 0 && (replay === "on" || waiting));
    setAttributes(node, { "aria-busy": waiting ? "true" : undefined });
    tellStatus(replay);
    if (passed && (replay === "off" || !body.hidden)) {
      passed = waiting;
      (replay === "off" ? ask : plot).focus({ preventScroll: true });
    }
    status.classList.toggle("ci-bad", replay === "on" && run !== null && run.status === "failed");
  };

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      const news = parts.has("run") && picture.run !== run;
      if (news) receive(picture);
      if (parts.has("run") || parts.has("scene") || parts.has("plan") || parts.has("settled"))
        drawHead(picture);
      const redrawn = ["run", "scene", "size", "theme"].some(part => parts.has(part as "run"));
      if (!redrawn || run === null || body.hidden || run.steps === 0) return;
      const { scene, palette } = shown;
      drawSawtooth(canvas, { run, scene, palette, width: plot.clientWidth });
      if (news) events.choose(spot.event);
    },
    dispose() {
      clearTimeout(patience);
      events.dispose();
    },
  };
};

const isModified = ({ altKey, ctrlKey, metaKey }: KeyboardEvent) => altKey || ctrlKey || metaKey;

const KEYS: Record<string, (run: Run, spot: Spot) => Spot> = {
  ArrowLeft: (run, { step }) => spotAt(run, step - 1),
  ArrowRight: (run, { step }) => spotAt(run, step + 1),
  PageUp: (run, { step }) => spotAt(run, turnStep(run, step, -1)),
  PageDown: (run, { step }) => spotAt(run, turnStep(run, step, 1)),
  Home: run => spotAt(run, 0),
  End: run => spotAt(run, run.steps - 1),
};
