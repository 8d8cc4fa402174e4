// One question: the chart, an answer, the commit, and the feedback.
import { useEffect, useRef, useState } from "preact/hooks";
import { short } from "../model/format";
import { asks, exerciseOf, isTest, judge, markStep, type StepAnswers } from "./answers";
import { type Handle, Lanes, Scale } from "./chart";
import { Control, Texts } from "./controls";
import type { Chart, Exercise, Lesson, Option, State, Step } from "./data";

interface QuestionProps {
  lesson: Lesson;
  step: Step;
  student: string;
  answers: StepAnswers | undefined;
  large: boolean;
  /** All questions of the lesson are done. */
  isOver: boolean;
  commit(key: string, seed: number | undefined): void;
  giveUp(): void;
  next(): void;
  nextLabel: string;
}

const HAS_HANDLE: readonly Exercise["ask"][] = ["cut", "place"];

export const Question = (props: QuestionProps) => {
  const { lesson, step, student, answers, large } = props;
  const { done, right } = markStep(lesson, step, student, answers);
  const tries = judge(lesson, step, student, answers);
  const last = tries.at(-1);
  // A wrong answer stays on the screen until the next try begins.
  const [isAgain, setIsAgain] = useState(false);
  const showsLast = done || (last !== undefined && !isAgain);
  const exercise =
    (showsLast ? last?.exercise : undefined) ?? exerciseOf(lesson, step, student, tries.length);
  const lastAt = exercise && last?.option ? exercise.options.indexOf(last.option) : -1;
  const [chosen, setChosen] = useState(-1);
  useEffect(() => {
    setChosen(showsLast && lastAt >= 0 ? lastAt : (exercise?.start ?? -1));
  }, [exercise, showsLast]);
  // A test shows its solutions to those who come back to it after the last answer.
  const [isReview] = useState(props.isOver);
  const verdict = useRef<HTMLDivElement>(null);
  const isNew = useRef(true);
  useEffect(() => {
    if (showsLast && answers !== undefined) showVerdict(verdict.current, !isNew.current);
    isNew.current = false;
  }, [tries.length, answers?.gave_up]);
  if (exercise === undefined) return null;
  const chart = lesson.charts[exercise.chart] as Chart;
  const isBlindTest = isTest(lesson) && done && !isReview;
  const at = chosen < exercise.options.length ? chosen : exercise.start;
  const option = exercise.options[at];
  const solution = exercise.options[exercise.solution] as Option;
  const shown: Option | undefined = done && !isBlindTest ? (right ? last?.option : solution) : option;
  const choose = (value: number) => {
    if (done) return;
    setChosen(value);
    setIsAgain(true);
  };
  // A check asks about another session after each try.
  const canChange = !done && (!showsLast || step.variants === undefined);
  const handle: Handle | null =
    HAS_HANDLE.includes(exercise.ask) && canChange ? makeHandle(exercise, at, choose) : null;
  const isChecked = showsLast && last !== undefined;
  const commit = () => {
    if (option === undefined) return;
    setIsAgain(false);
    props.commit(option.key, step.variants ? exercise.seed : undefined);
  };
  return (
    <>
      <h2 tabIndex={-1} class="cl-ask">
        {exercise.question}
      </h2>
      {step.text.map(text => (
        <p key={text} class="cl-text">
          {text}
        </p>
      ))}
      <Lanes
        chart={chart}
        state={step.hidden && !done ? withoutPlan(chart) : pickState(exercise, shown, done)}
        handle={handle}
        cutLabel={HAS_HANDLE.includes(exercise.ask) ? (shown?.label ?? "") : "cut"}
        own={done && !isBlindTest && HAS_HANDLE.includes(exercise.ask) ? ownPlace(last?.option) : null}
        blind={exercise.blind && !done}
        sums={exercise.blind}
        large={large}
      />
      <p class="cl-source">
        <Scale /> Tokens: {chart.counter}. {exercise.blind && !done ? "" : saySize(exercise, shown)}
      </p>
      <div class="cl-body">
        <div>
          {!done && <Control exercise={exercise} chosen={at} disabled={!canChange} choose={choose} />}
          {done && !isBlindTest && <Compared {...{ exercise, right, last: last?.option, solution }} />}
          {handle && option && (
            <p class="cl-answer cl-plain" data-testid="own-cut">
              <span>Your cut: {option.label}</span>
              {option.state && <small>keeps {short(option.state[2])}</small>}
            </p>
          )}
          {exercise.hint !== "" && !done && (
            <details data-testid="hint">
              <summary>Hint</summary>
              <p>{exercise.hint}</p>
            </details>
          )}
        </div>
        <div>
          <div ref={verdict} tabIndex={-1} aria-live="polite" data-testid="verdict" class="cl-verdict">
            {isBlindTest && <p>Your answer is saved. The result comes at the end.</p>}
            {isChecked && !isBlindTest && last?.option && (
              <p data-right={last.option.right}>
                <b>{last.option.right ? "✓ Right." : "✕ Not yet."}</b> {exercise.says[last.option.says] ?? ""}
              </p>
            )}
            {done && !right && !isBlindTest && (
              <p>
                <b>Solution: {solution.label}.</b> {exercise.says[solution.says] ?? ""}
              </p>
            )}
          </div>
          <Texts texts={exercise.texts} />
        </div>
      </div>
      <footer class="cl-foot">
        {!done && !isTest(lesson) && (
          <button type="button" class="cl-button" data-testid="give-up" onClick={props.giveUp}>
            Give up and show
          </button>
        )}
        <span class="cl-grow">{sayTries(step, tries.length, done, isTest(lesson))}</span>
        {done ? (
          <button type="button" class="cl-button cl-go" data-testid="next" onClick={props.next}>
            {props.nextLabel}
          </button>
        ) : !canChange ? (
          <button type="button" class="cl-button cl-go" data-testid="again" onClick={() => setIsAgain(true)}>
            Another session
          </button>
        ) : (
          <button
            type="button"
            class="cl-button cl-go"
            data-testid="commit"
            disabled={option === undefined || (isChecked && at === lastAt)}
            onClick={commit}
          >
            Commit
          </button>
        )}
      </footer>
    </>
  );
};

