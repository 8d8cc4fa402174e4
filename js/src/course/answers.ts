// The answers of a student: kept in the browser, exported as answers.json, marked by `compaction-inspector grade`.
import type { Exercise, Lesson, Step } from "./data";
import { sha256 } from "./sha256";

export const FORMAT = "compaction-inspector-answers-1";
const KEY = "compaction-inspector-course";
const POINTS = 3;

export interface Try {
  answer: string;
  /** Number of the generated session, for a check. */
  seed?: number;
}

export interface StepAnswers {
  tries: Try[];
  gave_up: boolean;
  seconds: number;
}

export interface LessonAnswers {
  version: string;
  steps: Record<string, StepAnswers>;
}

export interface Answers {
  format: string;
  /** A random name, so that no real one is needed. */
  student: string;
  lessons: Record<string, LessonAnswers>;
}

/** Keeps the answers: the browser's storage, or the model of a widget. */
export interface Keeper {
  load(): Answers;
  save(answers: Answers): void;
  /** Forgets the answers and the name of the student. */
  clear(): void;
}

const begin = (): Answers => {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const student = [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");
  return { format: FORMAT, student, lessons: {} };
};

const isAnswers = (value: unknown): value is Answers =>
  typeof value === "object" &&
  value !== null &&
  (value as Answers).format === FORMAT &&
  typeof (value as Answers).student === "string" &&
  typeof (value as Answers).lessons === "object";

/** The storage of a page; without storage, as in a sandboxed frame, the answers last as long as the page. */
export const keepInBrowser = (): Keeper => {
  let memory: Answers | null = null;
  return {
    load() {
      try {
        const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
        if (isAnswers(stored)) return stored;
      } catch {
        // No storage, or not ours.
      }
      memory ??= begin();
      return memory;
    },
    save(answers) {
      memory = answers;
      try {
        localStorage.setItem(KEY, JSON.stringify(answers));
      } catch {
        // The page still has them.
      }
    },
    clear() {
      this.save(begin());
    },
  };
};

/** The trait `answers` of a widget's model. */
export const keepInModel = (model: {
  get(name: "answers"): unknown;
  set(name: "answers", value: unknown): void;
  save_changes(): void;
}): Keeper => {
  let latest: Answers | null = null;
  return {
    load() {
      const stored = model.get("answers");
      latest = isAnswers(stored) ? stored : (latest ?? begin());
      return latest;
    },
    save(answers) {
      latest = answers;
      model.set("answers", answers);
      model.save_changes();
    },
    clear() {
      this.save(begin());
    },
  };
};

/** The first number of a student's checks in a lesson, as grading.choose_seed has it. */
export const chooseSeed = (student: string, lesson: string, pool: number): number => {
  let hash = 0x811c9dc5;
  for (const letter of new TextEncoder().encode(`${student}:${lesson}`)) {
    hash = Math.imul(hash ^ letter, 0x01000193) >>> 0;
  }
  return hash % pool;
};

/** The answers to a lesson; those to another version of it do not count. */
export const answersTo = (answers: Answers, lesson: { name: string; version: string }): LessonAnswers => {
  const stored = answers.lessons[lesson.name];
  return stored?.version === lesson.version ? stored : { version: lesson.version, steps: {} };
};

/** The exercise of a step for a student; a check asks on another session after each try. */
export const exerciseOf = (
  lesson: Lesson,
  step: Step,
  student: string,
  tries: number,
): Exercise | undefined => {
  if (step.exercise) return step.exercise;
  const variants = step.variants ?? [];
  const first = chooseSeed(student, lesson.name, variants.length || 1);
  return variants[(first + (isTest(lesson) ? 0 : tries)) % variants.length];
};

export const isTest = ({ name }: { name: string }): boolean => name === "final";

export const asks = (step: Step): boolean => step.kind !== "reveal";

/** The exercise and the option of each try. */
export const judge = (lesson: Lesson, step: Step, student: string, answers: StepAnswers | undefined) =>
  (answers?.tries ?? []).map(({ answer }, number) => {
    const exercise = exerciseOf(lesson, step, student, number);
    return { exercise, option: exercise?.options.find(({ key }) => key === answer) };
  });

export interface Mark {
  done: boolean;
  right: boolean;
  points: number;
}

export const markStep = (
  lesson: Lesson,
  step: Step,
  student: string,
  answers: StepAnswers | undefined,
): Mark => {
  const tries = judge(lesson, step, student, answers);
  const right = tries.at(-1)?.option?.right === true;
  const done = right || answers?.gave_up === true || (isTest(lesson) && tries.length > 0);
  return { done, right, points: right ? Math.max(1, POINTS + 1 - tries.length) : 0 };
};

/** Points, possible points and whether every question is done. */
export const markLesson = (lesson: Lesson, answers: Answers) => {
  const own = answersTo(answers, lesson);
  const marks = lesson.steps.flatMap((step, at) =>
    asks(step) ? [markStep(lesson, step, answers.student, own.steps[at + 1])] : [],
  );
  return {
    points: marks.reduce((sum, { points }) => sum + points, 0),
    possible: marks.length * POINTS,
    done: marks.every(({ done }) => done),
  };
};

/** JSON with sorted keys and no spaces: the form that is hashed. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
};

/** The text of an answers file. */
export const exportAnswers = ({ format, student, lessons }: Answers): string => {
  const data = { format, student, lessons };
  return JSON.stringify({ ...data, hash: sha256(canonical(data)) }, null, 1);
};
