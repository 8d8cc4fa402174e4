// The recorded summary and the planned one side by side, the way to have one written, and what the hook would give back.
import { render } from "preact";
import { useRef, useState } from "preact/hooks";
import { exact } from "../../model/format";
import type { CompactionsReply, SummariesReply, SummarySide } from "../../payloads/types";
import type { PanelProps } from "../../store/component";
import { useReply } from "../../store/use-reply";
import { type Actions, hasAny, type Part, type View, type ViewState } from "../../store/view";
import { Copy } from "../../ui/copy-button";
import { h, setAttributes, setShown, setText } from "../../ui/dom";
import type { Summarise } from "./form";

/** A placeholder is not the summary that will be written. */
const UNLESS_NAMED = "Absent unless named. ";
const NEEDS: readonly Part[] = ["scene", "plan", "look", "tab", "settled"];

/** The tab: the summaries, and in the place of the recorded one the form while a summary is to be written. */
export const makeSummaryTab = (actions: Actions, form?: Summarise): View & { open(): void } => {
  const place = h("div", { class: "ci-side-form", hidden: true }, ...(form ? [form.node] : []));
  const sides = h("div", { class: "ci-side-both" });
  const node = h("section", { class: "ci-summaries" }, ...(form ? [form.button] : []), place, sides);
  let shown: ViewState | undefined;
  let isWriting = false;
  const write = (open: boolean) => {
    isWriting = open;
    setShown(place, open);
    if (form) {
      setText(form.button, open ? "‹ Both summaries" : "Write a summary…");
      setAttributes(form.button, { "aria-expanded": String(open) });
    }
    draw();
    if (open) form?.focus();
  };
  const draw = () => {
    if (shown !== undefined)
      render(<SummarySides {...{ viewState: { ...shown }, actions, isWriting }} />, sides);
  };
  form?.button.addEventListener("click", () => write(!isWriting));
  return {
    node,
    open() {
      if (shown === undefined || shown.needsKernel !== "") return;
      actions.openTab("summary");
      write(true);
    },
    draw(viewState, parts) {
      shown = viewState;
      form?.draw(viewState, parts);
      if (form) setShown(form.button, viewState.needsKernel === "");
      if (hasAny(parts, ...NEEDS)) draw();
    },
    dispose() {
      form?.dispose?.();
      render(null, sides);
    },
  };
};

interface Props extends PanelProps {
  isWriting: boolean;
}

const SummarySides = ({ viewState, actions, isWriting }: Props) => {
  const { scene, planned, place, look, settled, dragging, tab } = viewState;
  const key = JSON.stringify([scene.entryIds.at(-1), look, planned.recipe, place, planned.summary]);
  const isOpen = tab === "summary" && settled && !dragging;
  const { data, problem } = useReply<SummariesReply>(isOpen ? key : null, () =>
    actions.requests.ask("summaries", { place }),
  );
  // What each side leaves out is what the table of compactions says.
  const { data: losses } = useReply<CompactionsReply>(isOpen ? key : null, () =>
    actions.requests.ask("compactions", { place }),
  );
  const { look: recordedLook } = viewState.recorded ?? {};
  // What could not be asked is not shown of the plan before.
  if (data === null || problem !== "") return <p class="ci-quiet">{problem || "Reading the summaries …"}</p>;
  return (
    <>
      <div class="ci-sides" data-testid="sides" data-writing={isWriting}>
        {!isWriting &&
          (data.recorded === null ? (
            <section aria-label="Recorded summary">
              <p class="ci-quiet">{data.sentence}</p>
            </section>
          ) : (
            <Side side={data.recorded} losses={losses?.rows.find(row => row.look === recordedLook)?.losses} />
          ))}
        <Side
          side={data.planned}
          losses={losses && `${planned.summary === null ? UNLESS_NAMED : ""}${losses.plan.losses}`}
        />
      </div>
      {!isWriting && <GivenBack key={data.givenBack.text} side={data.givenBack} />}
    </>
  );
};

/** The words in a field of their own: edits stay until the text itself changes. */
const GivenBack = ({ side: { title, size, text, note, sentence } }: { side: SummarySide }) => {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isEdited, setEdited] = useState(false);
  return (
    <section class="ci-given-back" aria-label={title} data-testid="given-back">
      <h3>
        {title} <span class="ci-quiet">{isEdited ? `edited, ${size} before` : size}</span>
        {text && <Copy kind="ci-button" text={() => field.current?.value ?? ""} />}
      </h3>
      <p class={text && "ci-quiet"}>{text ? note : sentence}</p>
      {text && (
        <textarea
          ref={field}
          class="ci-field"
          rows={Math.min(text.split("\n").length + 2, 8)}
          aria-label={title}
          spellcheck={false}
          defaultValue={text}
          onInput={event => setEdited(event.currentTarget.value !== text)}
        />
      )}
    </section>
  );
};

const Side = ({ side, losses }: { side: SummarySide; losses: string | null | undefined }) => (
  <section aria-label={side.title} data-testid="side">
    <h3>
      {side.title} <span class="ci-quiet">{side.size}</span>
    </h3>
    <p class="ci-side-counts">{losses}</p>
    {side.note && <p class="ci-quiet">{side.note}</p>}
    {side.text ? (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard
      <pre tabIndex={0}>{side.text}</pre>
    ) : (
      <p>{side.sentence}</p>
    )}
    {side.total > side.text.length && (
      <p class="ci-quiet">{exact(side.total - side.text.length)} more characters</p>
    )}
  </section>
);
