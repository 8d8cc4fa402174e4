// The sentence under the lanes: the shown plan, its result and losses, and notes on the numbers. Python writes the
// words; the numbers follow the cut without a new rendering of the component.
import { type ComponentChildren, render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Range } from "../../model/axis";
import { refOf } from "../../model/block-refs";
import { nearestLegal, nearestStart } from "../../model/cuts";
import { exact, plural, short } from "../../model/format";
import { namePlan, type Plan, totalAfter } from "../../model/plan";
import { isZoomed, rowsIn, sayTurns, sectionsIn } from "../../model/range";
import type { LossesReply, SentencePart } from "../../payloads/types";
import type { PanelProps } from "../../store/component";
import { type Actions, hasAny, type Part, type View, type ViewState } from "../../store/view";
import { h, setText } from "../../ui/dom";
import { RecoveryTree } from "../../ui/recovery-tree";
import { Figures } from "./figures";

const NEEDS: readonly Part[] = ["scene", "plan", "look", "lesson", "settled", "selection", "range"];
const QUIET = 1000;
const READING = "Looking for what each compaction lost …";

export const makeSentence = (actions: Actions): View => {
  const node = h("section", { class: "ci-sentence", "aria-label": "Result of the plan" });
  let shown: ViewState | undefined;
  let losses: LossesReply | null = null;
  let isAsking = false;
  let question = 0;
  let lossesKey = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Requested once for each settled plan; the first drawing does not wait for it. */
  const askLosses = ({ plan, place, look, settled, dragging, opening, scene }: ViewState) => {
    if (!settled || dragging || opening) return;
    const { cut, summary, sentence } = plan;
    const where = [scene.entryIds.at(-1), scene.judged, look, cut.place, cut.id];
    const now = JSON.stringify([where, namePlan(plan), summary]);
    if (now === lossesKey) return;
    lossesKey = now;
    const turn = ++question;
    losses = null;
    actions.countTab("findings", "");
    isAsking = sentence.loses;
    if (!isAsking) return;
    actions.requests.ask("losses", { place }).then(
      reply => {
        if (turn !== question) return;
        [losses, isAsking] = [reply, false];
        actions.countTab("findings", reply.total > 0 ? exact(reply.total) : "");
        draw();
      },
      // Losses are also listed in Findings, which says why they may be unknown.
      () => {
        if (turn !== question) return;
        isAsking = false;
        draw();
      },
    );
  };

  const draw = () => {
    if (shown === undefined) return;
    render(<Sentence {...{ viewState: { ...shown }, actions, losses, isAsking }} />, node);
    fill(shown);
  };

  /** The numbers for the current cut. */
  const fill = ({ plan, place }: ViewState) => {
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
    draw(viewState, parts) {
      shown = viewState;
      if (hasAny(parts, ...NEEDS)) {
        askLosses(viewState);
        draw();
      } else if (parts.has("place")) fill(viewState);
      if (viewState.settled && !viewState.dragging && parts.has("settled")) speak();
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

/** The text while a lesson plays the rules, "" otherwise: the plan's own sentence covers all of them. */
const sayPlayed = ({ plan, place, lesson: { play } }: ViewState) =>
  play === null || play.step >= play.reply.steps.length
    ? ""
    : `After ${play.step} of ${play.reply.steps.length} rules: ${short(totalAfter(plan, place))} left.`;

interface Props {
  viewState: ViewState;
  actions: Actions;
  losses: LossesReply | null;
  /** Whether the losses are asked for and not known yet. */
  isAsking: boolean;
}

const Sentence = (props: Props) => {
  const { viewState, actions } = props;
  const { recorded, selection } = viewState;
  return (
    <>
      {recorded !== null && <Switch {...{ viewState, actions, recorded }} />}
      {selection === null ? <Says {...props} /> : <Selected {...{ viewState, actions, selection }} />}
    </>
  );
};

const Says = ({ viewState, actions, losses, isAsking }: Props) => {
  const { plan, dragging, lesson, settled, opening } = viewState;
  // While the cut is to be guessed the sentence would give it away.
  const hidden = lesson.guess?.shown === false;
  const aside = hidden ? "Where would you cut?" : sayPlayed(viewState);
  return (
    <>
      <div class="ci-says">
        <p data-testid="sentence" aria-busy={isAsking || opening}>
          {aside || plan.sentence.parts.map(sayPart)}
          {aside === "" && opening && <span class="ci-quiet"> {READING}</span>}
          {aside === "" && !opening && losses !== null && (
            <Losses {...{ losses, actions }} isStale={dragging || !settled} />
          )}
        </p>
        {aside === "" &&
          plan.sentence.buttons.map(({ label, edit }) => (
            <button class="ci-link" key={label} onClick={() => actions.edit(edit, `Done: ${label}.`)}>
              {label}
            </button>
          ))}
        {(plan.cut.by === "you" || plan.since !== undefined) && !dragging && (
          <button class="ci-link" onClick={event => free(event.currentTarget, actions)}>
            Reset to the policy's cut
          </button>
        )}
      </div>
      {plan.recovery !== undefined && (
        <Popup id="recovered" words="overflow recovery">
          <RecoveryTree recovery={plan.recovery} />
        </Popup>
      )}
      <Notes {...{ viewState, actions }} />
    </>
  );
};

interface SelectedProps extends Pick<Props, "viewState" | "actions"> {
  selection: Range;
}

/** The content and the retention of the selected range, and actions on all its blocks. */
const Selected = ({ viewState, actions, selection }: SelectedProps) => {
  const { scene, selected, pins, needsKernel, cuts, axis, place } = viewState;
  const [from, to] = rowsIn(scene, selection);
  const total = sectionsIn(scene, selection).reduce((sum, tokens) => sum + tokens, 0);
  const findRefs = () => Array.from({ length: to - from }, (_, at) => refOf(scene, from + at));
  // Not looked up in every frame of a drag if nothing is pinned.
  const isPinned = pins !== undefined && pins.length > 0 && findRefs().every(ref => pins.includes(ref));
  const pin = () => {
    const refs = findRefs();
    const others = pins!.filter(ref => !refs.includes(ref));
    actions.setPins(isPinned ? others : [...others, ...refs]);
  };
  const after = nearestLegal(cuts, (scene.blockEntry[to - 1] ?? -1) + 1, axis.placeX);
  const [first, end] = findEnds(viewState, from, to);
  const button = (words: string, act: () => void) => (
    <button class="ci-link" onClick={act}>
      {words}
    </button>
  );
  return (
    <>
      <div class="ci-says">
        <p data-testid="sentence">
          Selected {sayTurns(scene, selection)}: <b>{short(total)} tokens</b>
          {selected?.parts.map(sayPart)}
        </p>
        {button(isZoomed(viewState) ? "Zoom back" : "Zoom to it", actions.selection.zoom)}
        {pins !== undefined && needsKernel === "" && button(isPinned ? "Unpin it" : "Pin it", pin)}
        {needsKernel === "" &&
          after > 0 &&
          after !== place &&
          button("Cut after it", () => actions.slideCut(after, false))}
        {needsKernel === "" && first < end && (
          <>
            {button("Summarise from here", () => actions.compactRange(first, scene.entries))}
            {first > 0 && button("up to here", () => actions.compactRange(0, first))}
            {button("this range", () => actions.compactRange(first, end))}
          </>
        )}
      </div>
      <button class="ci-button" data-testid="clear-selection" onClick={() => actions.selection.select(null)}>
        Clear selection <kbd>Esc</kbd>
      </button>
    </>
  );
};

/** Where what is compacted may begin and end, nearest to the first row of a selection and to its last. */
const findEnds = ({ scene, axis, cuts }: ViewState, from: number, to: number): Range => {
  const entry = scene.blockEntry[from] ?? 0;
  const first = nearestStart(scene, entry, scene.entries, axis.placeX);
  return [
    first,
    nearestLegal({ ...cuts, since: first }, (scene.blockEntry[to - 1] ?? entry) + 1, axis.placeX),
  ];
};

const Switch = ({
  viewState,
  actions,
  recorded,
}: Pick<Props, "viewState" | "actions"> & { recorded: Plan }) => {
  const looks = viewState.look !== "plan";
  return (
    <fieldset class="ci-look" aria-label="Shown result" data-testid="look">
      <button aria-pressed={looks} onClick={() => looks || actions.lookAt(recorded.look ?? "")}>
        {recorded.label ?? "recorded"}
      </button>
      <button aria-pressed={!looks} onClick={() => looks && actions.lookAt("plan")}>
        Plan
      </button>
    </fieldset>
  );
};

/** A number has a node of its own, whose text is set directly. */
const sayPart = ({ text, tone, slot }: SentencePart, i: number) => {
  const look = tone === "bad" || tone === "good" ? `ci-${tone}` : "";
  if (slot !== "") return <b class={look} data-slot={slot} key={`${i}${slot}`} />;
  return tone === "" ? text : <b class={look}>{text}</b>;
};

interface LossesProps {
  losses: LossesReply;
  actions: Actions;
  /** They belong to an older plan; they keep their place, so that nothing moves under the pointer. */
  isStale: boolean;
}

const Losses = ({ losses: { sentence, tone }, actions, isStale }: LossesProps) => (
  <>
    {" "}
    <button
      class={`ci-losses${tone === "" ? "" : ` ci-${tone}`}`}
      data-testid="losses"
      style={{ visibility: isStale ? "hidden" : "" }}
      onClick={() => actions.openTab("findings")}
    >
      {sentence}
    </button>
  </>
);

/** A text that opens over the page; Escape and a press elsewhere close it. */
const Popup = ({ words, title, id, children }: PopupProps) => {
  const node = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const details = node.current!;
    const root = details.getRootNode();
    const leave = (event: Event) => {
      if (event.target instanceof Node && !details.contains(event.target)) details.open = false;
    };
    // Words that were clicked on have no focus.
    const closeByKey = (event: Event) => {
      if (!details.open || (event as KeyboardEvent).key !== "Escape") return;
      event.stopPropagation();
      details.open = false;
      details.querySelector("summary")!.focus();
    };
    root.addEventListener("pointerdown", leave, true);
    root.addEventListener("keydown", closeByKey, true);
    return () => {
      root.removeEventListener("pointerdown", leave, true);
      root.removeEventListener("keydown", closeByKey, true);
    };
  }, []);
  return (
    <details class="ci-limits" data-testid={id} ref={node}>
      <summary title={title}>{words}</summary>
      <div class="ci-popup">{children}</div>
    </details>
  );
};

interface PopupProps {
  words: string;
  title?: string | undefined;
  id: string;
  children: ComponentChildren;
}

/** The limits of the numbers, with everything else known about them. */
const Notes = ({ viewState, actions }: PanelProps) => {
  const { plan, scene } = viewState;
  const notes = [...new Set([...plan.notes, ...scene.notices])];
  const words = plan.sentence.range || (notes.length > 0 ? plural(notes.length, "note") : "details");
  return (
    <Popup id="notes" title={notes.join("\n") || undefined} words={words}>
      {notes.length > 0 && (
        <ul data-testid="notices" aria-label="Notices">
          {notes.map(note => (
            <li>{note}</li>
          ))}
        </ul>
      )}
      <Figures {...{ viewState, actions }} />
    </Popup>
  );
};

const free = (button: Element, actions: Actions) => {
  // The button is removed with the answer; the focus stays on the cut.
  button.closest(".ci")?.querySelector<HTMLElement>(".ci-grip")?.focus({ preventScroll: true });
  actions.freeCut();
};
