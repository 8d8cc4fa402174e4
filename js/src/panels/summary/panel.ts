// Summary: who writes it, what would be sent and for how much, then the writing as it comes, and what was written.
import { short } from "../../model/format";
import { type Plan, summaryAt } from "../../model/plan";
import type { Writer } from "../../payloads/replies";
import type { SendingReply } from "../../payloads/types";
import type { Actions, Picture, View } from "../../store/view";
import { h, listen, makeId, putChildren, setAttributes, setShown, setText } from "../../ui/dom";
import { makeScribe } from "./controller";
import { makeSending } from "./preview";
import { makeWritten } from "./result";

const WRITERS: readonly [Writer, string][] = [
  ["extractive", "From the session's own words (offline)"],
  ["model", "A Claude model"],
  ["pasted", "Text of your own"],
];
const STALE = { plan: "The plan has changed: look again.", wish: "What you want has changed: look again." };
const PASTED = "Your text stands where the summary would; nothing is sent.";

export interface Summarise extends View {
  /** Opens the form, and puts it away. */
  readonly button: HTMLElement;
  focus(): void;
}

export const makeSummarise = (actions: Actions): Summarise => {
  let shown: Picture | undefined;
  let starting = false;
  /** The look whose requests went out: what it says of itself is true no more. */
  let sent: SendingReply | null = null;
  const scribe = makeScribe(
    actions.requests,
    () => actions.stop("summary"),
    () => shown && show(shown),
    () => actions.openTab("summary"),
  );
  const field = (id: string, more: Record<string, string>) =>
    h("input", {
      ...{ type: "text", class: "ci-field", autocomplete: "off", spellcheck: "false" },
      id,
      ...more,
    });
  const group = makeId("writer");
  const radios = WRITERS.map(([value, words], i) => {
    const radio = h("input", {
      ...{ type: "radio", class: "ci-knob", name: group, value, checked: i === 0 },
      "data-testid": `writer-${value}`,
    });
    listen(radio, "change", () => scribe.change({ by: value }));
    return { radio, line: h("label", {}, radio, words) };
  });
  const chosen = () => radios.find(({ radio }) => radio.checked)?.radio;
  const names = h("datalist", { id: makeId("models") });
  const model = field(makeId("model"), { "data-testid": "summary-model", list: names.id });
  const focus = field(makeId("focus"), {
    ...{ "data-testid": "summary-focus", placeholder: "such as the open question, the names of files" },
  });
  const additions = h("textarea", {
    ...{ class: "ci-field", rows: 2, id: makeId("additions"), "data-testid": "summary-additions" },
    placeholder: "what context providers add to the request; it is never compacted itself",
  });
  const own = h("textarea", {
    ...{ class: "ci-field", rows: 7, id: makeId("own"), "data-testid": "summary-own" },
  });
  const look = h("button", { class: "ci-button", "data-testid": "summary-look" }, LOOK);
  const write = h("button", { class: "ci-button ci-main", "data-testid": "summary-write" });
  const note = h("p", { "data-testid": "summary-note" });
  const sending = makeSending(keep => {
    scribe.change({ keep });
    scribe.ask();
  });
  const line = (input: HTMLElement, words: string) => [h("label", { for: input.id }, words), input];
  const asModel = h(
    "div",
    { class: "ci-wanted" },
    ...line(model, "model"),
    names,
    ...line(focus, "keep most"),
    ...line(additions, "providers add"),
  );
  const asOwn = h("div", { class: "ci-wanted" }, ...line(own, "text"));
  const form = h(
    "div",
    { class: "ci-writing" },
    h(
      "div",
      { class: "ci-writers", role: "radiogroup", "aria-label": "Who writes" },
      ...radios.map(one => one.line),
    ),
    ...[asModel, asOwn, sending.node],
    h("p", { class: "ci-actions" }, look, write),
    note,
  );
  const begin = () => {
    // The button is disabled while it is written.
    starting = true;
    sent = scribe.look.reply;
    scribe.write();
  };
  const isOffered = () => !write.hidden && !write.disabled;
  const retry = () => {
    if (scribe.problem === "" && isOffered()) return begin();
    if (scribe.problem !== "") scribe.again();
    if (scribe.wish.by === "model") scribe.ask();
  };
  const written = makeWritten(scribe, actions, retry, () => (isOffered() ? write : chosen()));
  const who = h("span");
  const node = h(
    "section",
    { class: "ci-panel ci-summing", "data-testid": "summary", "aria-label": "Summary" },
    h("h3", {}, "Summary", h("span", { class: "ci-count" }, who)),
    h("div", { class: "ci-both" }, form, written.node),
  );
  const button = h(
    "button",
    { class: "ci-button", "aria-expanded": "false", "data-testid": "summarise" },
    "Write a summary…",
  );

  const show = (picture: Picture) => {
    const { wish, look: found, writing, waiting } = scribe;
    const { plan } = picture;
    const isModel = wish.by === "model";
    const busy = writing?.state === "writing" || waiting;
    const reply = found.reply?.by === wish.by ? found.reply : null;
    const stale = reply === null || wish.by === "pasted" ? "" : scribe.stale();
    setText(who, sayStanding(plan));
    setShown(asModel, isModel);
    setShown(asOwn, wish.by === "pasted");
    const models = writing?.models ?? [];
    if (names.children.length !== models.length)
      putChildren(
        names,
        models.map(value => h("option", { value })),
      );
    if (wish.model === "" && writing?.model && document.activeElement !== model) {
      wish.model = writing.model;
      model.value = writing.model;
    }
    sending.draw(reply);
    sending.node.classList.toggle("ci-stale", stale !== "" || found.waiting);
    setShown(look, isModel);
    look.disabled = busy;
    const ready = wish.by === "pasted" || (reply?.ready ?? false);
    setShown(write, ready);
    setText(write, isModel && reply ? saySend(reply) : "Summarise");
    setAttributes(write, { title: isModel && reply ? reply.priceNote : undefined });
    write.disabled = busy || found.waiting || stale !== "" || (wish.by === "pasted" && wish.text === "");
    const words = found.waiting
      ? waitFor(wish.by)
      : found.problem || (stale ? STALE[stale] : isModel && reply === sent ? "" : (reply?.sentence ?? ""));
    setText(note, wish.by === "pasted" ? PASTED : words);
    const bad = found.problem !== "";
    note.classList.toggle("ci-bad", bad && !found.waiting);
    note.classList.toggle("ci-quiet", !bad && stale === "" && ready);
    written.draw(picture, starting);
    starting &&= waiting;
  };

  for (const input of [model, focus])
    listen(input, "keydown", event => {
      if (event.key !== "Enter" || look.disabled) return;
      // A notebook takes Enter for itself.
      event.stopPropagation();
      event.preventDefault();
      scribe.ask();
    });
  listen(model, "input", () => scribe.change({ model: model.value }));
  listen(focus, "input", () => scribe.change({ focus: focus.value }));
  listen(additions, "input", () => scribe.change({ additions: additions.value }));
  listen(own, "input", () => scribe.change({ text: own.value }));
  listen(look, "click", () => scribe.ask());
  listen(write, "click", begin);
  const open = () => {
    if (shown === undefined || shown.needsKernel !== "") return;
    actions.openTab("summary");
    // A panel that was closed is there from the next frame on.
    requestAnimationFrame(() => chosen()?.focus());
  };

  return {
    node,
    button,
    focus: open,
    draw(picture, parts) {
      shown = picture;
      setShown(node, picture.needsKernel === "");
      scribe.follow(picture);
      // What it shows is of the plan that has settled, so a hand that still moves changes nothing.
      if (picture.dragging) return;
      if (["scene", "plan", "place", "settled", "tab"].some(part => parts.has(part as "plan"))) show(picture);
    },
    dispose: () => scribe.dispose(),
  };
};

const LOOK = "See what would be sent";

/** "stand-in 4.4k", "summary 1.2k by extractive". */
const sayStanding = (plan: Plan): string => {
  const tokens = plan.summaryTokens[plan.cut.place] ?? 0;
  const { name, by } = summaryAt(plan, plan.cut.place);
  return tokens === 0 ? "" : `${name} ${short(tokens)}${by && ` by ${by}`}`;
};

const waitFor = (by: Writer): string =>
  by === "model" ? "Putting together and counting what would be sent …" : "Asking Python …";

/** "Send 41.2k tokens to api.anthropic.com, at most $0.43". */
const saySend = ({ tokens, host, price }: SendingReply): string =>
  `Send ${short(tokens)} tokens to ${host}${price && `, ${price}`}`;
