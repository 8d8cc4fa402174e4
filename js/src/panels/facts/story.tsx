// The history of a fact: the original and what is left of it, possible fixes, and the events in order.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { exact, exactChange, plural, splitPath } from "../../model/format";
import { TRAITS } from "../../model/outcomes";
import type { StoryFix, StoryPassage, StoryReply } from "../../payloads/types";
import type { Actions } from "../../store/view";
import { Copy } from "../../ui/copy-button";

const SIGNS = {
  "": "●",
  ...{ named: "●", kept: "●", undecided: "◐", unknown: "◇", missing: "■", again: "↺" },
} as const;
/** The number of mentions listed before "all" is pressed. */
const PLACES = 8;
const LITERAL: readonly string[] = ["file", "command", "error", "url", "symbol", "id"];

/** A path may go on in a new line behind each of its slashes. */
export const breakPath = (words: string) => splitPath(words).map(part => [part, <wbr key={part} />]);

/** A fact of this kind is a name, and no sentence. */
export const isLiteral = (kind: string): boolean => LITERAL.includes(kind);

interface Props {
  story: StoryReply;
  /** It is of an older plan; the newer one is asked for. */
  isStale?: boolean;
  isWaiting?: boolean;
  actions: Actions;
  /** Nothing can be changed here: a fix is Python to copy. */
  isPage: boolean;
  /** A fix is about to be made. */
  onFix?(): void;
  /** The fact is about to be judged. */
  onJudge?(): void;
  /** Shows another row of the fact's history. */
  onPick(pick: string): void;
}

