// The sentence under the lanes: whose after is shown, what the plan comes to, what it loses, and what to know of the
// numbers. Its words are Python's; the numbers in it go with the cut, without the component being drawn again.
import { render } from "preact";
import { plural, short } from "../../model/format";
import { type Plan, totalAfter } from "../../model/plan";
import type { LossesReply, RecoveryPayload, SentencePart } from "../../payloads/types";
import type { Actions, Part, Picture, View } from "../../store/view";
import { h, setText } from "../../ui/dom";
import { RecoveryTree } from "../../ui/recovery-tree";

const NEEDS: readonly Part[] = ["scene", "plan", "look", "lesson", "settled"];
const QUIET = 1000;

/** `facts` stand among the notes, where a person asks what limits the numbers. */
export const makeSentence = (actions: Actions, facts: View): View => {
  const node = h("section", { class: "ci-sentence", "aria-label": "What the plan comes to" });
  let shown: Picture | undefined;
  let losses: LossesReply | null = null;
  let question = 0;
  let asked = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Asked once for each plan that has settled; the first picture does not wait for it. */
  const askLosses = ({ plan, place, look, settled, dragging, scene }: Picture) => {
    if (!settled || dragging) return;
    const { policy, rules, pins, cut, summary, sentence } = plan;
    const rest = JSON.stringify(rules, (name, value) => (name === "delta" ? null : value));
    const now = JSON.stringify([scene.entryIds.at(-1), look, policy, rest, pins, cut.place, cut.id, summary]);
    if (now === asked) return;
    asked = now;
    const mine = ++question;
    losses = null;
    if (!sentence.loses) return;
    actions.requests.ask("losses", { place }).then(
      reply => {
        if (mine !== question) return;
        losses = reply;
        draw();
      },
      // What is lost is told in Findings too, which says why it cannot be told.
      () => undefined,
    );
  };

  const draw = () => {
    if (shown === undefined) return;
    render(<Sentence {...{ picture: { ...shown }, actions, losses, facts }} />, node);
    fill(shown);
  };

  /** The numbers for the place under the hand. */
  const fill = ({ plan, place }: Picture) => {
    for (const slot of node.querySelectorAll<HTMLElement>("[data-slot]"))
      setText(slot, NUMBERS[slot.dataset.slot as keyof typeof NUMBERS](plan, place));
  };

  const speak = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const says = node.querySelector('[data-testid="sentence"]')?.textContent ?? "";
      actions.announce(says);
    }, QUIET);
  };

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      facts.draw(picture, parts);
      if (NEEDS.some(part => parts.has(part))) {
        askLosses(picture);
        draw();
      } else if (parts.has("place")) fill(picture);
      if (picture.settled && !picture.dragging && parts.has("settled")) speak();
    },
    dispose() {
      clearTimeout(timer);
      render(null, node);
    },
  };
};

const NUMBERS = {
  left: ({ leftBlocks, leftTokens }: Plan, place: number) =>
    `${plural(leftBlocks[place] ?? 0, "block")}, ${short(leftTokens[place] ?? 0)} tokens`,
  after: (plan: Plan, place: number) => short(Math.max(0, totalAfter(plan, place))),
  summary: ({ summaryTokens }: Plan, place: number) => short(summaryTokens[place] ?? 0),
};

/** What stands while a lesson plays the rules, "" otherwise: the plan's own words are those of all of them. */
const sayPlayed = ({ plan, place, lesson: { play } }: Picture) =>
  play === null || play.step >= play.reply.steps.length
    ? ""
    : `After ${play.step} of ${play.reply.steps.length} rules: ${short(totalAfter(plan, place))} left.`;

interface Props {
  picture: Picture;
  actions: Actions;
  losses: LossesReply | null;
  facts: View;
}

const Sentence = ({ picture, actions, losses, facts }: Props) => {
  const { plan, recorded, dragging, lesson } = picture;
  // While the cut is to be guessed the sentence would give it away.
  const hidden = lesson.guess?.shown === false;
  const aside = hidden ? "Where would you cut?" : sayPlayed(picture);
  return (
    <>
      {recorded !== null && <Switch {...{ picture, actions, recorded }} />}
      <div class="ci-says">
        <p data-testid="sentence">
          {aside || plan.sentence.parts.map(sayPart)}
          {aside === "" && losses !== null && <Losses {...{ losses, actions }} />}
        </p>
        {aside === "" &&
          plan.sentence.buttons.map(({ label, edit }) => (
            <button
              type="button"
              class="ci-link"
              key={label}
              onClick={() => actions.edit(edit, `Done: ${label}.`)}
            >
              {label}
            </button>
          ))}
        {plan.cut.by === "you" && !dragging && (
          <button type="button" class="ci-link" onClick={event => free(event.currentTarget, actions)}>
            let the policy decide
          </button>
        )}
      </div>
      {plan.recovery !== undefined && <Recovery recovery={plan.recovery} />}
      <Notes {...{ picture, facts }} />
    </>
  );
};

const Switch = ({ picture, actions, recorded }: Pick<Props, "picture" | "actions"> & { recorded: Plan }) => {
  const looks = picture.look !== "plan";
  return (
    <fieldset class="ci-look" aria-label="Whose after is shown" data-testid="look">
      <button type="button" aria-pressed={looks} onClick={() => looks || actions.lookAt(recorded.look ?? "")}>
        {recorded.label ?? "recorded"}
      </button>
      <button type="button" aria-pressed={!looks} onClick={() => looks && actions.lookAt("plan")}>
        Plan
      </button>
    </fieldset>
  );
};

/** A number stands in a node of its own, which is filled by hand. */
const sayPart = ({ text, tone, slot }: SentencePart, i: number) => {
  const look = tone === "bad" || tone === "good" ? `ci-${tone}` : "";
  if (slot !== "") return <b class={look} data-slot={slot} key={`${i}${slot}`} />;
  return tone === "" ? text : <b class={look}>{text}</b>;
};

const Losses = ({ losses: { sentence, tone }, actions }: { losses: LossesReply; actions: Actions }) => (
  <>
    {" "}
    <button
      type="button"
      class={`ci-losses${tone === "" ? "" : ` ci-${tone}`}`}
      data-testid="losses"
      onClick={() => actions.openTab("findings")}
    >
      {sentence}
    </button>
  </>
);

/** The refused request that a recorded compaction recovered from. */
const Recovery = ({ recovery }: { recovery: RecoveryPayload }) => (
  <details class="ci-limits" data-testid="recovered">
    <summary>overflow recovery</summary>
    <div class="ci-popup">
      <RecoveryTree recovery={recovery} />
    </div>
  </details>
);

/** What limits the numbers; the rest of what is known of them stands with it. */
const Notes = ({ picture: { plan, scene }, facts }: Pick<Props, "picture" | "facts">) => {
  const notes = [...new Set([...plan.sentence.notes, ...scene.notices])];
  const words = plan.sentence.range || (notes.length > 0 ? plural(notes.length, "note") : "details");
  return (
    <details class="ci-limits">
      <summary title={notes.join("\n") || undefined}>{words}</summary>
      <div class="ci-popup">
        {notes.length > 0 && (
          <ul data-testid="notices" aria-label="Notices">
            {notes.map(note => (
              <li>{note}</li>
            ))}
          </ul>
        )}
        <div ref={slot => slot?.append(facts.node)} />
      </div>
    </details>
  );
};

const free = (button: Element, actions: Actions) => {
  // The button goes with the answer; the focus stays with the cut.
  button.closest(".ci")?.querySelector<HTMLElement>(".ci-grip")?.focus({ preventScroll: true });
  actions.freeCut();
};
