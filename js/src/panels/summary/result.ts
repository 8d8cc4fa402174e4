// The summary as it is written, and what was written: its text as text, what the checks say of it, what it cost.
import { exact, percent, plural } from "../../model/format";
import type { Plan } from "../../model/plan";
import type { Actions, ViewState } from "../../store/view";
import { makeCopy } from "../../ui/copy";
import { h, putChildren, setAttributes, setShown, setText } from "../../ui/dom";
import type { SummaryForm } from "./controller";

/** So near its end a text that grows stays at its end, in pixels. */
const NEAR = 24;

/** `retry` repeats a failed request; `home` is the button to focus next if nothing is here. */
export const makeWritten = (
  summaryForm: SummaryForm,
  actions: Actions,
  retry: () => void,
  home: () => HTMLElement | undefined,
) => {
  const button = (words: string, id: string, onclick: () => void) =>
    h("button", { class: "ci-button", "data-testid": id, onclick }, words);
  const status = h("p", { class: "ci-verdict", "data-testid": "writing-status" });
  // Counts change four times a second, so screen readers do not announce them.
  const count = h("p", { class: "ci-quiet", "aria-hidden": "true", "data-testid": "writing-count" });
  const track = h("div", {
    ...{ class: "ci-track", role: "progressbar", "aria-label": "Writing the summary" },
    ...{ "aria-valuemin": 0, "aria-valuemax": 100 },
  });
  const findings = h("ul", { class: "ci-checked", "data-testid": "findings" });
  const caption = h("figcaption");
  const text = h("pre", { tabindex: 0, "aria-label": "Summary text", "data-testid": "summary-text" });
  const figure = h("figure", { class: "ci-text" }, caption, text);
  const stand = h("div");
  const cost = h("p", { class: "ci-quiet", "data-testid": "writing-cost" });
  const away = h("p", { "data-testid": "written-away" });
  const cancel = button("Cancel", "writing-cancel", summaryForm.stop);
  const again = button("Try again", "writing-again", retry);
  const go = button("Go to that cut", "writing-go", () =>
    actions.edit({ cut: summaryForm.writing?.cut ?? "" }, "The cut is where the summary was written."),
  );
  const drop = button("Use the placeholder again", "writing-drop", summaryForm.forget);
  const copy = makeCopy("Copy", () => [summaryForm.text, "Copied"], "ci-button");
  copy.dataset.testid = "writing-copy";
  const buttons = h("p", { class: "ci-actions" }, cancel, again, go, drop, copy);
  const node = h(
    "div",
    { class: "ci-written", role: "region", "aria-label": "The summary", "data-testid": "written" },
    ...[status, count, track, away, findings, stand, cost, buttons],
  );
  let last = "none";

  /** The focus is in here, or was when what had it went. */
  let isHeld = false;

  /** If the focused element is gone, its replacement gets the focus. */
  const passOn = (state: string) => {
    const next = { writing: cancel, done: text, failed: again }[state] ?? home();
    next?.focus({ preventScroll: true });
  };

  const drawText = (shown: boolean, total: number) => {
    const has = shown && summaryForm.text !== "";
    putChildren(stand, has ? [figure] : []);
    setShown(stand, has);
    const writing = summaryForm.writing?.state === "writing";
    // Only then: to ask for it costs a layout, and this is drawn in every frame of a drag.
    const left = writing ? text.scrollHeight - text.scrollTop - text.clientHeight : 0;
    setText(text, shown ? summaryForm.text : "");
    if (writing && left < NEAR) text.scrollTop = text.scrollHeight;
    const whole = summaryForm.writing?.state === "done" ? ` · ${plural(total, "character")}` : "";
    setText(caption, `summary${whole} · untrusted text`);
  };

  return {
    node,
    /** `begun` says that it was asked for with a button that cannot keep the focus. */
    draw(viewState: ViewState, begun: boolean) {
      const { writing, problem, waiting } = summaryForm;
      const state = problem !== "" ? "failed" : (writing?.state ?? "none");
      const [busy, done] = [state === "writing", state === "done"];
      const total = writing?.total ?? 0;
      const was = document.activeElement;
      isHeld = begun || node.contains(was) || (isHeld && isLost(was));
      setText(status, sayState(viewState.plan, summaryForm));
      status.classList.toggle("ci-bad", state === "failed");
      status.classList.toggle("ci-quiet", state === "none");
      const tries = (writing?.tries ?? 0) > 1 ? `, try ${writing?.tries}` : "";
      const share = writing?.share ?? null;
      setText(count, busy ? sayCount(total, tries, share) : "");
      setShown(count, busy);
      setShown(track, busy);
      track.style.setProperty("--ci-done", String(share ?? 1));
      track.classList.toggle("ci-unknown", share === null);
      setAttributes(track, { "aria-valuenow": share === null ? undefined : Math.round(100 * share) });
      drawText(busy || done, total);
      const writingFindings = done ? (writing?.findings ?? []) : [];
      const lines =
        done && writingFindings.length === 0 ? ["The checks found nothing wrong."] : writingFindings;
      if (lines.join("\n") !== findings.dataset.lines) {
        findings.dataset.lines = lines.join("\n");
        findings.replaceChildren(...lines.map(line => h("li", {}, line)));
      }
      findings.classList.toggle("ci-quiet", writingFindings.length === 0);
      setShown(findings, lines.length > 0);
      setText(
        cost,
        done || state === "failed" ? [writing?.usage, writing?.price].filter(Boolean).join(" · ") : "",
      );
      setShown(cost, cost.textContent !== "");
      const elsewhere = done && writing?.here === false ? writing : null;
      const same = elsewhere?.cut === viewState.plan.cut.id;
      // An earlier summary stays until a new one is done.
      const older = !busy && !done ? viewState.plan.summary : null;
      setText(
        away,
        older
          ? `The summary by ${older.by} is still used: ${plural(older.tokens, "token")}.`
          : elsewhere === null
            ? ""
            : sayElsewhere(viewState.plan, same ? -1 : elsewhere.turn),
      );
      setShown(away, away.textContent !== "");
      setShown(go, elsewhere !== null && !same && viewState.cuts.placeOf.has(elsewhere.cut));
      setShown(cancel, busy);
      cancel.disabled = waiting;
      setShown(again, state === "failed");
      setShown(drop, (done && elsewhere === null) || !!older);
      drop.disabled = waiting;
      setShown(copy, done && summaryForm.text !== "");
      setShown(buttons, busy || done || !!older || state === "failed");
      setAttributes(node, { "aria-busy": busy ? "true" : undefined });
      const at = document.activeElement;
      if (isHeld && !waiting && (isLost(at) || (begun && at === home()))) passOn(state);
      if (done && last === "writing") text.scrollTop = 0;
      last = state;
    },
  };
};

