// The list's heading: what is compared, how many blocks differ and by how much, and steps from one to the next.
import type { Folding } from "../../model/folds";
import type { Scene } from "../../model/plan";
import type { ViewState } from "../../store/view";
import { h, setAttributes, setText } from "../../ui/dom";
import { drawColumns, sayDifference } from "./row";

const SINGLE_HEADING = "Before → after";
const TWO = "Plan A | plan B";

export const makeFateHead = (step: (way: 1 | -1) => void, showList: () => void) => {
  const title = document.createTextNode(SINGLE_HEADING);
  const differing = h("span", { "data-testid": "differing" });
  const columns = h("div", { role: "row", class: "ci-row ci-columns" });
  const back = h("button", { class: "ci-link ci-back", onclick: showList }, "‹ Blocks");
  const makeStep = (way: 1 | -1, words: string, label: string) =>
    h("button", { class: "ci-link", "aria-label": label, title: label, onclick: () => step(way) }, words);
  const steps = [
    makeStep(-1, "previous", "Previous difference (N)"),
    makeStep(1, "next", "Next difference (n)"),
  ];
  return {
    /** From a story back to the list whose place it has taken. */
    back,
    heading: h("h3", {}, back, title, h("span", { class: "ci-count" }, differing, ...steps)),
    columns,
    /** Names the list and its columns; true if there is a plan B. */
    name({ other }: ViewState, grid: HTMLElement): boolean {
      const two = other !== null;
      title.data = two ? TWO : SINGLE_HEADING;
      setAttributes(grid, { "aria-label": title.data, "aria-colcount": two ? 6 : 5 });
      columns.replaceChildren(...drawColumns(two, other?.label ?? other?.policyTitle ?? ""));
      return two;
    },
    /** `where` names the selected range, "" for all blocks. */
    count(scene: Scene, { compared, differing: count, delta }: Folding, where: string) {
      const { words, title: hint } = sayDifference(scene, compared, count, delta);
      setText(differing, where === "" ? words : `${where}: ${words}`);
      setAttributes(differing, { title: hint });
      for (const button of steps) button.disabled = count === 0;
    },
  };
};
