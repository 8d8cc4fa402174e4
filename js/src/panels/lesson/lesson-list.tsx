// The lessons that there are: those of this session, and those of others by their name.
import type { LessonsReply } from "../../payloads/types";

interface ListProps {
  list: LessonsReply;
  link: string;
  /** The title of the lesson that is open. */
  shown: string | undefined;
  open(link: string): void;
}

export const LessonList = ({ list, link, shown, open }: ListProps) => {
  const away = list.elsewhere;
  if (list.here.length + away.length === 0) return null;
  return (
    <nav class="ci-lessons" aria-label="Lessons">
      {list.here.map(({ number, title, steps }) => (
        <button
          type="button"
          key={number}
          data-testid={`lesson-${number}`}
          aria-current={link !== "" && title === shown ? "step" : undefined}
          onClick={() => open(`${number}.1`)}
        >
          <span>{number}</span> {title} <small>{steps} steps</small>
        </button>
      ))}
      {link !== "" && (
        <button type="button" data-testid="lesson-leave" onClick={() => open("")}>
          <span /> Play the policy yourself
        </button>
      )}
      {away.length > 0 && (
        <p class="ci-quiet">
          {list.here.length > 0 ? "On another session:" : "Lessons, each on a session of its own:"}
          {away.map(({ name }) => (
            <code key={name}>open_lesson("{name}")</code>
          ))}
        </p>
      )}
    </nav>
  );
};
