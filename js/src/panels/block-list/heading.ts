// The list's heading: what is compared, how many blocks differ and by how much, and steps from one to the next.
import type { Folding } from "../../model/folds";
import type { Scene } from "../../model/plan";
import type { Picture } from "../../store/view";
import { h, listen, setAttributes, setText } from "../../ui/dom";
import { drawColumns, sayDifference } from "./row";

const ONE = "Before → after";
const TWO = "Plan A | plan B";

export interface FateHead {
  /** The heading, and the names of the columns. */
  readonly heading: HTMLElement;
  /** From a story back to the list whose place it has taken. */
  readonly back: HTMLElement;
  readonly columns: HTMLElement;
  /** Names the list and its columns; true where there is a plan B. */
  name(picture: Picture, grid: HTMLElement): boolean;
  count(scene: Scene, folding: Folding): void;
}

export const makeFateHead = (step: (way: 1 | -1) => void, showList: () => void): FateHead => {
  const title = document.createTextNode(ONE);
  const differing = h("span", { "data-testid": "differing" });
  const columns = h("div", { role: "row", class: "ci-row ci-columns" });
  const back = h("button", { class: "ci-link ci-back" }, "‹ Blocks");
  listen(back, "click", showList);
  const makeStep = (way: 1 | -1, words: string, label: string) => {
    const button = h("button", { class: "ci-link", "aria-label": label, title: label }, words);
    listen(button, "click", () => step(way));
    return button;
  };
  const steps = [
    makeStep(-1, "previous", "Previous difference (N)"),
    makeStep(1, "next", "Next difference (n)"),
  ];
  return {
    back,
    heading: h("h3", {}, back, title, h("span", { class: "ci-count" }, differing, ...steps)),
    columns,
    name({ other }, grid) {
      const two = other !== null;
      title.data = two ? TWO : ONE;
      setAttributes(grid, { "aria-label": title.data, "aria-colcount": two ? 6 : 5 });
      columns.replaceChildren(...drawColumns(two, other?.label ?? other?.policyTitle ?? ""));
      return two;
    },
    count(scene, { compared, differing: count, delta }) {
      const { words, title: told } = sayDifference(scene, compared, count, delta);
      setText(differing, words);
      setAttributes(differing, { title: told });
      for (const button of steps) button.disabled = count === 0;
    },
  };
};
