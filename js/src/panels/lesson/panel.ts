// Teach: guess the policy's cut, play it one rule at a time, and see why other cuts are invalid.

import { refOf } from "../../model/block-refs";
import { whyNot } from "../../model/cuts";
import { exact, namePlace, plural, short, signed } from "../../model/format";
import { compareGuess, numberOf } from "../../model/lesson";
import { totalAfter } from "../../model/plan";
import type { LessonReply, LessonStep } from "../../payloads/types";
import type { Actions, View, ViewState } from "../../store/view";
import { h, listen, setAttributes, setShown } from "../../ui/dom";

export interface LessonTab extends View {
  /** Takes the focus to the first button. */
  focus(): void;
}

export const makeLesson = (actions: Actions): LessonTab => {
  const guess = h("div", { class: "ci-task", "data-testid": "guess" });
  const play = h("div", { class: "ci-task", "data-testid": "play" });
  const broken = h("div", { class: "ci-task", "data-testid": "broken" });
  const node = h(
    "section",
    { class: "ci-panel ci-lesson", "data-testid": "lesson", "aria-label": "Lesson" },
    h("h3", {}, "Lesson"),
    h("div", { class: "ci-tasks" }, guess, play, broken),
    h(
      "p",
      { class: "ci-quiet" },
      "Eight lessons, each in a cell of its own: ",
      h("code", {}, 'open_lesson("legal-cut")'),
    ),
  );
  /** The rule that plays is the chosen thing under the lanes: the blocks that it is about. */
  let played = 0;
  const showRule = ({ scene, lesson: { play } }: ViewState) => {
    const step = play === null ? 0 : play.step;
    const rule = play?.reply.steps[step - 1];
    if (step === played) return;
    played = step;
    if (play === null || rule === undefined) return actions.showFactLane(null);
    const name = numberOf(rule) === "" ? "" : `rule ${numberOf(rule)}`;
    const mentions = rule.marks.map(row => ({ ref: refOf(scene, row), kind: rule.title }));
    actions.showFactLane({ name, does: rule.title, mentions, ends: "", lost: false });
  };
  /** Replaces a part and keeps the focus on the control that did it. */
  const fill = (part: HTMLElement, children: HTMLElement[]) => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const id = focused?.getAttribute("data-testid");
    part.replaceChildren(...children);
    if (focused === null) return;
    const again = id ? part.querySelector<HTMLButtonElement>(`[data-testid="${id}"]:enabled`) : null;
    (again ?? part.querySelector<HTMLElement>("button:enabled"))?.focus();
  };
  return {
    node,
    focus() {
      node.querySelector<HTMLElement>("button:enabled")?.focus();
    },
    draw(viewState, parts) {
      if (parts.has("lesson") || parts.has("scene")) showRule(viewState);
      // A closed panel is not drawn during a drag; opening it draws it.
      if (viewState.tab !== "lesson") return;
      if (!["scene", "plan", "lesson", "tab"].some(part => parts.has(part as "plan"))) return;
      fill(guess, drawGuess(viewState, actions));
      fill(play, drawPlay(viewState, actions));
      if (parts.size === 1 && parts.has("plan")) return;
      fill(broken, drawBroken(viewState, actions));
      setShown(broken, broken.childElementCount > 0);
    },
  };
};

const button = (label: string, id: string, act: () => void, disabled = false): HTMLButtonElement => {
  const node = h("button", { class: "ci-button", "data-testid": id, disabled }, label);
  listen(node, "click", act);
  return node;
};

/** Whether rules decide: a recorded plan without readable rules has none. */
const nameDecider = ({ plan, planned }: ViewState): string => (plan.untold ? planned : plan).policyTitle;

const title = (words: string, key: string) =>
  h("h4", {}, words, " ", h("kbd", { "aria-hidden": "true" }, key));

const drawGuess = (viewState: ViewState, actions: Actions): HTMLElement[] => {
  const { scene, plan, lesson } = viewState;
  const head = title("Guess the cut", "g");
  const hide = button(lesson.guess === null ? "Hide the cut" : "Again", "guess-hide", () =>
    actions.guess("hide"),
  );
  if (lesson.guess === null) {
    return [
      head,
      h(
        "p",
        {},
        `Where does the cut of “${nameDecider(viewState)}” lie? Hide it, place your own, then look.`,
      ),
      hide,
    ];
  }
  if (!lesson.guess.shown) {
    const words = "The policy’s cut is hidden. Place yours: drag it, or press c and then ← →.";
    const show = button("Show", "guess-show", () => actions.guess("show"));
    return [head, h("p", {}, words), show];
  }
  const { own, policy } = lesson.guess;
  const { turns, tokens } = compareGuess(scene, plan, own, policy);
  const line = (who: string, place: number) =>
    h("p", {}, h("b", {}, who), ` ${namePlace(scene, place)}, ${short(totalAfter(plan, place))} after`);
  return [
    head,
    line("You", own),
    line("The policy", policy),
    h("p", { class: "ci-verdict", "data-testid": "verdict" }, sayOff(own - policy, turns, tokens)),
    hide,
  ];
};

