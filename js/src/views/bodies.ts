// The texts under opened rows: a block before and after, or the summary that stands at the cut.
import type { CutLine, Row } from "../core/folding";
import { plural } from "../core/format";
import type { Requests } from "../core/requests";
import { fateAt } from "../core/state";
import type { BodyReply, SummaryReply } from "../core/wire";
import { showBody, showFacts, showProblem, showWaiting } from "./bodytext";
import { h } from "./dom";
import type { Picture } from "./picture";

type Answer = BodyReply | SummaryReply | Error | "asked";

export interface Bodies {
  draw(picture: Picture, item: Row | CutLine): HTMLElement;
  clear(): void;
}

export const makeBodies = (requests: Requests, arrived: () => void): Bodies => {
  let answers = new Map<string, Answer>();

  const ask = (key: string, question: () => Promise<BodyReply | SummaryReply>): Answer => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const mine = answers;
    mine.set(key, "asked");
    const settle = (answer: Answer) => {
      mine.set(key, answer);
      if (mine === answers) arrived();
    };
    question().then(settle, (error: Error) => settle(error));
    return "asked";
  };

  const frame = (...children: HTMLElement[]) =>
    h(
      "div",
      { role: "row", class: "ci-body" },
      h("div", { role: "gridcell", class: "ci-bodies" }, ...children),
    );

  return {
    draw(picture, item) {
      if (item.kind === "cut") {
        const { place } = picture;
        const answer = ask(`cut ${place}`, () => requests.ask("summary", { place }));
        if (answer === "asked") return frame(showWaiting("the summary"));
        if (answer instanceof Error) return frame(showProblem(answer.message));
        if (answer.type !== "summary") return frame();
        return frame(showBody("summary", answer, ""), ...showFacts(answer.facts ?? []));
      }
      const { row } = item;
      const { scene, plan, place } = picture;
      const { fate, tokens } = fateAt(scene, plan, row, place);
      const id = scene.fates[fate]?.id ?? "";
      const answer = ask(`${row} ${id}`, () => requests.ask("body", { row }));
      if (answer === "asked") return frame(showWaiting("the text"));
      if (answer instanceof Error) return frame(showProblem(answer.message));
      if (answer.type !== "body") return frame();
      if (id === "verbatim") return frame(showBody("before and after", answer.before, ""));
      return frame(
        showBody("before", answer.before, ""),
        showBody("after", answer.after, sayLeft(id, tokens)),
      );
    },
    clear() {
      answers = new Map();
    },
  };
};

/** What stands for a block whose text after the plan is not at hand. */
const sayLeft = (fate: string, tokens: number): string => {
  if (fate === "summarised") return "Nothing of its own: the summary stands for it.";
  return tokens === 0 ? "Nothing is left of it." : `${plural(tokens, "token")} stand in its place.`;
};