export const Story = ({ story, isStale, isWaiting, actions, isPage, onFix, onJudge, onPick }: Props) => {
  useEffect(() => {
    const mentions = story.places.map(({ ref, label }) => ({ ref, kind: label }));
    const { factLane } = story;
    actions.showFactLane({ ...factLane, ...(isStale && { ends: "" }), mentions, lost: story.tone === "red" });
    return () => actions.showFactLane(null);
  }, [story, isStale]);
  const isAgain = story.code === "CI009";
  const fix = ({ changes, said }: StoryFix) => {
    onFix?.();
    actions.edit(changes, said, true);
  };
  return (
    <article class="ci-st" data-testid="story" data-tone={story.tone} aria-busy={isWaiting}>
      <div class="ci-st-main">
        <header>
          <p class="ci-quiet">
            {story.head} <span class="ci-st-code">{story.code}</span>
          </p>
          <h3 class={isLiteral(story.kind) ? "ci-st-literal" : ""} data-testid="story-title">
            {breakPath(story.title)}
          </h3>
        </header>
        <div class="ci-st-outcome">
          <p class="ci-st-cause" data-testid="cause">
            {story.outcome && <span aria-hidden="true">{isAgain ? "↺" : TRAITS[story.outcome].sign} </span>}
            {story.label && <b>{story.label}.</b>} {story.wording}
          </p>
          {(story.verdicts.length > 0 || story.verdict) && !isPage && (
            <Judge {...{ story, actions, onJudge }} />
          )}
        </div>
        <div class="ci-ev">
          <Side {...{ side: story.said, actions, isPage }} />
          <Side {...{ side: story.found, actions, isPage }} />
        </div>
        <p class="ci-quiet" data-testid="searched">
          {[story.searched, ...story.because].join(" ")}
        </p>
        {(story.fixes.length > 0 || story.fixesNote) && (
          <section class="ci-st-fixes" aria-label={story.fixesTitle}>
            <h4>
              <span>
                {story.fixesTitle} ·{" "}
                <Copy text={() => story.focus} words="copy words for /compact" announce={actions.announce} />
              </span>
              <span class="ci-st-number">tokens</span>
              <span class="ci-st-number">{story.fixes.some(({ price }) => price) && "price"}</span>
            </h4>
            {story.fixesNote && <p>{story.fixesNote}</p>}
            {story.fixes.map(entry => (
              <p key={entry.id} class={entry.done ? "ci-st-done" : ""} data-testid="story-fix">
                {isPage || entry.does === "Copy" ? (
                  <Copy kind="ci-button" text={() => entry.recipe} announce={actions.announce} />
                ) : (
                  <button class="ci-button" onClick={() => fix(entry)}>
                    {entry.does}
                  </button>
                )}
                <span>{isPage ? `${entry.does} ${entry.words}` : entry.words}</span>
                <span class="ci-st-number">{exactChange(entry.tokens)}</span>
                <span class="ci-st-number">{entry.price}</span>
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
                <button class="ci-st-chain-words" onClick={() => actions.goTo(link.ref)}>
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
          <section aria-label="History">
            <h4>History</h4>
            <ul class="ci-st-became">
              {story.outcomes.map(outcome => (
                <li key={outcome.id}>
                  <button
                    class={`ci-st-chain-${outcome.sign}`}
                    aria-pressed={outcome.id === story.pick}
                    data-testid="became"
                    onClick={() => onPick(outcome.id)}
                  >
                    <span aria-hidden="true">{outcome.outcome ? TRAITS[outcome.outcome].sign : "↺"}</span>
                    <span>{outcome.words}</span>
                    <span class="ci-st-number">{outcome.note}</span>
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

const VERDICTS = {
  right: ["Right", "Confirm this finding"],
  lost: ["Lost", "Count it as missing"],
  "not lost": ["Not lost", "Take it out of the findings, the counts and the check"],
} as const;
const tellMark = (verdict: string) => `Marked ${verdict} by you.`;

/** The reader's own judgement: what is not lost is counted nowhere. */
const Judge = ({ story, actions, onJudge }: Pick<Props, "story" | "actions" | "onJudge">) => {
  const node = useRef<HTMLParagraphElement>(null);
  const acted = useRef(false);
  const [problem, setProblem] = useState("");
  const { number, kind, form, place, pick, verdict } = story;
  useEffect(() => {
    setProblem("");
    // The button that was pressed is gone.
    if (acted.current) node.current?.querySelector("button")?.focus();
    acted.current = false;
  }, [verdict, kind, form, pick]);
  const judge = (next: keyof typeof VERDICTS | "withdrawn") => {
    onJudge?.();
    acted.current = true;
    actions.requests.ask("judge", { number, kind, form, place, pick, verdict: next }).then(
      () => actions.announce(next === "withdrawn" ? "Judgement withdrawn." : tellMark(next)),
      (error: Error) => setProblem(error.message),
    );
  };
  const button = (next: Parameters<typeof judge>[0], words: string, title: string) => (
    <button class="ci-link" key={next} {...{ title }} onClick={() => judge(next)}>
      {words}
    </button>
  );
  return (
    <p class="ci-st-judge" data-testid="judge" ref={node}>
      {verdict === "" ? (
        story.verdicts.map(next => button(next, VERDICTS[next][0], VERDICTS[next][1]))
      ) : (
        <>
          <b>{tellMark(verdict)}</b> {button("withdrawn", "Undo", "Withdraw the judgement")}
        </>
      )}
      {problem && <span class="ci-bad">{problem}</span>}
    </p>
  );
};

/** A passage is read from the line before its first marked words; without any, from the words themselves. */
const scrollToMark = (box: HTMLElement | null) => {
  const mark = box?.querySelector<HTMLElement>("mark") ?? box?.querySelector<HTMLElement>("[data-core]");
  if (!box || !mark) return;
  const line = Number.parseFloat(getComputedStyle(box).lineHeight);
  box.scrollTop = (Math.floor((mark.offsetTop - box.offsetTop - box.clientTop) / line) - 1) * line;
};

/** One side of the evidence: words in their surroundings, with what matches and what differs marked. */
const Side = ({
  side,
  actions,
  isPage,
}: { side: StoryPassage | null } & Pick<Props, "actions" | "isPage">) => {
  const box = useRef<HTMLParagraphElement>(null);
  // The box stays for the next finding, whose words are elsewhere in it.
  useLayoutEffect(() => scrollToMark(box.current), [side?.text, side?.start, side?.end]);
  if (side === null) return null;
  const { text, start, end, marks, ref } = side;
  const edges = [...new Set([0, start, end, text.length, ...marks.flatMap(mark => [mark.start, mark.end])])];
  edges.sort((edge, other) => edge - other);
  const pieces = edges.slice(1).map((to, i) => {
    const from = edges[i]!;
    const piece = text.slice(from, to);
    const mark = marks.find(entry => entry.start <= from && to <= entry.end);
    if (mark) return <mark class={mark.differs ? "ci-ev-differs" : ""}>{piece}</mark>;
    return from >= start && to <= end ? (
      <span data-core="">{piece}</span>
    ) : (
      <span class="ci-quiet">{piece}</span>
    );
  });
  return (
    <section aria-label={side.title} data-testid="evidence">
      <h4>
        {side.title}
        {ref && !isPage && (
          <button class="ci-link" onClick={() => actions.goTo(ref)}>
            {side.note || "show"}
          </button>
        )}
      </h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard */}
      <p class={`ci-ev-paper${start === end ? " ci-ev-none" : ""}`} ref={box} tabIndex={0}>
        {pieces}
      </p>
    </section>
  );
};

/** The blocks that name it: some, then all. */
const Places = ({ story, actions }: Pick<Props, "story" | "actions">) => {
  const [whole, setWhole] = useState("");
  const { places: mentions, placesTotal: saidTotal } = story;
  if (mentions.length === 0) return null;
  const shown = whole === story.form ? mentions : mentions.slice(0, PLACES);
  const hidden = saidTotal - shown.length;
  return (
    <section class="ci-st-named" aria-label="Named in">
      <h4>
        Named in <span class="ci-st-number">{plural(saidTotal, "block")}</span>
      </h4>
      <p data-testid="named">
        {shown.map(({ ref, label }) => (
          <button class="ci-link" key={ref} onClick={() => actions.goTo(ref)}>
            {label}
          </button>
        ))}
        {hidden > 0 &&
          (whole === story.form ? (
            <span class="ci-quiet">{exact(hidden)} between</span>
          ) : (
            <button class="ci-link" onClick={() => setWhole(story.form)}>
              {exact(hidden)} more
            </button>
          ))}
      </p>
    </section>
  );
};
