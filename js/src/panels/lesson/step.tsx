// A step of a lesson: what the picture shows, a question, what is said to an answer, and the way back and on.
import { useEffect, useRef, useState } from "preact/hooks";
import type { LessonCheckReply, LessonStepReply, LessonsReply } from "../../payloads/types";
import { makeComponentView, type PanelProps } from "../../store/component";
import { useReply } from "../../store/use-reply";
import type { Actions, View } from "../../store/view";
import { LessonList } from "./lesson-list";

/** Has the workbench set what a step shows, once its texts are there. */
type Begin = (step: LessonStepReply, again?: boolean) => void;

export const makeSteps = (actions: Actions, begin: Begin): View =>
  makeComponentView(
    props => <LessonSteps {...props} begin={begin} />,
    actions,
    ["scene", "plan", "place", "lesson", "tab", "settled"],
    { class: "ci-steps" },
  );

const LessonSteps = ({ picture, actions, begin }: PanelProps & { begin: Begin }) => {
  const { tab, scene } = picture;
  const { link } = picture.step;
  const isOpen = tab === "lesson";
  const { data: list } = useReply<LessonsReply>(isOpen ? (scene.entryIds[0] ?? "") : null, () =>
    actions.requests.ask("lessons", {}),
  );
  const { data: told, problem } = useReply(isOpen && link !== "" ? link : null, async () => {
    const step = await actions.requests.ask("lesson_step", { link });
    begin(step);
    return { link, step };
  });
  if (list === null) return null;
  return (
    <>
      <LessonList {...{ list, link }} shown={told?.step.lesson} open={actions.openStep} />
      {link !== "" && told?.link === link && (
        <Step key={link} {...{ picture, actions, link, begin }} step={told.step} />
      )}
      {link !== "" && told?.link !== link && <p class="ci-quiet ci-step">{problem || "Setting it up …"}</p>}
    </>
  );
};

interface OneStep extends PanelProps {
  link: string;
  step: LessonStepReply;
  begin: Begin;
}

const Step = ({ picture, actions, link, step, begin }: OneStep) => {
  const [answer, setAnswer] = useState("");
  const [verdict, setVerdict] = useState<LessonCheckReply | null>(null);
  const [problem, setProblem] = useState("");
  const { place, plan, lesson } = picture;
  const [back, next] = step.links;
  const isRight = verdict?.right === true;
  // What a page cannot do is not asked there; a question with choices always is.
  const isAsked = step.question !== "" && (!step.note || step.choices.length > 0);
  const heading = useRef<HTMLHeadingElement>(null);
  // Who went on with a button is taken to the new step, and hears its title.
  useEffect(() => {
    if (picture.step.own) heading.current?.focus({ preventScroll: true });
  }, []);
  // Who tries again is told again; what was right stays so.
  useEffect(() => {
    if (!isRight && !step.hides) setVerdict(null);
  }, [place, plan.recipe, lesson.broken?.place]);
  const check = async () => {
    const at = lesson.broken?.place ?? place;
    try {
      const said = await actions.requests.ask("lesson_check", { link, place: at, answer });
      setProblem("");
      setVerdict(said);
      if (step.hides) actions.guess("show");
      actions.announce(said.words);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <article class="ci-step" data-testid="step" data-link={link}>
      <div class="ci-tell">
        <button
          type="button"
          class="ci-link ci-to-lessons"
          data-testid="to-lessons"
          onClick={() => actions.openStep("")}
        >
          ‹ Lessons
        </button>
        <h4 ref={heading} tabIndex={-1}>
          {step.title}{" "}
          <small>
            {step.lesson}, {step.step} of {step.steps}
          </small>
        </h4>
        {step.text.map(words => (
          <p key={words}>{words}</p>
        ))}
      </div>
      <div class="ci-ask">
        {step.note && <p class="ci-quiet">{step.note}</p>}
        {step.question !== "" && (
          <p class="ci-asked" id={`ask-${link}`}>
            {step.question}
          </p>
        )}
        {step.choices.length > 0 && (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend beside the question
          <div class="ci-choices" role="group" aria-labelledby={`ask-${link}`}>
            {step.choices.map(choice => (
              <button
                type="button"
                key={choice}
                data-testid="choice"
                aria-pressed={choice === answer}
                onClick={() => {
                  setAnswer(choice);
                  if (!isRight) setVerdict(null);
                }}
              >
                {choice}
              </button>
            ))}
          </div>
        )}
        <p class="ci-actions">
          {isAsked && (
            <button type="button" class="ci-button ci-check" data-testid="lesson-check" onClick={check}>
              Check
            </button>
          )}
          <button
            type="button"
            class="ci-button"
            data-testid="step-back"
            disabled={back === ""}
            onClick={() => actions.openStep(back)}
          >
            ‹ Back
          </button>
          <button
            type="button"
            class="ci-button"
            data-testid="step-again"
            title="The moment, the policy and the cut as this step sets them; Undo takes it back"
            onClick={() => {
              setAnswer("");
              setVerdict(null);
              begin(step, true);
            }}
          >
            Start again
          </button>
          <button
            type="button"
            class="ci-button"
            data-testid="step-next"
            data-ready={isRight || !isAsked}
            disabled={next === ""}
            onClick={() => actions.openStep(next)}
          >
            {step.step === step.steps && next !== "" ? "Next lesson ›" : "Next ›"}
          </button>
        </p>
        {problem !== "" && <p class="ci-bad">{problem}</p>}
        {verdict !== null && (
          <p class={isRight ? "ci-right" : "ci-wrong"} data-testid="lesson-verdict">
            <b>{isRight ? "✓ Right." : "Not yet."}</b> {verdict.words}
          </p>
        )}
        {step.hint !== "" && (
          <details data-testid="lesson-hint">
            <summary>Hint</summary>
            <p>{step.hint}</p>
          </details>
        )}
        {step.solution !== "" && (
          <details data-testid="lesson-solution">
            <summary>Solution</summary>
            <p>{step.solution}</p>
          </details>
        )}
      </div>
    </article>
  );
};
