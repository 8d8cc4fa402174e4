// A lesson, one step at a time: goal, predictions, things to do, reveal, check, mark. Each step has an address.
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type Answers,
  answersTo,
  asks,
  exportAnswers,
  isTest,
  type Keeper,
  markLesson,
  markStep,
} from "./answers";
import { Lanes, Scale } from "./chart";
import { type Lesson, type Links, NO_LINKS, type Step } from "./data";
import { Question } from "./question";

interface PlayerProps {
  lesson: Lesson;
  links: Links;
  keeper: Keeper;
  /** The step from 1, the goal, to one more than the lesson's steps and the goal, the mark. */
  at: number;
  go(at: number): void;
}

const STAGES = ["Goal", "Predict", "Do", "Reveal", "Check", "Mark"] as const;
const NAMES = { predict: "Predict", do: "Do", reveal: "Reveal", check: "Check" } as const;

/** The last step that may be shown: a question that is not done keeps what is behind it. */
const findEnd = (lesson: Lesson, answers: Answers): number => {
  const own = answersTo(answers, lesson);
  const open = lesson.steps.findIndex(
    (step, i) => asks(step) && !markStep(lesson, step, answers.student, own.steps[i + 1]).done,
  );
  return open < 0 ? lesson.steps.length + 2 : open + 2;
};

export const Player = ({ lesson, links, keeper, at, go }: PlayerProps) => {
  const [answers, setAnswers] = useState(() => keeper.load());
  const [large, setLarge] = useState(false);
  const root = useRef<HTMLElement>(null);
  const began = useRef(Date.now());
  const last = lesson.steps.length + 2;
  const shown = Math.max(1, Math.min(at, findEnd(lesson, answers)));
  const step = lesson.steps[shown - 2];
  useEffect(() => {
    began.current = Date.now();
    if (at !== shown) go(shown);
    root.current?.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
    // Only a page of ours is scrolled, never the page that a lesson is part of.
    if (shown > 1 && links !== NO_LINKS) window.scrollTo(0, 0);
  }, [shown, at]);
  const change = (change: (old: { tries: { answer: string; seed?: number }[] }) => object) => {
    const stored = keeper.load();
    const own = answersTo(stored, lesson);
    const number = String(shown - 1);
    const old = own.steps[number] ?? { tries: [], gave_up: false, seconds: 0 };
    const seconds = old.seconds + Math.round((Date.now() - began.current) / 1000);
    began.current = Date.now();
    const steps = { ...own.steps, [number]: { ...old, seconds, ...change(old) } };
    const lessons = { ...stored.lessons, [lesson.name]: { ...own, steps } };
    const changed = { ...stored, lessons };
    keeper.save(changed);
    setAnswers(changed);
  };
  const press = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const inField = target.matches("input[type=search], textarea");
    if (event.key === "P" && event.shiftKey && !inField) setLarge(!large);
    else if (event.key === "Escape") {
      const field = target as HTMLInputElement;
      if (inField && field.type === "search" && field.value !== "") {
        field.value = "";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        event.preventDefault();
      } else if (large) setLarge(false);
      else if (links.workbench !== "" && window.top === window) location.assign(links.workbench);
    } else if (event.key === "Enter" && target.matches("[role=slider], input")) {
      root.current?.querySelector<HTMLButtonElement>(".cl-go:enabled")?.click();
      event.preventDefault();
    }
  };
  const next = () => go(shown + 1);
  const startOver = () => {
    keeper.clear();
    setAnswers(keeper.load());
    go(1);
  };
  return (
    <section
      class="cl-lesson"
      aria-label={`Lesson: ${lesson.title}`}
      data-large={large || undefined}
      data-testid="lesson"
      data-step={shown}
      data-focus={lesson.focus}
      ref={root}
      onKeyDown={press}
    >
      <Head {...{ lesson, links, large, setLarge, stage: stageOf(step, shown, last) }} />
      {shown > 1 && shown < last && <p class="cl-goal">Goal: {lesson.goal}</p>}
      {shown === 1 && <Goal {...{ lesson, next }} />}
      {step !== undefined && asks(step) && (
        <Question
          key={shown}
          {...{ lesson, step, large, next }}
          student={answers.student}
          answers={answersTo(answers, lesson).steps[String(shown - 1)]}
          isOver={markLesson(lesson, answers).done}
          commit={(answer, seed) =>
            change(({ tries }) => ({ tries: [...tries, seed === undefined ? { answer } : { answer, seed }] }))
          }
          giveUp={() => change(() => ({ gave_up: true }))}
          nextLabel={shown === last - 1 ? "See the mark" : "Next"}
        />
      )}
      {step !== undefined && !asks(step) && <Reveal {...{ lesson, step, large, next }} />}
      {shown === last && <MarkPage {...{ lesson, answers, links, startOver }} />}
      <nav class="cl-steps" aria-label="Steps">
        {Array.from({ length: last }, (_, i) => i + 1).map(number => (
          <a
            key={number}
            href={`#${number}`}
            aria-current={number === shown ? "step" : undefined}
            aria-disabled={number > findEnd(lesson, answers)}
            onClick={event => {
              event.preventDefault();
              if (number <= findEnd(lesson, answers)) go(number);
            }}
          >
            {number}
          </a>
        ))}
      </nav>
    </section>
  );
};

const stageOf = (step: Step | undefined, shown: number, last: number): string => {
  if (shown === 1) return "Goal";
  return shown === last || step === undefined ? "Mark" : NAMES[step.kind];
};

