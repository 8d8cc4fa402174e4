// How a question is answered: choices, policies and calls to pin as lists; a number as a slider; texts to search.
import { useId, useState } from "preact/hooks";
import { short } from "../model/format";
import type { Exercise, Option } from "./data";

interface ControlProps {
  exercise: Exercise;
  chosen: number;
  disabled: boolean;
  choose(at: number): void;
}

/** From this many answers a list has a filter. */
const MANY = 9;

export const Control = (props: ControlProps) => {
  const { ask } = props.exercise;
  if (ask === "set") return <NumberSlider {...props} />;
  return ask === "cut" || ask === "place" ? null : <Choices {...props} />;
};

const Choices = ({ exercise, chosen, disabled, choose }: ControlProps) => {
  const [words, setWords] = useState("");
  const name = useId();
  const { options } = exercise;
  const hasFilter = options.length >= MANY;
  const matches = (option: Option) => option.label.toLowerCase().includes(words.trim().toLowerCase());
  return (
    <div>
      {hasFilter && (
        <label class="cl-field">
          Filter
          <input
            type="search"
            value={words}
            data-testid="filter"
            onInput={event => setWords(event.currentTarget.value)}
          />
        </label>
      )}
      <fieldset class={hasFilter ? "cl-answers cl-scrolls" : "cl-answers"}>
        <legend class="cl-unseen">{exercise.question}</legend>
        {options.map((option, at) =>
          matches(option) ? (
            <label class="cl-answer" key={option.key} data-testid="choice">
              <input
                type="radio"
                name={name}
                checked={at === chosen}
                disabled={disabled}
                onChange={() => choose(at)}
              />
              <span>{option.label}</span>
              {option.state !== null && !exercise.blind && at === chosen && (
                <small>{short(option.state[1])} sent</small>
              )}
            </label>
          ) : null,
        )}
      </fieldset>
    </div>
  );
};

const NumberSlider = ({ exercise, chosen, disabled, choose }: ControlProps) => {
  const { options, blind } = exercise;
  const at = Math.max(0, chosen);
  const option = options[at] as Option;
  const step = (by: number) => choose(Math.max(0, Math.min(options.length - 1, at + by)));
  const button = (by: number, sign: string, label: string) => (
    <button type="button" class="cl-button" aria-label={label} disabled={disabled} onClick={() => step(by)}>
      {sign}
    </button>
  );
  return (
    <div class="cl-number">
      {button(-1, "−", "Less")}
      <input
        type="range"
        aria-label="Value"
        aria-valuetext={option.label}
        data-testid="number"
        min={0}
        max={options.length - 1}
        value={at}
        disabled={disabled}
        onInput={event => choose(Number(event.currentTarget.value))}
      />
      {button(1, "+", "More")}
      <output data-testid="value">{Number(option.label).toLocaleString("en")}</output>
      {!blind && option.state !== null && <small>{short(option.state[1])} sent</small>}
    </div>
  );
};

/** Texts with a search field; matches are marked. */
export const Texts = ({ texts }: { texts: Exercise["texts"] }) => {
  const [words, setWords] = useState("");
  if (texts.length === 0) return null;
  const query = words.trim().toLowerCase();
  const hits = texts.map(([, text]) => cut(text, query));
  const count = hits.reduce((sum, parts) => sum + (parts.length - 1) / 2, 0);
  return (
    <div class="cl-texts" data-testid="texts">
      <label class="cl-field">
        Search
        <input
          type="search"
          value={words}
          data-testid="search-text"
          onInput={event => setWords(event.currentTarget.value)}
        />
        <small aria-live="polite">{query === "" ? "" : `${count} found`}</small>
      </label>
      {texts.map(([title], at) => (
        <details key={title} open={texts.length === 1 || (hits[at] as string[]).length > 1}>
          <summary>{title}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled text is reached by the keyboard */}
          <p tabIndex={0}>
            {(hits[at] as string[]).map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part))}
          </p>
        </details>
      ))}
    </div>
  );
};

/** A text in parts; every second one is a match. */
const cut = (text: string, query: string): string[] => {
  const parts: string[] = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (;;) {
    const at = query === "" ? -1 : lower.indexOf(query, from);
    parts.push(text.slice(from, at < 0 ? undefined : at));
    if (at < 0) return parts;
    from = at + query.length;
    parts.push(text.slice(at, from));
  }
};
