// The recorded summary and the planned one side by side, and the way to have one written.
import { render } from "preact";
import { exact } from "../../model/format";
import type { SummariesReply, SummarySide } from "../../payloads/types";
import type { PanelProps } from "../../store/component";
import { useReply } from "../../store/use-reply";
import { type Actions, hasAny, type Part, type View, type ViewState } from "../../store/view";
import { h, setAttributes, setShown, setText } from "../../ui/dom";
import type { Summarise } from "./panel";

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
  if (data === null) return <p class="ci-quiet">{problem || "Reading the summaries …"}</p>;
  return (
    <div class="ci-sides" data-testid="sides" data-writing={isWriting}>
      {!isWriting &&
        (data.recorded === null ? (
          <section aria-label="Recorded summary">
            <p class="ci-quiet">{data.sentence}</p>
          </section>
        ) : (
          <Side side={data.recorded} />
        ))}
      <Side side={data.planned} />
    </div>
  );
};

const Side = ({ side, children }: { side: SummarySide; children?: preact.ComponentChildren }) => (
  <section aria-label={side.title} data-testid="side">
    <h3>
      {side.title} <span class="ci-quiet">{side.size}</span>
      {children}
    </h3>
    <p class="ci-side-counts">{side.counts.map(count => count.words).join(" · ")}</p>
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
