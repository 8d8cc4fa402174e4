// The texts below opened rows: a block and its text after each plan, or the summary at a cut.

import type { CutLine, Row } from "../../model/folds";
import { plural } from "../../model/format";
import { fateAt } from "../../model/plan";
import type { Requests } from "../../payloads/requests";
import type { Body, BodyReply, GroundingReply, SummaryReply } from "../../payloads/types";
import type { ViewState } from "../../store/view";
import { h } from "../../ui/dom";
import { type Pieces, showDiff } from "../../ui/text-diff";
import { showBody, showFacts, showProblem, showWaiting } from "../../ui/transcript-text";
import { markCheckedSummary } from "./checked-summary";

type Reply = BodyReply | SummaryReply | GroundingReply;
type Answer<T> = T | Error | "asked";

/** A block's text after a plan: the replacement, if any, and the pieces in which the two differ. */
interface PlanResult {
  name: string;
  fate: string;
  tokens: number;
  after: Body | null;
  diff: Pieces | null;
}

export const makeBodies = (requests: Requests, arrived: () => void) => {
  let answers = new Map<string, Answer<Reply>>();
  let count = 0;

  // A key is of one kind of question.
  const ask = <T extends Reply>(key: string, question: () => Promise<T>): Answer<T> => {
    const answer = answers.get(key);
    if (answer !== undefined) return answer as Answer<T>;
    const currentAnswers = answers;
    currentAnswers.set(key, "asked");
    const settle = (answer: T | Error) => {
      currentAnswers.set(key, answer);
      count++;
      if (currentAnswers === answers) arrived();
    };
    question().then(settle, (error: Error) => settle(error));
    return "asked";
  };

  const drawSummary = ({ place, dragging }: ViewState, { other }: CutLine): HTMLElement[] => {
    const key = other ? "cut b" : `cut ${place}`;
    // A hand that moves passes many places, and means the last.
    if (dragging && !answers.has(key)) return [showWaiting("the summary")];
    const question = other ? { place: -1, versus: true } : { place };
    const answer = ask(key, () => requests.ask("summary", question));
    if (answer === "asked") return [showWaiting("the summary")];
    if (answer instanceof Error) return [showProblem(answer.message)];
    return [showBody(other ? "plan B's summary" : "summary", answer, ""), ...showFacts(answer.facts)];
  };

  const drawBlock = (viewState: ViewState, { row }: Row): HTMLElement[] => {
    const { scene, plan, place, other } = viewState;
    const { fate, tokens } = fateAt(scene, plan, row, place);
    const id = scene.fates[fate]?.id ?? "";
    const answer = ask(`${row} ${id}`, () => requests.ask("body", { row, place }));
    if (answer === "asked") return [showWaiting("the text")];
    if (answer instanceof Error) return [showProblem(answer.message)];
    const { before, after, diff } = answer;
    const results: PlanResult[] = [
      { name: other === null ? "after" : "plan A", fate: id, tokens, after, diff },
    ];
    if (other !== null) {
      const otherFate = fateAt(scene, other, row, other.cut.place);
      results.push({
        ...{ name: "plan B", fate: scene.fates[otherFate.fate]?.id ?? "", tokens: otherFate.tokens },
        ...{ after: answer.other?.after ?? null, diff: answer.other?.diff ?? null },
      });
    }
    const texts = drawResults(before, results);
    // A comparison shows another text than the one that was checked.
    const whole = texts[0] !== undefined && !texts[0].classList.contains("ci-diff");
    if (whole && isSummary(viewState, row)) {
      const grounds = ask(`grounds ${row}`, () => requests.ask("grounding", { row }));
      if (grounds !== "asked") markCheckedSummary(texts[0] as HTMLElement, before.text, grounds);
    }
    return texts;
  };

  return {
    draw(viewState: ViewState, item: Row | CutLine): HTMLElement {
      const texts = item.kind === "cut" ? drawSummary(viewState, item) : drawBlock(viewState, item);
      return h(
        "div",
        { role: "row", class: "ci-body" },
        h("div", { role: "gridcell", class: "ci-bodies" }, ...texts),
      );
    },
    clear() {
      answers = new Map();
      count++;
    },
    /** How many answers have come: while it stays the same, so does what is drawn. */
    arrived: () => count,
  };
};

/** Whether the file contains it as a summary of earlier messages, and a kernel can check it. */
const isSummary = ({ scene, needsKernel }: ViewState, row: number): boolean =>
  needsKernel === "" && scene.sections[scene.blockSection[row] as number]?.id === "compacted";

/** The original block, unless a comparison shows it too, and its text after each plan. */
const drawResults = (before: Body, results: PlanResult[]): HTMLElement[] => {
  const compared = results.filter(({ diff, fate }) => diff !== null && fate !== "verbatim");
  const keptNames = results.filter(({ fate }) => fate === "verbatim").map(({ name }) => name);
  const whole = compared.length === 0 ? [showBody(["before", ...keptNames].join(" and "), before, "")] : [];
  return [
    ...whole,
    ...results.flatMap(entry => {
      if (entry.fate !== "verbatim")
        return entry.diff === null
          ? [showBody(entry.name, entry.after, sayResult(entry.fate, entry.tokens))]
          : [showDiff(`before → ${entry.name}`, entry.diff)];
      return compared.length === 0 ? [] : [showBody(entry.name, null, "Unchanged.")];
    }),
  ];
};

/** Shown if the block's text after the plan is not available. */
const sayResult = (fate: string, tokens: number): string => {
  if (fate === "summarised") return "The summary replaces it.";
  return tokens === 0 ? "Removed; nothing replaces it." : `Replaced by ${plural(tokens, "token")}.`;
};