interface HeadProps {
  lesson: Lesson;
  links: Links;
  large: boolean;
  setLarge(large: boolean): void;
  stage: string;
}

const Head = ({ lesson, links, large, setLarge, stage }: HeadProps) => {
  const stages = isTest(lesson) ? (["Goal", "Check", "Mark"] as const) : STAGES;
  const now = (stages as readonly string[]).indexOf(stage);
  return (
    <header class="cl-head">
      {links.contents !== "" && <a href={links.contents}>‹ Lessons</a>}
      <h1>
        {!isTest(lesson) && lesson.number > 0 && `Lesson ${lesson.number}`}
        <span>
          {!isTest(lesson) && lesson.number > 0 && ": "}
          {lesson.title}
        </span>
      </h1>
      <ol class="cl-stages" aria-label="Parts of the lesson">
        {stages.map((name, at) => (
          <li key={name} aria-current={at === now ? "step" : undefined} data-done={at < now || undefined}>
            <i aria-hidden="true">{at < now ? "✓" : at + 1}</i> <span>{name}</span>
          </li>
        ))}
      </ol>
      <button
        type="button"
        class="cl-button cl-large"
        aria-pressed={large}
        title="Presentation mode: Shift+P"
        data-testid="large"
        onClick={() => setLarge(!large)}
      >
        Enlarge
      </button>
      {links.workbench !== "" && (
        <a class="cl-leave" href={links.workbench}>
          Leave focus <kbd>Esc</kbd>
        </a>
      )}
    </header>
  );
};

const Goal = ({ lesson, next }: { lesson: Lesson; next(): void }) => (
  <div class="cl-middle">
    <h2 tabIndex={-1} class="cl-ask">
      {lesson.goal}
    </h2>
    <p class="cl-text">
      {isTest(lesson)
        ? "There are ten questions, and each has one try. The result comes at the end."
        : `This lesson has ${lesson.steps.filter(asks).length} questions. You answer before anything is shown; the first try counts most. Giving up shows the solution, and is recorded.`}
    </p>
    <button type="button" class="cl-button cl-go" data-testid="next" onClick={next}>
      Begin
    </button>
  </div>
);

const Reveal = (props: { lesson: Lesson; step: Step; large: boolean; next(): void }) => {
  const { lesson, step, large, next } = props;
  const chart = lesson.charts[step.chart ?? 0];
  return (
    <>
      <h2 tabIndex={-1} class="cl-ask">
        {step.title}
      </h2>
      {step.text.map(text => (
        <p key={text} class="cl-text">
          {text}
        </p>
      ))}
      {chart && step.state && <Lanes {...{ chart, large }} state={step.state} cutLabel="cut" />}
      {chart && (
        <p class="cl-source">
          <Scale /> Tokens: {chart.counter}.
        </p>
      )}
      <footer class="cl-foot">
        <span class="cl-grow">Next: the same on a session generated for you.</span>
        <button type="button" class="cl-button cl-go" data-testid="next" onClick={next}>
          Go to the check
        </button>
      </footer>
    </>
  );
};

interface MarkProps extends ExportProps {
  lesson: Lesson;
  links: Links;
}

const MarkPage = ({ lesson, answers, links, startOver }: MarkProps) => {
  const { points, possible } = markLesson(lesson, answers);
  const own = answersTo(answers, lesson);
  return (
    <div class="cl-middle">
      <h2 tabIndex={-1} class="cl-ask" data-testid="mark">
        {points} of {possible} points
      </h2>
      <ol class="cl-marks">
        {lesson.steps.map((step, at) => {
          if (!asks(step)) return null;
          const mark = markStep(lesson, step, answers.student, own.steps[at + 1]);
          const { gave_up = false, tries = [] } = own.steps[at + 1] ?? {};
          return (
            <li key={at} data-right={mark.right}>
              <b aria-hidden="true">{mark.right ? "✓" : "✕"}</b> <a href={`#${at + 2}`}>{step.title}</a>
              <small>
                {mark.points} points, {gave_up ? "given up" : `tries: ${tries.length}`}
              </small>
            </li>
          );
        })}
      </ol>
      <Export {...{ answers, startOver }} />
      {links.next !== "" && (
        <a class="cl-button cl-go" href={links.next} data-testid="next-lesson">
          {isTest(lesson) ? "All lessons" : "Next lesson"}
        </a>
      )}
    </div>
  );
};

interface ExportProps {
  answers: Answers;
  /** Deletes all answers and the random name. */
  startOver(): void;
}

/** The file to hand in, and a new beginning. */
export const Export = ({ answers, startOver }: ExportProps) => {
  const text = exportAnswers(answers);
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "answers.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return (
    <div class="cl-export">
      <button type="button" class="cl-button" data-testid="export" onClick={save}>
        Save answers.json
      </button>
      <details>
        <summary>Copy it instead</summary>
        <textarea readOnly aria-label="answers.json" data-testid="answers" value={text} />
      </details>
      <p class="cl-source">
        It holds your answers, tries and times under the random name {answers.student}. Nothing is sent
        anywhere.
      </p>
      <details>
        <summary>Start over</summary>
        <p>
          This deletes the answers to all lessons and the random name. Save answers.json first if you need it.
        </p>
        <button type="button" class="cl-button" data-testid="start-over" onClick={startOver}>
          Delete and start over
        </button>
      </details>
    </div>
  );
};
