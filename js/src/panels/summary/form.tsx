// Summary: who writes it, what would be sent and for how much, then the writing as it comes, and what was written.
import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { exact, percent, plural, short } from "../../model/format";
import { type Plan, summaryAt } from "../../model/plan";
import type { Writer } from "../../payloads/replies";
import type { SendingReply } from "../../payloads/types";
import type { PanelProps } from "../../store/component";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { Copy } from "../../ui/copy-button";
import { h, makeId, setShown } from "../../ui/dom";
import { claim } from "../../ui/keys";
import { makeSummaryForm, type SummaryForm } from "./controller";
import { Sending } from "./sending";

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
/** The focused element in each state of the writing. */
const FOCUSED: Readonly<Record<string, string>> = {
  writing: "writing-cancel",
  done: "summary-text",
  failed: "writing-again",
};
/** So near its end a text that grows stays at its end, in pixels. */
const NEAR = 24;

export interface Summarise extends View {
  /** Opens the form, and puts it away. */
  readonly button: HTMLElement;
  focus(): void;
}

export const makeSummarise = (actions: Actions): Summarise => {
  let shown: ViewState | undefined;
  const show = () => {
    if (shown) render(<Form viewState={{ ...shown }} actions={actions} form={form} />, node);
  };
  const form = makeSummaryForm(
    actions.requests,
    () => actions.stop("summary"),
    show,
    () => actions.openTab("summary"),
  );
  const node = h("section", {
    ...{ class: "ci-panel ci-summing", "data-testid": "summary", "aria-label": "Summary" },
  });
  const button = h(
    "button",
    { class: "ci-button", "aria-expanded": "false", "data-testid": "summarise" },
    "Write a summary…",
  );
  return {
    node,
    button,
    focus() {
      if (shown === undefined || shown.needsKernel !== "") return;
      actions.openTab("summary");
      // A panel that was closed is there from the next frame on.
      requestAnimationFrame(() => findChosen(node)?.focus());
    },
    draw(viewState, parts) {
      shown = viewState;
      setShown(node, viewState.needsKernel === "");
      form.follow(viewState);
      // The panel shows the settled plan, so a drag under way changes nothing.
      if (viewState.dragging) return;
      if (hasAny(parts, "scene", "plan", "place", "settled", "tab")) show();
    },
    dispose() {
      form.dispose();
      render(null, node);
    },
  };
};

/** Who writes. */
const findChosen = (node: Element | null | undefined) =>
  node?.querySelector<HTMLElement>("[type=radio]:checked");

interface FormProps extends PanelProps {
  form: SummaryForm;
}