/** Focus the feedback; after an answer, scroll it out from behind the bar at the bottom, which covers the page. */
const showVerdict = (node: HTMLElement | null, scrolls: boolean) => {
  node?.focus({ preventScroll: true });
  const bar = node?.closest(".cl-lesson")?.querySelector<HTMLElement>(".cl-foot");
  if (!node || !bar || !scrolls) return;
  node.style.scrollMarginBottom = `${bar.offsetHeight + 8}px`;
  node.scrollIntoView({ block: "nearest" });
};

const ownPlace = (option: Option | undefined): number | null => option?.state?.[0] ?? null;

const makeHandle = (exercise: Exercise, at: number, move: (at: number) => void): Handle => ({
  // An invalid place has the state of the plan before; its own place is its number among all.
  places: exercise.options.map((option, place) =>
    exercise.ask === "place" ? place : (option.state?.[0] ?? 0),
  ),
  at: Math.max(0, at),
  label: exercise.options[Math.max(0, at)]?.label ?? "",
  move,
});

const pickState = (exercise: Exercise, shown: Option | undefined, done: boolean): State =>
  shown?.state && (!exercise.blind || done) ? shown.state : exercise.state;

/** The request as it is: a prediction is made before the chart shows a plan, or any number of it. */
const withoutPlan = ({ before, fixed }: Chart): State => [-1, before, before - fixed, 0, ""];

const saySize = (exercise: Exercise, shown: Option | undefined): string =>
  shown?.state && exercise.ask !== "place" ? `Sent: ${short(shown.state[1])}.` : "";

const sayTries = (step: Step, tries: number, done: boolean, isFinal: boolean): string => {
  if (!asks(step) || done) return tries > 1 ? `Tries: ${tries}.` : "";
  if (isFinal) return "One try.";
  return tries === 0 ? "The first try counts most." : `Try ${tries + 1}.`;
};

const Compared = (props: {
  exercise: Exercise;
  right: boolean;
  last: Option | undefined;
  solution: Option;
}) => {
  const { right, last, solution } = props;
  const row = (who: string, option: Option, isRight: boolean) => (
    <p class="cl-answer cl-plain" data-right={isRight}>
      <b aria-hidden="true">{isRight ? "✓" : "✕"}</b>
      <span>
        {who}: {option.label}
      </span>
      {option.state && <small>{`keeps ${short(option.state[2])}`}</small>}
    </p>
  );
  return (
    <div>
      {last && row("You", last, right)}
      {!right && row("Solution", solution, true)}
    </div>
  );
};
