// What was needed again after a compaction took it, in words: the marks on the overview say no more than this.

import type { Tracing } from "../../model/facts";
import { plural, short } from "../../model/format";
import type { RegretMark } from "../../payloads/types";
import type { Actions } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";
import { nameTurn } from "../../ui/fate";

const MOST = 60;

export const makeRegrets = (actions: Actions) => {
  const summary = h("summary", {});
  const list = h("ul", {});
  const more = h("p", { class: "ci-quiet" });
  const node = h("details", { class: "ci-more ci-regrets", "data-testid": "regrets" }, summary, list, more);
  let told: Tracing["regret"];
  return {
    node,
    draw({ regret }: Tracing) {
      const marks = regret?.marks ?? [];
      setShown(node, marks.length > 0);
      if (regret === told || regret === null) return;
      told = regret;
      const price = regret.price === "" ? "" : `, ${regret.price}`;
      setText(
        summary,
        `↺ ${plural(marks.length, "time")} something was needed again after a compaction took it: ${short(regret.tokens)} tokens${price}`,
      );
      list.replaceChildren(...marks.slice(0, MOST).map(mark => drawMark(mark, actions)));
      setText(more, marks.length > MOST ? `and ${plural(marks.length - MOST, "more time")}` : "");
    },
  };
};

const drawMark = (mark: RegretMark, actions: Actions) => {
  const go = h("button", { class: "ci-link" }, nameTurn(mark.turn));
  go.addEventListener("click", () => {
    actions.facts.open(mark);
    actions.goTo(mark.ref);
  });
  return h("li", {}, go, " ", mark.sentence);
};
