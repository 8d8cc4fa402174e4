// The list of lessons with the progress in each, and a first cut to drag.
import { useState } from "preact/hooks";
import { short } from "../model/format";
import { type Answers, answersTo, type Keeper } from "./answers";
import { Lanes } from "./chart";
import type { Chart, Exercise, Title } from "./data";
import { Export } from "./player";

const describeProgress = (answers: Answers, title: Title): string => {
  const done = Object.keys(answersTo(answers, title).steps).length;
  if (done === 0) return `${title.questions} questions`;
  return `${done} of ${title.questions} questions answered`;
};

export const Contents = ({ titles, keeper }: { titles: readonly Title[]; keeper: Keeper }) => {
  const [answers, setAnswers] = useState(keeper.load);
  const startOver = () => {
    keeper.clear();
    setAnswers(keeper.load());
  };
  return (
    <section class="cl-lesson cl-middle" aria-label="Lessons" data-testid="contents">
      <h1 class="cl-ask">How compaction works, in eight lessons</h1>
      <p class="cl-text">
        Each runs in this browser. Your progress stays here; the file at the end is what you hand in.
      </p>
      <ol class="cl-titles">
        {titles.map(title => (
          <li key={title.name}>
            <a href={`${title.name === "final" ? "final" : `lesson-${title.number}`}.html`}>
              {title.name === "final" ? title.title : `${title.number}. ${title.title}`}
            </a>
            <span>{title.goal}</span>
            <small>{describeProgress(answers, title)}</small>
          </li>
        ))}
      </ol>
      <Export {...{ answers, startOver }} />
    </section>
  );
};

/** One chart with a cut to drag, and the tokens sent. */
export const Trial = ({ exercise, chart }: { exercise: Exercise; chart: Chart }) => {
  const [at, setAt] = useState(exercise.start);
  const option = exercise.options[at];
  if (!option?.state) return null;
  return (
    <section class="cl-lesson cl-trial" aria-label="Drag the cut" data-testid="trial">
      <Lanes
        chart={chart}
        state={option.state}
        handle={{
          places: exercise.options.map(({ state }) => state?.[0] ?? 0),
          ...{ at, label: option.label, move: setAt },
        }}
      />
      <p aria-live="polite" data-testid="sent">
        {short(chart.before)} become <b>{short(option.state[1])}</b> tokens: {short(option.state[2])} kept, a
        summary of {short(option.state[3])}, and {short(chart.fixed)} that no cut removes. Drag the cut.
      </p>
    </section>
  );
};
