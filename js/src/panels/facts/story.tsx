// The story of a fact: what was said beside what is left of it, what would have kept it, and what happened in turn.
import { useEffect, useState } from "preact/hooks";
import { exact, plural, splitPath } from "../../model/format";
import { TRAITS } from "../../model/outcomes";
import type { StoryFix, StoryOutcome, StoryPassage, StoryReply } from "../../payloads/types";
import type { Actions } from "../../store/view";
import { copyText } from "../../ui/copy";

const SIGNS = {
  "": "●",
  ...{ named: "●", kept: "●", undecided: "◧", unknown: "◇", missing: "□", again: "○" },
} as const;
/** So many places are named until all are asked for. */
const PLACES = 8;
const LITERAL: readonly string[] = ["file", "command", "error", "url", "symbol", "id"];

/** A path may go on in a new line behind each of its slashes. */
export const breakPath = (words: string) => splitPath(words).map(part => [part, <wbr key={part} />]);

/** A fact of this kind is a name, and no sentence. */
export const isLiteral = (kind: string): boolean => LITERAL.includes(kind);

interface Props {
  story: StoryReply;
  actions: Actions;
  /** Nothing can be changed here: a fix is Python to copy. */
  isPage: boolean;
  /** A fix is about to be made. */
  onFix?(): void;
  /** Another row of what became of it is to be told. */
  onPick(pick: string): void;
}

