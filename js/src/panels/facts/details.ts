// One fact's story: what each compaction left of it and why, what it cost, what would have kept it, and where it was said.

import { exact, nameTurns, plural } from "../../model/format";
import type { FactLink, FactPlace, FactReply } from "../../payloads/types";
import { ASKING } from "../../store/facts";
import type { Actions, Picture } from "../../store/view";
import { makeCopy } from "../../ui/copy";
import { h } from "../../ui/dom";
import { drawFate, nameTurn } from "../../ui/fate";
import { showProblem } from "../../ui/text";
import { drawFixes } from "./fixes";

/** Of many places the first and the last are named until someone asks for all. */
const [FIRST, LAST] = [2, 4];

export const makeStory = (actions: Actions) => {
  const node = h("div", {
    ...{ class: "ci-story", role: "region", "aria-label": "The fact's story", tabindex: -1 },
    "data-testid": "fact-story",
  });
  let told: FactReply | string | undefined;
  let whole = false;

  const render = (picture: Picture, story: FactReply | null, note: string) => {
    const focused = node.contains(document.activeElement);
    node.replaceChildren(
      ...(story === null ? explain(note) : drawStory(picture, story, actions, whole, showAll)),
    );
    // What was pressed may be gone; the story it belonged to is still here.
    if (focused && !node.contains(document.activeElement)) node.focus({ preventScroll: true });
  };
  const showAll = (picture: Picture, story: FactReply) => {
    whole = true;
    render(picture, story, "");
  };

  return {
    node,
    draw(picture: Picture) {
      const { story, storyNote, chosen } = picture.tracing;
      // Its fixes are priced for one plan.
      const old = story !== null && (storyNote !== "" || story.place !== picture.place || !picture.settled);
      node.classList.toggle("ci-stale", old);
      const now = story ?? `${chosen?.number} ${storyNote}`;
      if (now === told) return;
      const same = typeof told === "object" && story !== null && told.number === story.number;
      whole &&= same;
      told = now;
      render(picture, story, storyNote);
    },
  };
};

const TIERS = [
  ["recorded", "by the file", "The file holds the summary, and it says so."],
  [
    "planned",
    "by this plan",
    "What this plan would leave, by the summary written for it, or by a placeholder.",
  ],
  ["inferred", "guessed", "The summary cannot be read: only what is outside it is known."],
] as const;

const explain = (note: string): HTMLElement[] =>
  note === ASKING
    ? [h("p", { class: "ci-quiet" }, note)]
    : note !== ""
      ? [showProblem(note)]
      : [
          h(
            "p",
            { class: "ci-quiet" },
            "Choose a fact to see where it was said, what every compaction left of it and why, and what would keep it.",
          ),
          h(
            "dl",
            { class: "ci-parts-of" },
            ...TIERS.flatMap(([tier, name, words]) => [
              h("dt", { class: `ci-by-${tier}` }, h("i", { class: "ci-chip", "aria-hidden": "true" }), name),
              h("dd", {}, words),
            ]),
          ),
        ];

const drawStory = (
  picture: Picture,
  story: FactReply,
  actions: Actions,
  whole: boolean,
  showAll: (picture: Picture, story: FactReply) => void,
): HTMLElement[] => {
  const { form, kind, chain, why, regrets, said, saidTotal, focus } = story;
  const close = h("button", { class: "ci-link" }, "close");
  close.addEventListener("click", () => actions.facts.open(null));
  const place = (said: FactPlace) => goButton(said.label, () => actions.goTo(said.ref));
  // Of very many Python tells as many of the last as of the first.
  const half = said.length / 2;
  const [first, last] = whole ? [half, half] : [FIRST, LAST];
  const hidden = saidTotal - first - last;
  const words = `${exact(hidden)} between`;
  const more = whole ? h("span", {}, words) : goButton(words, () => showAll(picture, story));
  more.classList.add("ci-quiet");
  const places =
    hidden > 0
      ? [...said.slice(0, first).map(place), more, ...said.slice(-last).map(place)]
      : said.map(place);
  return [
    h("h4", {}, h("span", { "data-testid": "fact-form" }, form), close),
    h("p", { class: "ci-quiet" }, [kind, ...sayWhen(story)].join(" · ")),
    h(
      "dl",
      { class: "ci-parts-of" },
      ...part(
        "became",
        h("ul", { class: "ci-chain", "data-testid": "fact-chain" }, ...chain.map(link => drawLink(link))),
      ),
      ...(story.others.length > 0 ? part("may also mean", story.others.join(", ")) : []),
      ...part("why", h("p", { "data-testid": "fact-why" }, why)),
      ...(regrets.length === 0
        ? []
        : part(
            "needed again",
            ...regrets.map(({ sentence, turn, ref }) =>
              h(
                "p",
                {},
                h("span", { class: "ci-lost", "aria-hidden": "true" }, "↺ "),
                goButton(nameTurn(turn), () => actions.goTo(ref)),
                " ",
                sentence,
              ),
            ),
          )),
      ...(story.fate === "" || story.fate === "verbatim" || chain.at(-1)?.stood === false
        ? []
        : part("keep it, in tokens", ...drawFixes(picture, story, actions))),
      ...part("said", h("p", { class: "ci-places" }, ...places)),
      ...(focus === ""
        ? []
        : part(
            "ask for it",
            h(
              "p",
              { class: "ci-quiet" },
              "Words for /compact, or for the instructions of an API that compacts. ",
              makeCopy("copy", () => [focus, "copied"]),
            ),
            h(
              "pre",
              { tabindex: 0, "aria-label": "Words for the summary", "data-testid": "fact-focus" },
              focus,
            ),
          )),
    ),
  ];
};

const part = (name: string, ...value: (Node | string)[]): HTMLElement[] => [
  h("dt", {}, name),
  h("dd", {}, ...value),
];

const goButton = (words: string, act: () => void) => {
  const button = h("button", { class: "ci-link" }, words);
  button.addEventListener("click", act);
  return button;
};

const sayWhen = ({ said, saidTotal }: FactReply): string[] => {
  const [first, last] = [said[0], said.at(-1)];
  const done = new Set(said.flatMap(({ operation }) => operation ?? []));
  if (first === undefined || last === undefined) return [];
  return [...done, `said in ${plural(saidTotal, "block")}`, nameTurns(first.turn, last.turn)];
};

const drawLink = ({ label, fate, tier, words, stood }: FactLink): HTMLElement =>
  h(
    "li",
    {},
    h("span", {}, label),
    ...drawFate(fate, tier, stood),
    h("span", { class: "ci-quiet" }, fate === "weakened" && words !== "" ? `as “${words}”` : ""),
  );