/** "3 turns earlier, 2.1k tokens more". */
const sayOff = (places: number, turns: number, tokens: number): string => {
  if (places === 0) return "The same place as the policy’s cut.";
  const where =
    turns === 0 ? "The same turn" : `${plural(Math.abs(turns), "turn")} too ${turns < 0 ? "early" : "late"}`;
  const difference =
    tokens === 0
      ? "as many tokens left"
      : `${short(Math.abs(tokens))} tokens ${tokens > 0 ? "more" : "fewer"} left`;
  return `${where}, ${difference}.`;
};

const drawPlay = (viewState: ViewState, actions: Actions): HTMLElement[] => {
  const { plan, place, lesson } = viewState;
  const { play, problem, broken } = lesson;
  const head = title("Rule by rule", ", .");
  // If an invalid cut point cannot be explained, the reason is shown there.
  const trouble = problem === "" || broken !== null ? [] : [h("p", { class: "ci-bad" }, problem)];
  if (play === null) {
    const words = `${nameDecider(viewState)} decides in order; every block goes to the first rule that names it.`;
    const start = button(
      "Play the policy",
      "play-start",
      () => actions.playTo(0),
      lesson.guess?.shown === false,
    );
    return [head, h("p", {}, words), ...trouble, start];
  }
  const { reply, step } = play;
  const count = reply.steps.length;
  const at = h("span", { "data-testid": "play-at" }, sayStep(reply, step, plan.before.total));
  return [
    head,
    h(
      "p",
      { class: "ci-actions" },
      button("Back", "play-back", () => actions.playTo(step - 1), step === 0),
      button("Next rule", "play-next", () => actions.playTo(step + 1), step >= count),
      button("All", "play-all", () => actions.playTo(count), step >= count),
      at,
    ),
    h("ol", { class: "ci-played" }, ...reply.steps.map((drawnStep, i) => drawStep(drawnStep, i, step))),
    ...(place === reply.place ? [] : trouble),
  ];
};

const sayStep = ({ steps }: LessonReply, step: number, before: number): string => {
  const now = steps[step - 1];
  if (now === undefined) return `Nothing is decided yet: ${short(before)}.`;
  return `${step} of ${steps.length}: ${now.title}, ${plural(now.blocks, "block")}, ${short(now.after)} left.`;
};

const drawStep = (step: LessonStep, i: number, played: number): HTMLElement => {
  const { title, sentence, blocks, before, after } = step;
  const change = before === after ? "" : signed(after - before);
  const node = h(
    "li",
    { class: i < played ? undefined : "ci-off", title, "data-number": numberOf(step) },
    h("span", {}, sentence),
    h("small", {}, blocks === 0 ? "" : plural(blocks, "block")),
    h("small", { title: `${exact(before)} → ${exact(after)} tokens` }, change),
  );
  setAttributes(node, { "aria-current": i === played - 1 ? "step" : undefined });
  return node;
};

const drawBroken = ({ scene, lesson }: ViewState, actions: Actions): HTMLElement[] => {
  const { broken } = lesson;
  if (broken === null) return [];
  const refusal = broken.reply?.refusal;
  const error = refusal?.error || scene.reasons[scene.placeReason[broken.place] as number]?.error;
  const away = button("Close", "broken-close", () => actions.breakAt(-1));
  return [
    h("h4", {}, `No cut in ${namePlace(scene, broken.place)}, here`),
    h("p", {}, whyNot(scene, broken.place)),
    ...(refusal?.pairs ?? []).map(({ call, output }) =>
      h(
        "p",
        { class: "ci-broken" },
        h("span", {}, `turn ${call.turn + 1} · `, h("b", {}, call.label)),
        h("i", { class: "ci-bad", "aria-label": "cut off from" }, "╫"),
        h("span", {}, `turn ${output.turn + 1} · its output`),
      ),
    ),
    ...(refusal !== undefined && refusal.more > 0
      ? [h("p", { class: "ci-quiet" }, `and ${plural(refusal.more, "pair")} more`)]
      : []),
    ...(error
      ? [
          h("p", { class: "ci-quiet" }, "The provider would answer"),
          h("pre", { "data-testid": "refusal" }, error),
        ]
      : []),
    ...(lesson.problem === "" ? [] : [h("p", { class: "ci-quiet" }, lesson.problem)]),
    away,
  ];
};
