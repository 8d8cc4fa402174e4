// Summary: who writes it, what would be sent and for how much, then the writing as it comes, and what was written.
import { short } from "../../model/format";
import { type Plan, summaryAt } from "../../model/plan";
import type { Writer } from "../../payloads/replies";
import type { SendingReply } from "../../payloads/types";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, listen, makeId, putChildren, setAttributes, setShown, setText } from "../../ui/dom";
import { claim } from "../../ui/keys";
import { makeSummaryForm } from "./controller";
import { makeSending } from "./preview";
import { makeWritten } from "./result";

const WRITERS: readonly [Writer, string][] = [
  ["extractive", "From the session's own words (offline)"],
  ["model", "A Claude model"],
  ["pasted", "Text of your own"],
];
const STALE = {
  plan: "The plan has changed: look again.",
  fields: "Your settings have changed: look again.",
};
const PASTED = "Your text is used as the summary; nothing is sent.";

export interface Summarise extends View {
  /** Opens the form, and puts it away. */
  readonly button: HTMLElement;
  focus(): void;
}

export const makeSummarise = (actions: Actions): Summarise => {
  let shown: ViewState | undefined;
  let starting = false;
  /** The preview whose request was sent; it is out of date. */
  let sent: SendingReply | null = null;
  const summaryForm = makeSummaryForm(
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
      ...{ "data-testid": `writer-${value}`, onchange: () => summaryForm.change({ by: value }) },
    });
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
  const look = h(
    "button",
    { class: "ci-button", "data-testid": "summary-look", onclick: () => summaryForm.ask() },
    "See what would be sent",
  );
  const write = h("button", { class: "ci-button ci-main", "data-testid": "summary-write" });
  const note = h("p", { "data-testid": "summary-note" });
  const sending = makeSending(keep => {
    summaryForm.change({ keep });
    summaryForm.ask();
  });
  const line = (input: HTMLElement, words: string) => [h("label", { for: input.id }, words), input];
  const asModel = h(
    "div",
    { class: "ci-wanted" },
    ...line(model, "model"),
    names,
    ...line(focus, "focus"),
    ...line(additions, "context providers"),
  );
  const asOwn = h("div", { class: "ci-wanted" }, ...line(own, "text"));
  const form = h(
    "div",
    { class: "ci-writing" },
    h(
      "div",
      { class: "ci-writers", role: "radiogroup", "aria-label": "Who writes" },
      ...radios.map(radio => radio.line),
    ),
    ...[asModel, asOwn, sending.node],
    h("p", { class: "ci-actions" }, look, write),
    note,
  );
  const begin = () => {
    // The button is disabled while it is written.
    starting = true;
    sent = summaryForm.look.reply;
    summaryForm.write();
  };
  const isOffered = () => !write.hidden && !write.disabled;
  const retry = () => {
    if (summaryForm.problem === "" && isOffered()) return begin();
    if (summaryForm.problem !== "") summaryForm.again();
    if (summaryForm.fields.by === "model") summaryForm.ask();
  };
  const written = makeWritten(summaryForm, actions, retry, () => (isOffered() ? write : chosen()));
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

  const show = (viewState: ViewState) => {
    const { fields, look: preview, writing, waiting } = summaryForm;
    const { plan } = viewState;
    const isModel = fields.by === "model";
    const busy = writing?.state === "writing" || waiting;
    const reply = preview.reply?.by === fields.by ? preview.reply : null;
    const stale = reply === null || fields.by === "pasted" ? "" : summaryForm.stale();
    setText(who, sayStanding(plan));
    setShown(asModel, isModel);
    setShown(asOwn, fields.by === "pasted");
    const models = writing?.models ?? [];
    if (names.children.length !== models.length)
      putChildren(
        names,
        models.map(value => h("option", { value })),
      );
    if (fields.model === "" && writing?.model && document.activeElement !== model) {
      fields.model = writing.model;
      model.value = writing.model;
    }
    sending.draw(reply);
    sending.node.classList.toggle("ci-stale", stale !== "" || preview.waiting);
    setShown(look, isModel);
    look.disabled = busy;
    const ready = fields.by === "pasted" || (reply?.ready ?? false);
    setShown(write, ready);
    setText(write, isModel && reply ? saySend(reply) : "Summarise");
    setAttributes(write, { title: isModel && reply ? reply.priceNote : undefined });
    write.disabled =
      busy || preview.waiting || stale !== "" || (fields.by === "pasted" && fields.text === "");
    const words = preview.waiting
      ? waitFor(fields.by)
      : preview.problem || (stale ? STALE[stale] : isModel && reply === sent ? "" : (reply?.sentence ?? ""));
    setText(note, fields.by === "pasted" ? PASTED : words);
    const bad = preview.problem !== "";
    note.classList.toggle("ci-bad", bad && !preview.waiting);
    note.classList.toggle("ci-quiet", !bad && stale === "" && ready);
    written.draw(viewState, starting);
    starting &&= waiting;
  };

  for (const input of [model, focus])
    listen(input, "keydown", event => {
      if (event.key !== "Enter" || look.disabled) return;
      // A notebook takes Enter for itself.
      claim(event);
      summaryForm.ask();
    });
  listen(model, "input", () => summaryForm.change({ model: model.value }));
  listen(focus, "input", () => summaryForm.change({ focus: focus.value }));
  listen(additions, "input", () => summaryForm.change({ additions: additions.value }));
  listen(own, "input", () => summaryForm.change({ text: own.value }));
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
    draw(viewState, parts) {
      shown = viewState;
      setShown(node, viewState.needsKernel === "");
      summaryForm.follow(viewState);
      // The panel shows the settled plan, so a drag under way changes nothing.
      if (viewState.dragging) return;
      if (hasAny(parts, "scene", "plan", "place", "settled", "tab")) show(viewState);
    },
    dispose: () => summaryForm.dispose(),
  };
};

/** For example "placeholder 4.4k" or "summary 1.2k by extractive". */
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
