// A text beside a story, scrolled to the words in it that come nearest to the fact.
import { useEffect, useRef, useState } from "preact/hooks";
import type { StoryText } from "../../payloads/types";

/** `of` tells whose text it is: with another fact it is read from its nearest words again. */
export const SummaryText = ({ text, of }: { text: StoryText; of: string }) => {
  const [at, setAt] = useState(0);
  const box = useRef<HTMLElement>(null);
  const { near, lines } = text;
  const shown = near.length > 0 ? at % near.length : -1;
  const here = near[shown];
  useEffect(() => setAt(0), [of]);
  useEffect(() => {
    const node = box.current;
    const mark = node?.querySelector<HTMLElement>("mark[aria-current]");
    if (!node) return;
    const top = mark ? mark.offsetTop - node.offsetTop - node.clientHeight / 3 : 0;
    node.scrollTop = Math.max(0, top);
  }, [of, shown, lines.length]);
  return (
    <section class="ci-fd-summary" aria-label={text.title} data-testid="near-summary">
      <h3>
        {text.title} <span class="ci-fd-sum">{text.note}</span>
      </h3>
      {lines.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard
        <section class="ci-fd-text" ref={box} tabIndex={0} aria-label="Its text">
          {lines.map((line, number) => (
            <p key={number} class={line.head ? "ci-fd-head" : ""}>
              {cutAt(line.text, line.marks).map(({ text: piece, near: which }, place) =>
                which < 0 ? (
                  piece
                ) : (
                  <mark key={place} aria-current={which === shown ? "true" : undefined}>
                    {piece}
                  </mark>
                ),
              )}
            </p>
          ))}
          {text.more > 0 && <p class="ci-quiet">{text.more} more lines</p>}
        </section>
      )}
      <p data-testid="near-note">
        {here !== undefined && (
          <>
            <b>Nearest words</b>, {shown + 1} of {near.length}: “{here.words}” ({here.how}).{" "}
          </>
        )}
        {text.sentence}{" "}
        {near.length > 1 && (
          <button type="button" class="ci-link" onClick={() => setAt((shown + 1) % near.length)}>
            next ›
          </button>
        )}
      </p>
    </section>
  );
};

/** A line in pieces, those that are marked with their number; Python says where, nothing is searched here. */
const cutAt = (text: string, marks: readonly { start: number; end: number; near: number }[]) => {
  const pieces: { text: string; near: number }[] = [];
  let from = 0;
  for (const { start, end, near } of marks) {
    if (start < from) continue;
    pieces.push({ text: text.slice(from, start), near: -1 }, { text: text.slice(start, end), near });
    from = end;
  }
  return [...pieces, { text: text.slice(from), near: -1 }];
};
