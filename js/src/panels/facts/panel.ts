// Facts: where did it go? The list of what the session says, worst fate first, beside the story of the one that is open.

import { countFacts, riskAt, type Tracing } from "../../model/facts";
import { exact, plural } from "../../model/format";
import type { FactsReply } from "../../payloads/types";
import type { Actions, Picture, View } from "../../store/view";
import { h, setAttributes, setShown, setText } from "../../ui/dom";
import { makeStory } from "./details";
import { makeFactFilter } from "./filter";
import { makeFactList } from "./list";
import { makeRegrets } from "./regrets";

const PAUSE = 220;

export interface Facts extends View {
  focus(): void;
}

const WHOLE = ["scene", "tab", "size"] as const;
const NEWS = [...WHOLE, "tracing", "place", "settled"] as const;

export const makeFacts = (actions: Actions): Facts => {
  const { facts } = actions;
  const risk = h("span", { "data-testid": "at-risk" });
  const note = h("span", { "data-testid": "facts-note" });
  const again = h("button", { class: "ci-link" }, "try again");
  const told = h("p", { class: "ci-quiet" }, note, " ", again);
  const input = h("input", {
    type: "search",
    class: "ci-search",
    role: "combobox",
    placeholder: "a path, an error, a command",
    "aria-label": "Find a fact",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    "data-testid": "facts-search",
  });
  const count = h("span", { class: "ci-quiet", "data-testid": "facts-count" });
  const filter = makeFactFilter(facts.wish);
  const story = makeStory(actions);
  const regrets = makeRegrets(actions);
  let shown: Picture | undefined;
  let drawn: Tracing | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const list = makeFactList(facts, input);
  const both = h(
    "div",
    { class: "ci-both" },
    h(
      "div",
      {},
      h("p", { class: "ci-lookup" }, input, h("kbd", { "aria-hidden": "true" }, "f"), count),
      filter.node,
      ...list.nodes,
    ),
    story.node,
  );
  const node = h(
    "section",
    { class: "ci-panel ci-tracing", "data-testid": "facts", "aria-label": "Facts" },
    h("h3", {}, "Facts", h("span", { class: "ci-count" }, risk)),
    told,
    both,
    regrets.node,
  );

  const ask = (query: string) => {
    clearTimeout(timer);
    facts.wish({ query });
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(input.value), PAUSE);
  });
  input.addEventListener("keydown", event => {
    // An Enter that chooses a word of an input method is no other.
    if (event.isComposing) return;
    if (event.key === "Enter" && shown?.tracing.wish.query !== input.value) ask(input.value);
    else if (event.key === "Escape" && input.value !== "") {
      input.value = "";
      ask("");
    } else if (event.key === "Escape") input.blur();
    else if (event.key !== "Home" && event.key !== "End") return void list.onKey(event);
    else return;
    event.preventDefault();
  });
  again.addEventListener("click", () => facts.again());

  return {
    node,
    focus() {
      actions.openTab("facts");
      const take = () => {
        input.focus();
        input.select();
      };
      // A panel that was closed is there from the next frame on.
      if (input.offsetParent !== null) take();
      else requestAnimationFrame(take);
    },
    draw(picture, parts) {
      shown = picture;
      facts.follow();
      const { tracing, needsKernel, place } = picture;
      const { list: found } = tracing;
      setText(risk, sayRisk(picture));
      setAttributes(risk, { title: risk.textContent ? RISK : undefined });
      both.classList.toggle("ci-stale", found !== null && (found.place !== place || tracing.note !== ""));
      if (!NEWS.some(part => parts.has(part))) return;
      story.draw(picture);
      // A moving cut changes nothing of the list, an answer that comes meanwhile does.
      if (tracing === drawn && !WHOLE.some(part => parts.has(part))) return;
      drawn = tracing;
      regrets.draw(tracing);
      const waits = found === null ? tracing.note : tracing.failed || found.total === 0 ? tracing.note : "";
      setText(note, needsKernel === "" ? waits : NEEDS_KERNEL);
      setShown(again, tracing.failed);
      setShown(told, note.textContent !== "");
      // Who is about to look for something need not wait for the list.
      setShown(both, needsKernel === "" && (found === null ? !tracing.failed : found.sentence === ""));
      setText(count, found === null ? "" : sayCount(found));
      setAttributes(input, { "aria-expanded": String(found !== null && found.total > 0) });
      filter.draw(tracing);
      list.draw(tracing);
    },
    dispose() {
      clearTimeout(timer);
      list.dispose();
    },
  };
};

const NEEDS_KERNEL =
  "Finding facts needs a kernel; this page has none. Open the session in Jupyter for that.";
const RISK =
  "With the cut here no block that says them would stand as it was said: only a summary could still carry them.";

const sayRisk = ({ tracing, place }: Picture): string => {
  const [count, total] = [riskAt(tracing, place), tracing.list?.risk?.total ?? 0];
  if (total === 0) return "";
  return count < 0 ? `${plural(total, "fact")} stand` : `${exact(count)} of ${exact(total)} at risk`;
};

/** Python tells of those that stood how many there are; the rest were gone before. */
const sayCount = ({ total, query, kind, fate, kinds }: FactsReply): string => {
  if (total === 0) return query === "" ? "no fact is like this" : `no fact holds “${query}”`;
  const gone = query === "" && fate === "" ? total - countFacts(kinds, kind, "") : 0;
  return gone > 0 ? `${plural(total, "fact")}, ${exact(gone)} gone before` : plural(total, "fact");
};
