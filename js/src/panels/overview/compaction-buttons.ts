// The recorded compactions as buttons over the curve: each shows what it left, and moves to the moment right before it.
import type { BoundaryPayload } from "../../payloads/types";
import type { Actions, ViewState } from "../../store/view";
import type { Palette } from "../../ui/canvas/canvas-colours";
import { h, setAttributes } from "../../ui/dom";
import { fitBetween, layOut } from "./button-places";

const SMALL = 24;
const UNSEEN = 1000;

export const makeCompactions = (actions: Actions) => {
  const node = h("div", { class: "ci-marks", "data-testid": "compactions" });
  let buttons: [HTMLElement, BoundaryPayload][] = [];

  const make = (viewState: ViewState, mark: BoundaryPayload, words: string, note = "") => {
    const look = {
      class: mark.kind === "compact" ? "ci-mark" : "ci-mark ci-micro",
      title: [`${mark.name} ${mark.source}`, mark.trigger, note].filter(Boolean).join(", "),
    };
    if (!canShow(viewState, mark)) return h("span", look, words);
    const onclick = ({ currentTarget }: Event) => {
      const looks = (currentTarget as Element).getAttribute("aria-pressed") === "true";
      actions.lookAt(looks ? "plan" : mark.look, looks ? undefined : mark.at);
    };
    return h("button", { ...look, "aria-label": `Show ${mark.name}`, onclick }, words);
  };

  const press = ({ look }: ViewState) => {
    for (const [button, mark] of buttons)
      if (button.tagName === "BUTTON") setAttributes(button, { "aria-pressed": String(mark.look === look) });
  };

  /** One compaction at a time, with a way to its neighbours. */
  const makeStepper = (wholes: readonly BoundaryPayload[], viewState: ViewState) => {
    const here = wholes.findIndex(({ look }) => look === viewState.look);
    const at = Math.max(0, here < 0 ? standing(wholes, viewState) : here);
    const mark = wholes[at] as BoundaryPayload;
    const whole = make(viewState, mark, `${mark.sign} of ${wholes.length}`);
    const step = (way: -1 | 1, words: string, name: string) => {
      const next = wholes[at + way];
      const onclick = () => next && actions.lookAt(next.look, next.at);
      const disabled = { "aria-disabled": next === undefined };
      return h("button", { class: "ci-mark", "aria-label": name, ...disabled, onclick }, words);
    };
    buttons.push([whole, mark]);
    return h(
      "div",
      { class: "ci-stepper", role: "group", "aria-label": "Recorded compactions" },
      whole,
      ...(viewState.needsKernel === ""
        ? [step(-1, "‹", "the compaction before"), step(1, "›", "the next compaction")]
        : []),
    );
  };

  return {
    node,
    draw(viewState: ViewState, measured: number) {
      const { scene, palette } = viewState;
      // What is not on a screen yet has no width.
      const width = measured || UNSEEN;
      const focused = node.contains(document.activeElement) ? labelOf(document.activeElement) : null;
      const x = (step: number) => ((step + 0.5) * width) / Math.max(1, scene.overview.steps);
      const marks = scene.boundaries.filter(({ look }) => look !== "");
      const wholes = marks.filter(({ kind }) => kind === "compact");
      const micros = marks.filter(({ kind }) => kind === "micro");
      buttons = [];
      const words = wholes.map(({ name, sign }) => [name, sign] as const);
      const laid = layOut(
        wholes.map(({ step }, i) => ({
          x: x(step),
          widths: (words[i] as readonly string[]).map(text => measure(text, palette)),
        })),
        width,
      );
      const items: HTMLElement[] = [];
      const occupied: [number, number][] = [];
      if (laid.size < 0 && wholes.length > 0) {
        const stepper = makeStepper(wholes, viewState);
        items.push(stepper);
        occupied.push([width - 150, width]);
      }
      laid.edges.forEach((left, i) => {
        const mark = wholes[i] as BoundaryPayload;
        const text = (words[i] as readonly string[])[laid.size] as string;
        const follows = scene.segments.find(({ firstStep }) => firstStep === mark.step);
        const button = make(viewState, mark, text, follows?.note && `the part after it is ${follows.note}`);
        const wide = measure(text, palette);
        setAttributes(button, { style: `left: ${left}px; width: ${wide}px` });
        occupied.push([left, left + wide]);
        buttons.push([button, mark]);
        items.push(button);
      });
      const places = fitBetween(
        occupied,
        micros.map(({ step }) => x(step)),
        SMALL,
        width,
      );
      places.forEach((left, i) => {
        if (left === null) return;
        const mark = micros[i] as BoundaryPayload;
        const button = make(viewState, mark, "◇");
        setAttributes(button, { style: `left: ${left}px; width: ${SMALL}px` });
        buttons.push([button, mark]);
        items.push(button);
      });
      node.replaceChildren(...items);
      press(viewState);
      if (focused !== null)
        [...node.querySelectorAll<HTMLElement>("button")]
          .find(button => labelOf(button) === focused)
          ?.focus();
    },
  };
};

/** Without Python there is one moment, and only what follows it can be looked at. */
const canShow = ({ scene, needsKernel }: ViewState, { step }: BoundaryPayload): boolean =>
  needsKernel === "" || step === scene.overview.last + 1;

const labelOf = (node: Element | null) => node?.getAttribute("aria-label") ?? null;

/** The last compaction at or before the end of the stretch that is planned. */
const standing = (wholes: readonly BoundaryPayload[], { scene }: ViewState): number =>
  wholes.filter(({ step }) => step <= scene.overview.last + 1).length - 1;

const context = document.createElement("canvas").getContext("2d");

/** How wide a button with these words is. */
const measure = (words: string, { font, scale }: Palette): number => {
  if (context === null) return SMALL;
  // The same text as on the button.
  context.font = `600 ${12 * scale}px ${font}`;
  return Math.max(SMALL, Math.ceil(context.measureText(words).width) + 18);
};