export const Story = ({ story, actions, isPage, onFix, onPick }: Props) => {
  useEffect(() => {
    const mentions = story.places.map(({ ref, label }) => ({ ref, kind: label }));
    actions.showFactRow({ ...story.factRow, mentions, lost: story.tone === "red" });
    return () => actions.showFactRow(null);
  }, [story]);
  const fix = ({ changes, said }: StoryFix) => {
    onFix?.();
    actions.edit(changes, said, true);
  };
  return (
    <article class="ci-st" data-testid="story" data-tone={story.tone}>
      <div class="ci-st-main">
        <header>
          <p class="ci-quiet">
            {story.head} <span class="ci-st-code">{story.code}</span>
          </p>
          <h3 class={isLiteral(story.kind) ? "ci-st-literal" : ""} data-testid="story-title">
            {breakPath(story.title)}
          </h3>
        </header>
        <p class="ci-st-cause" data-testid="cause">
          {story.outcome && <span aria-hidden="true">{TRAITS[story.outcome].sign} </span>}
          {story.label && <b>{story.label}.</b>} {story.wording.text}
        </p>
        <div class="ci-ev">
          <Side {...{ side: story.said, actions, isPage }} />
          <Side {...{ side: story.found, actions, isPage }} />
        </div>
        <p class="ci-quiet" data-testid="searched">
          {[story.searched, ...story.because.map(({ text }) => text)].join(" ")}
        </p>
        {(story.fixes.length > 0 || story.fixesNote) && (
          <section class="ci-st-fixes" aria-label="Would have kept it">
            <h4>
              <span>
                {story.fixesTitle} ·{" "}
                <button type="button" class="ci-link" onClick={() => copyText(story.focus)}>
                  copy words for /compact
                </button>
              </span>
              <span class="ci-st-number">tokens</span>
              <span class="ci-st-number">{story.fixes.some(({ price }) => price) && "price"}</span>
            </h4>
            {story.fixesNote && <p>{story.fixesNote}</p>}
            {story.fixes.map(one => (
              <p key={one.id} class={one.done ? "ci-st-done" : ""} data-testid="story-fix">
                <button
                  type="button"
                  class="ci-button"
                  onClick={() => (isPage || one.does === "Copy" ? copyText(one.recipe) : fix(one))}
                >
                  {isPage ? "Copy" : one.does}
                </button>
                <span>{isPage ? `${one.does} ${one.words}` : one.words}</span>
                <span class="ci-st-number">{`${one.tokens < 0 ? "−" : "+"}${exact(Math.abs(one.tokens))}`}</span>
                <span class="ci-st-number">{one.price}</span>
              </p>
            ))}
          </section>
        )}
      </div>
      <div class="ci-st-past">
        <h4>What happened</h4>
        <ol class="ci-st-chain" aria-label="What happened to it">
          {story.steps.map(link => (
            <li key={`${link.turn} ${link.words}`} class={`ci-st-chain-${link.sign}`}>
              <span aria-hidden="true">{SIGNS[link.sign]}</span>
              <span>{link.turn}</span>
              {link.ref && !isPage ? (
                <button type="button" class="ci-st-chain-words" onClick={() => actions.goTo(link.ref)}>
                  {link.words}
                </button>
              ) : (
                <span class="ci-st-chain-words">{link.words}</span>
              )}
              <span class="ci-st-number">{[link.tokens, link.price].filter(Boolean).join(" · ")}</span>
            </li>
          ))}
        </ol>
        {story.outcomes.length > 1 && !isPage && (
          <section aria-label="What became of it">
            <h4>What became of it</h4>
            <ul class="ci-st-became">
              {story.outcomes.map(one => (
                <li key={one.id}>
                  <button
                    type="button"
                    class={`ci-st-chain-${one.sign}`}
                    aria-pressed={one.id === story.pick}
                    data-testid="became"
                    onClick={() => onPick(one.id)}
                  >
                    <span aria-hidden="true">{signOf(one)}</span>
                    <span>{one.words}</span>
                    <span class="ci-st-number">{one.note}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
        <Places {...{ story, actions }} />
      </div>
    </article>
  );
};

/** A passage is read from its first marked words. */
const scrollToMark = (box: HTMLElement | null) => {
  const mark = box?.querySelector("mark");
  if (box && mark) box.scrollTop = mark.offsetTop - box.offsetTop - 20;
};

/** One side of the evidence: words in their surroundings, with what matches and what differs marked. */
const Side = ({
  side,
  actions,
  isPage,
}: { side: StoryPassage | null } & Pick<Props, "actions" | "isPage">) => {
  if (side === null) return null;
  const { text, start, end, marks, ref } = side;
  const edges = [...new Set([0, start, end, text.length, ...marks.flatMap(mark => [mark.start, mark.end])])];
  edges.sort((one, other) => one - other);
  const pieces = edges.slice(1).map((to, i) => {
    const from = edges[i]!;
    const piece = text.slice(from, to);
    const mark = marks.find(one => one.start <= from && to <= one.end);
    if (mark) return <mark class={mark.differs ? "ci-ev-differs" : ""}>{piece}</mark>;
    return from >= start && to <= end ? piece : <span class="ci-quiet">{piece}</span>;
  });
  return (
    <section aria-label={side.title} data-testid="evidence">
      <h4>
        {side.title}
        {ref && !isPage && (
          <button type="button" class="ci-link" onClick={() => actions.goTo(ref)}>
            {side.note || "show"}
          </button>
        )}
      </h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard */}
      <p class={`ci-ev-paper${start === end ? " ci-ev-none" : ""}`} ref={scrollToMark} tabIndex={0}>
        {pieces}
      </p>
    </section>
  );
};

const signOf = ({ sign, by }: StoryOutcome): string => (sign === "again" ? "↺" : shapeOf(by, sign));

/** Kept, undecided and missing, by whose word it is: the file's, the plan's, or a guess. */
const SHAPES: Record<string, string> = { file: "■◧□", plan: "●◐○", guess: "◆⬖◇" };

/** The shape says whose word it is; filled is kept, half filled is undecided. */
export const shapeOf = (by: string, group: string): string =>
  (SHAPES[by] ?? "●◐○")[group === "missing" ? 2 : group === "undecided" || group === "unknown" ? 1 : 0]!;

/** The blocks that name it: some, then all. */
const Places = ({ story, actions }: Pick<Props, "story" | "actions">) => {
  const [whole, setWhole] = useState("");
  const { places: said, placesTotal: saidTotal } = story;
  if (said.length === 0) return null;
  const shown = whole === story.form ? said : said.slice(0, PLACES);
  const hidden = saidTotal - shown.length;
  return (
    <section class="ci-st-named" aria-label="Named in">
      <h4>
        Named in <span class="ci-st-number">{plural(saidTotal, "block")}</span>
      </h4>
      <p data-testid="named">
        {shown.map(({ ref, label }) => (
          <button type="button" class="ci-link" key={ref} onClick={() => actions.goTo(ref)}>
            {label}
          </button>
        ))}
        {hidden > 0 &&
          (whole === story.form ? (
            <span class="ci-quiet">{exact(hidden)} between</span>
          ) : (
            <button type="button" class="ci-link" onClick={() => setWhole(story.form)}>
              {exact(hidden)} more
            </button>
          ))}
      </p>
    </section>
  );
};
