// Which facts to list: by kind and by fate, each choice with how many it leaves.

import { countFacts, type Tracing, type Wish, WORST_FIRST } from "../../model/facts";
import { exact } from "../../model/format";
import type { FactsReply } from "../../payloads/types";
import { h, setAttributes, setShown, setText } from "../../ui/dom";

export const makeFactFilter = (choose: (changes: Partial<Wish>) => void) => {
  const kinds = makeChoice("Kind", kind => choose({ kind }));
  const fates = makeChoice("Fate", fate => choose({ fate }));
  const node = h("div", { class: "ci-filters" }, fates.node, kinds.node);
  return {
    node,
    draw({ list, wish: { kind, fate } }: Tracing) {
      setShown(node, list !== null);
      if (list === null) return;
      const all = list.kinds;
      fates.draw(
        ["", ...WORST_FIRST].map(id => [id, id || "any fate", countFacts(all, kind, id)]),
        fate,
      );
      kinds.draw(
        [["", "any kind"], ...withChosen(all, kind)].map(([id = "", label = ""]) => [
          ...([id, label, countFacts(all, id, fate)] as const),
        ]),
        kind,
      );
    },
  };
};

/** The kinds there are, and the one that is chosen though nothing of it is left. */
const withChosen = (all: FactsReply["kinds"], kind: string): [string, string][] => {
  const known = all.map(({ id, label }): [string, string] => [id, label]);
  return kind === "" || all.some(({ id }) => id === kind) ? known : [...known, [kind, kind]];
};

type Option = readonly [id: string, label: string, count: number];

/** One of several; arrow keys go from one to the next, as in any group of radio buttons. */
const makeChoice = (name: string, choose: (id: string) => void) => {
  const node = h("div", { class: "ci-choice", role: "radiogroup", "aria-label": name });
  const made = new Map<string, HTMLButtonElement>();
  const make = (id: string) => {
    const button = h("button", { role: "radio", "data-testid": `facts-${id || name}` });
    button.append("", h("small"));
    button.addEventListener("click", () => choose(id));
    made.set(id, button);
    return button;
  };
  node.addEventListener("keydown", event => {
    const way = WAYS[event.key];
    if (way === undefined) return;
    const all = [...node.querySelectorAll("button")].filter(button => !button.hidden);
    const at = all.indexOf(event.target as HTMLButtonElement);
    const next = all[(at + way + all.length) % all.length];
    event.preventDefault();
    event.stopPropagation();
    next?.focus();
    next?.click();
  });
  return {
    node,
    draw(options: readonly Option[], chosen: string) {
      // A kind of which nothing is left here is no choice any more.
      for (const [id, button] of made) {
        if (options.some(([known]) => known === id)) continue;
        setAttributes(button, { "aria-checked": "false", tabindex: -1 });
        setShown(button, false);
      }
      for (const [id, label, count] of options) {
        const button = made.get(id) ?? make(id);
        const [words, number] = button.childNodes;
        if (words?.nodeValue !== label && words) words.nodeValue = label;
        if (number instanceof Element) setText(number, exact(count));
        setAttributes(button, { "aria-checked": String(id === chosen), tabindex: id === chosen ? 0 : -1 });
        setShown(button, count > 0 || id === chosen || id === "");
        if (button.parentNode === null) node.append(button);
      }
    },
  };
};

const WAYS: Record<string, 1 | -1> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