/** The reason why the plan on the screen does not use the written summary; a turn of -1 for its own cut. */
const sayElsewhere = (plan: Plan, turn: number): string => {
  const where = turn < 0 ? "this cut under other rules" : `the cut at turn ${turn + 1}`;
  const has = (plan.summaryTokens[plan.cut.place] ?? 0) > 0 ? "a placeholder in its place" : "no summary";
  return `It was written for ${where}: the plan on the screen has ${has}.`;
};

const sayCount = (total: number, tries: string, share: number | null): string =>
  `${plural(total, "character")}${tries}${share === null ? "" : ` · ${percent(share, 1)}`}`;

const sayState = (plan: Plan, { writing, problem, waiting }: SummaryForm): string => {
  if (problem !== "") return problem;
  const state = writing?.state ?? "none";
  if (state === "writing")
    return waiting
      ? "Stopping …"
      : (writing?.tries ?? 0) > 1
        ? `Writing, try ${writing?.tries} …`
        : "Writing …";
  if (state === "stopped") return "Stopped; nothing was saved.";
  if (state !== "none") return writing?.sentence ?? "";
  if (plan.summary) return "";
  const tokens = plan.summaryTokens[plan.cut.place] ?? 0;
  return tokens === 0
    ? "Nothing is written, and at this cut the plan has no summary."
    : `Nothing is written yet. A placeholder of ${exact(tokens)} tokens is used. A written summary replaces it in all counts and facts.`;
};

/** Whether an element cannot keep the focus: it is gone, hidden or disabled. */
const isLost = (node: Element | null): boolean =>
  node === null || node === document.body || node.closest("[hidden]") !== null || node.matches(":disabled");
