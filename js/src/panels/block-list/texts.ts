// The texts under opened rows: a block and what each plan leaves of it, or the summary that stands at a cut.

import type { CutLine, Row } from "../../model/folds";
import { plural } from "../../model/format";
import { fateAt } from "../../model/plan";
import type { Requests } from "../../payloads/requests";
import type { Body, BodyReply, GroundingReply, SummaryReply } from "../../payloads/types";
import type { Picture } from "../../store/view";
import { h } from "../../ui/dom";
import { type Pieces, showDiff } from "../../ui/text-diff";
import { showBody, showFacts, showProblem, showWaiting } from "../../ui/transcript-text";
import { markCheckedSummary } from "./checked-summary";

type Reply = BodyReply | SummaryReply | GroundingReply;
type Answer<T> = T | Error | "asked";

export interface Bodies {
  draw(picture: Picture, item: Row | CutLine): HTMLElement;
  clear(): void;
  /** How many answers have come: while it stays the same, so does what is drawn. */
  arrived(): number;
}

/** What a plan leaves of a block: its text where something else stands, and the pieces that tell the two apart. */
interface Left {
  name: string;
  fate: string;
  tokens: number;
  after: Body | null;
  diff: Pieces | null;
}

export const makeBodies = (requests: Requests, arrived: () => void): Bodies => {
  let answers = new Map<string, Answer<Reply>>();
  let count = 0;

  // A key is of one kind of question.
  const ask = <T extends Reply>(key: string, question: () => Promise<T>): Answer<T> => {
    const known = answers.get(key);
    if (known !== undefined) return known as Answer<T>;
    const mine = answers;
    mine.set(key, "asked");
    const settle = (answer: T | Error) => {
      mine.set(key, answer);
      count++;
      if (mine === answers) arrived();
    };
    question().then(settle, (error: Error) => settle(error));
    return "asked";
  };

  const drawSummary = ({ place, dragging }: Picture, { other }: CutLine): HTMLElement[] => {
    const key = other ? "cut b" : `cut ${place}`;
    // A hand that moves passes many places, and means the last.
    if (dragging && !answers.has(key)) return [showWaiting("the summary")];
    const question = other ? { place: -1, versus: true } : { place };
    const answer = ask(key, () => requests.ask("summary", question));
    if (answer === "asked") return [showWaiting("the summary")];
    if (answer instanceof Error) return [showProblem(answer.message)];
    return [showBody(other ? "plan B's summary" : "summary", answer, ""), ...showFacts(answer.facts)];
  };

  const drawBlock = (picture: Picture, { row }: Row): HTMLElement[] => {
    const { scene, plan, place, other } = picture;
    const { fate, tokens } = fateAt(scene, plan, row, place);
    const id = scene.fates[fate]?.id ?? "";
    const answer = ask(`${row} ${id}`, () => requests.ask("body", { row, place }));
    if (answer === "asked") return [showWaiting("the text")];
    if (answer instanceof Error) return [showProblem(answer.message)];
    const { before, after, diff } = answer;
    const left: Left[] = [{ name: other === null ? "after" : "plan A", fate: id, tokens, after, diff }];
    if (other !== null) {
      const theirs = fateAt(scene, other, row, other.cut.place);
      left.push({
        ...{ name: "plan B", fate: scene.fates[theirs.fate]?.id ?? "", tokens: theirs.tokens },
        ...{ after: answer.other?.after ?? null, diff: answer.other?.diff ?? null },
      });
    }
    const texts = drawLeft(before, left);
    // A comparison shows another text than the one that was checked.
    const whole = texts[0] !== undefined && !texts[0].classList.contains("ci-diff");
    if (whole && isSummary(picture, row)) {
      const found = ask(`grounds ${row}`, () => requests.ask("grounding", { row }));
      if (found !== "asked") markCheckedSummary(texts[0] as HTMLElement, before.text, found);
    }
    return texts;
  };

  return {
    draw(picture, item) {
      const texts = item.kind === "cut" ? drawSummary(picture, item) : drawBlock(picture, item);
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
    arrived: () => count,
  };
};

/** Whether the file holds it as a summary of what stood before, and somebody is there to check it. */
const isSummary = ({ scene, needsKernel }: Picture, row: number): boolean =>
  needsKernel === "" && scene.sections[scene.blockSection[row] as number]?.id === "compacted";

/** The block as it was, unless a comparison tells it too, and what each plan leaves of it. */
const drawLeft = (before: Body, left: Left[]): HTMLElement[] => {
  const compared = left.filter(({ diff, fate }) => diff !== null && fate !== "verbatim");
  const kept = left.filter(({ fate }) => fate === "verbatim").map(({ name }) => name);
  const whole = compared.length === 0 ? [showBody(["before", ...kept].join(" and "), before, "")] : [];
  return [
    ...whole,
    ...left.flatMap(one => {
      if (one.fate !== "verbatim")
        return one.diff === null
          ? [showBody(one.name, one.after, sayLeft(one.fate, one.tokens))]
          : [showDiff(`before → ${one.name}`, one.diff)];
      return compared.length === 0 ? [] : [showBody(one.name, null, "It stands as it was.")];
    }),
  ];
};

/** What stands for a block whose text after the plan is not at hand. */
const sayLeft = (fate: string, tokens: number): string => {
  if (fate === "summarised") return "Nothing of its own: the summary stands for it.";
  return tokens === 0
    ? "Nothing is left of it."
    : `${plural(tokens, "token")} ${tokens === 1 ? "stands" : "stand"} in its place.`;
};