const Form = ({ viewState, actions, form }: FormProps) => {
  const { fields, look: preview, writing, waiting } = form;
  const { plan } = viewState;
  const write = useRef<HTMLButtonElement>(null);
  /** It was asked for, and the button that did it is disabled. */
  const starting = useRef(false);
  /** The preview whose request was sent; it is out of date. */
  const sent = useRef<SendingReply | null>(null);
  const [id] = useState(() => makeId("summary"));
  if (fields.model === "" && document.activeElement?.id !== `${id}model`) fields.model = writing?.model ?? "";
  const isModel = fields.by === "model";
  const isPasted = fields.by === "pasted";
  const busy = writing?.state === "writing" || waiting;
  const reply = preview.reply?.by === fields.by ? preview.reply : null;
  const stale = reply === null || isPasted ? "" : form.stale();
  const ready = isPasted || (reply?.ready ?? false);
  const bad = preview.problem !== "";
  const words = preview.waiting
    ? waitFor(fields.by)
    : preview.problem ||
      (stale ? STALE[stale] : isModel && reply === sent.current ? "" : (reply?.sentence ?? ""));
  const begin = () => {
    starting.current = true;
    sent.current = form.look.reply;
    form.write();
  };
  const isOffered = () => write.current !== null && !write.current.hidden && !write.current.disabled;
  const retry = () => {
    if (form.problem === "" && isOffered()) return begin();
    if (form.problem !== "") form.again();
    if (fields.by === "model") form.ask();
  };
  const asksAgain = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || busy) return;
    // A notebook takes Enter for itself.
    claim(event);
    form.ask();
  };
  const begun = starting.current;
  useLayoutEffect(() => {
    starting.current &&= form.waiting;
  });
  const field = (name: "model" | "focus" | "additions" | "own", label: string) => ({
    ...{ id: id + name, label, name, value: fields[name] },
    change: (value: string) => form.change({ [name]: value }),
  });
  return (
    <>
      <h3>
        Summary
        <span class="ci-count">
          <span>{sayStanding(plan)}</span>
        </span>
      </h3>
      <div class="ci-both">
        <div class="ci-writing">
          <div class="ci-writers" role="radiogroup" aria-label="Who writes">
            {WRITERS.map(([value, label]) => (
              <label key={value}>
                <input
                  type="radio"
                  class="ci-knob"
                  name={`${id}writer`}
                  value={value}
                  checked={fields.by === value}
                  data-testid={`writer-${value}`}
                  onChange={() => form.change({ by: value })}
                />
                {label}
              </label>
            ))}
          </div>
          <div class="ci-wanted" hidden={!isModel}>
            <Field {...field("model", "model")} list={`${id}models`} onKeyDown={asksAgain} />
            <datalist id={`${id}models`}>
              {writing?.models.map(name => (
                <option key={name} value={name} />
              ))}
            </datalist>
            <Field
              {...field("focus", "focus")}
              placeholder="such as the open question, the names of files"
              onKeyDown={asksAgain}
            />
            <Field
              {...field("additions", "context providers")}
              rows={2}
              placeholder="what context providers add to the request; it is never compacted itself"
            />
          </div>
          <div class="ci-wanted" hidden={!isPasted}>
            <Field {...field("own", "text")} rows={7} />
          </div>
          <Sending
            reply={reply}
            keep={fields.keep}
            isStale={stale !== "" || preview.waiting}
            leave={keep => {
              form.change({ keep });
              form.ask();
            }}
          />
          <p class="ci-actions">
            <button
              class="ci-button"
              data-testid="summary-look"
              hidden={!isModel}
              disabled={busy}
              onClick={form.ask}
            >
              See what would be sent
            </button>
            <button
              ref={write}
              class="ci-button ci-main"
              data-testid="summary-write"
              hidden={!ready}
              disabled={busy || preview.waiting || stale !== "" || (isPasted && fields.own === "")}
              title={isModel && reply ? reply.priceNote : undefined}
              onClick={begin}
            >
              {isModel && reply ? saySend(reply) : "Summarise"}
            </button>
          </p>
          <p
            class={bad ? (preview.waiting ? "" : "ci-bad") : stale === "" && ready ? "ci-quiet" : ""}
            data-testid="summary-note"
          >
            {isPasted ? PASTED : words}
          </p>
        </div>
        <Written
          {...{ viewState, actions, form, retry, begun }}
          home={node => (isOffered() ? write.current : findChosen(node?.parentElement))}
        />
      </div>
    </>
  );
};

interface FieldProps {
  id: string;
  label: string;
  name: string;
  value: string;
  /** Of a field of several lines. */
  rows?: number;
  placeholder?: string;
  list?: string;
  onKeyDown?(event: KeyboardEvent): void;
  change(value: string): void;
}

const Field = ({ label, name, rows, list, change, ...rest }: FieldProps) => {
  const shared = {
    ...{ ...rest, class: "ci-field", "data-testid": `summary-${name}` },
    onInput: (event: { currentTarget: { value: string } }) => change(event.currentTarget.value),
  };
  return (
    <>
      <label for={rest.id}>{label}</label>
      {rows ? (
        <textarea {...shared} rows={rows} />
      ) : (
        <input {...shared} type="text" list={list} autocomplete="off" spellcheck={false} />
      )}
    </>
  );
};

