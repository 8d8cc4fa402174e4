// The session as run-lengths: "77 turns ◆ 93 turns ◆ 56 turns", each a stretch that can be planned. Many fold.
import { plural, short } from "../../model/format";
import type { Scene } from "../../model/plan";
import type { BoundaryPayload, SegmentPayload } from "../../payloads/types";
import type { Actions } from "../../store/view";
import { h } from "../../ui/dom";

/** So many stretches stand in a line; of more, the ends and those around the current one. */
const MOST = 9;
const AROUND = 2;

export interface Outline {
  readonly node: HTMLElement;
  draw(scene: Scene): void;
}

export const makeOutline = (actions: Actions): Outline => {
  const node = h("div", {
    class: "ci-outline",
    role: "toolbar",
    "aria-label": "Stretches between compactions",
    "data-testid": "outline",
  });
  let shown: Scene | undefined;
  let open = false;

  const draw = (scene: Scene) => {
    const focused = node.contains(document.activeElement);
    shown = scene;
    const { segments } = scene;
    const current = segments.findIndex(segment => segment.current);
    const folds = segments.length > MOST;
    const items: HTMLElement[] = [];
    let hidden = 0;
    segments.forEach((segment, i) => {
      const near = i === 0 || i === segments.length - 1 || Math.abs(i - Math.max(0, current)) <= AROUND;
      if (folds && !open && !near) {
        hidden++;
        return;
      }
      if (hidden > 0)
        items.push(
          makeFold(`⋯ ${hidden} more ⋯`, `Show ${plural(hidden, "more stretch", "more stretches")}`),
        );
      hidden = 0;
      for (const mark of marksAt(scene, segment)) items.push(makeMark(mark, segments[i - 1], actions));
      items.push(makeStretch(segment, scene, actions));
    });
    if (folds && open) items.push(makeFold("fold", "Fold the stretches"));
    const stop = items.find(item => item.hasAttribute("aria-current")) ?? items[0];
    for (const item of items) item.tabIndex = item === stop ? 0 : -1;
    node.classList.toggle("ci-open", open && folds);
    node.replaceChildren(...items);
    if (focused) stop?.focus();
  };

  const makeFold = (words: string, name: string) => {
    const fold = h("button", { class: "ci-link", "aria-label": name, "aria-expanded": String(open) }, words);
    fold.addEventListener("click", () => {
      open = !open;
      if (shown !== undefined) draw(shown);
    });
    return fold;
  };

  node.addEventListener("keydown", event => {
    const all = [...node.querySelectorAll("button")];
    const at = all.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    const next = to === undefined ? undefined : all[to];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    for (const button of all) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  });
  return { node, draw };
};

const marksAt = ({ boundaries }: Scene, { firstStep }: SegmentPayload): BoundaryPayload[] =>
  boundaries.filter(({ kind, step }) => kind === "compact" && step === firstStep);

const makeStretch = (segment: SegmentPayload, scene: Scene, actions: Actions): HTMLElement => {
  const { label, at, firstStep, lastStep, tokens, current, note = "" } = segment;
  const turn = (step: number) => scene.overviewTurn[step] ?? 0;
  // A compaction is a step of the turn before it, of which nothing else need be in this stretch.
  const opens = marksAt(scene, segment).length > 0 && lastStep > firstStep ? firstStep + 1 : firstStep;
  const words = plural(turn(lastStep) - turn(opens) + 1, "turn");
  const told = [words, label, `${short(tokens)} tokens`, ...(note === "" ? [] : [note])].join(", ");
  const stretch = h(
    "button",
    {
      class: note === "" ? "ci-stretch" : "ci-stretch ci-downstream",
      "aria-current": current ? "true" : undefined,
      "aria-label": told,
      title: told,
    },
    words,
  );
  stretch.addEventListener("click", () => current || actions.moveTo(at));
  return stretch;
};

/** A recorded compaction; it leads to the moment at which it happened. */
const makeMark = (
  mark: BoundaryPayload,
  before: SegmentPayload | undefined,
  actions: Actions,
): HTMLElement => {
  const told = [mark.label, ...(mark.trigger ? [mark.trigger] : [])].join(", ");
  const lead = before === undefined ? "" : "; plan at the moment before it";
  const node = h(
    "button",
    { class: "ci-mark", "aria-label": `◆ ${told}${lead}`, title: `${told}${lead}` },
    "◆",
  );
  node.addEventListener("click", () => before && !before.current && actions.moveTo(before.at));
  return node;
};