interface WrittenProps extends FormProps {
  /** Repeats a failed request. */
  retry(): void;
  /** It was asked for with a button that cannot keep the focus. */
  begun: boolean;
  /** The element to focus if there is none here. */
  home(node: Element | null): HTMLElement | null | undefined;
}

/** The summary as it is written, and what was written: its text as text, what the checks say of it, what it cost. */
const Written = ({ viewState, actions, form, retry, begun, home }: WrittenProps) => {
  const { writing, problem, waiting } = form;
  const { plan, cuts } = viewState;
  const node = useRef<HTMLElement>(null);
  const text = useRef<HTMLPreElement>(null);
  const last = useRef("none");
  /** The focus is in here, or was when what had it went. */
  const hasFocus = useRef(false);
  const state = problem !== "" ? "failed" : (writing?.state ?? "none");
  const [busy, done, failed] = [state === "writing", state === "done", state === "failed"];
  const { total = 0, tries = 0, share = null } = writing ?? {};
  const was = document.activeElement;
  hasFocus.current = begun || node.current?.contains(was) || (hasFocus.current && isLost(was));
  // Only then: to ask for it costs a layout, and this is drawn in every frame of a drag.
  const box = busy ? text.current : null;
  const isAtEnd = box !== null && box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
  // If the focused element is gone, its replacement gets the focus.
  useLayoutEffect(() => {
    const [at, next] = [document.activeElement, home(node.current)];
    if (hasFocus.current && !waiting && (isLost(at) || (begun && at === next))) {
      const own = node.current?.querySelector<HTMLElement>(`[data-testid="${FOCUSED[state]}"]`);
      (own ?? next)?.focus({ preventScroll: true });
    }
    if (text.current && isAtEnd) text.current.scrollTop = text.current.scrollHeight;
    if (text.current && done && last.current === "writing") text.current.scrollTop = 0;
    last.current = state;
  });
  const findings = done ? (writing?.findings ?? []) : [];
  const lines = done && findings.length === 0 ? ["The checks found nothing wrong."] : findings;
  const elsewhere = done && writing?.here === false ? writing : null;
  const same = elsewhere?.cut === plan.cut.id;
  // An earlier summary stays until a new one is done.
  const older = !busy && !done ? plan.summary : null;
  const away = older
    ? `The summary by ${older.by} is still used: ${plural(older.tokens, "token")}.`
    : elsewhere
      ? sayElsewhere(plan, same ? -1 : elsewhere.turn)
      : "";
  const cost = done || failed ? [writing?.usage, writing?.price].filter(Boolean).join(" · ") : "";
  const act = (id: string, words: string, shown: boolean, onClick: () => void, disabled = false) => (
    <button class="ci-button" data-testid={`writing-${id}`} hidden={!shown} {...{ disabled, onClick }}>
      {words}
    </button>
  );
  return (
    <section
      ref={node}
      class="ci-written"
      aria-label="The summary"
      aria-busy={busy || undefined}
      data-testid="written"
    >
      <p
        class={`ci-verdict ${failed ? "ci-bad" : state === "none" ? "ci-quiet" : ""}`}
        data-testid="writing-status"
      >
        {sayState(plan, form)}
      </p>
      {/* Counts change four times a second, so screen readers do not announce them. */}
      <p class="ci-quiet" aria-hidden="true" data-testid="writing-count" hidden={!busy}>
        {busy && sayCount(total, tries, share)}
      </p>
      <div
        class={`ci-track ${share === null ? "ci-unknown" : ""}`}
        role="progressbar"
        aria-label="Writing the summary"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share === null ? undefined : Math.round(100 * share)}
        style={`--ci-done: ${share ?? 1}`}
        hidden={!busy}
      />
      <p data-testid="written-away" hidden={away === ""}>
        {away}
      </p>
      <ul
        class={`ci-checked ${findings.length === 0 ? "ci-quiet" : ""}`}
        data-testid="findings"
        hidden={lines.length === 0}
      >
        {lines.map(line => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {(busy || done) && form.text !== "" && (
        <figure class="ci-text">
          <figcaption>summary{done && ` · ${plural(total, "character")}`} · untrusted text</figcaption>
          {/* biome-ignore lint/a11y: a box that scrolls is reached by the keyboard, and has a name there */}
          <pre ref={text} tabIndex={0} aria-label="Summary text" data-testid="summary-text">
            {form.text}
          </pre>
        </figure>
      )}
      <p class="ci-quiet" data-testid="writing-cost" hidden={cost === ""}>
        {cost}
      </p>
      <p class="ci-actions" hidden={!busy && !done && !older && !failed}>
        {act("cancel", "Cancel", busy, form.stop, waiting)}
        {act("again", "Try again", failed, retry)}
        {act("go", "Go to that cut", elsewhere !== null && !same && cuts.placeOf.has(elsewhere.cut), () =>
          actions.edit({ cut: writing?.cut ?? "" }, "The cut is where the summary was written."),
        )}
        {act(
          "drop",
          "Use the placeholder again",
          (done && elsewhere === null) || !!older,
          form.forget,
          waiting,
        )}
        {done && form.text !== "" && <Copy kind="ci-button" testid="writing-copy" text={() => form.text} />}
      </p>
    </section>
  );
};

/** For example "placeholder 4.4k" or "summary 1.2k by extractive". */
const sayStanding = (plan: Plan): string => {
  const tokens = plan.summaryTokens[plan.cut.place] ?? 0;
  const { name, by } = summaryAt(plan, plan.cut.place);
  return tokens === 0 ? "" : `${name} ${short(tokens)}${by && ` by ${by}`}`;
};

const waitFor = (by: Writer): string =>
  by === "model" ? "Putting together and counting what would be sent …" : "Asking the kernel …";

/** "Send 41.2k tokens to api.anthropic.com, at most $0.43". */
const saySend = ({ tokens, host, price }: SendingReply): string =>
  `Send ${short(tokens)} tokens to ${host}${price && `, ${price}`}`;

/** The reason why the plan on the screen does not use the written summary; a turn of -1 for its own cut. */
const sayElsewhere = (plan: Plan, turn: number): string => {
  const where = turn < 0 ? "this cut under other rules" : `the cut at turn ${turn + 1}`;
  const has = (plan.summaryTokens[plan.cut.place] ?? 0) > 0 ? "a placeholder in its place" : "no summary";
  return `It was written for ${where}: the plan on the screen has ${has}.`;
};

const sayCount = (total: number, tries: number, share: number | null): string =>
  [plural(total, "character"), tries > 1 && `, try ${tries}`, share !== null && ` · ${percent(share, 1)}`]
    .filter(Boolean)
    .join("");

const sayState = (plan: Plan, { writing, problem, waiting }: SummaryForm): string => {
  if (problem !== "") return problem;
  const { state = "none", tries = 0, sentence = "" } = writing ?? {};
  if (state === "writing")
    return waiting ? "Stopping …" : tries > 1 ? `Writing, try ${tries} …` : "Writing …";
  if (state === "stopped") return "Stopped; nothing was saved.";
  if (state !== "none") return sentence;
  if (plan.summary) return "";
  const tokens = plan.summaryTokens[plan.cut.place] ?? 0;
  return tokens === 0
    ? "Nothing is written, and at this cut the plan has no summary."
    : `Nothing is written yet. A placeholder of ${exact(tokens)} tokens is used. A written summary replaces it in all counts and facts.`;
};

/** Whether an element cannot keep the focus: it is gone, hidden or disabled. */
const isLost = (node: Element | null): boolean =>
  node === null || node === document.body || node.closest("[hidden]") !== null || node.matches(":disabled");
