// Details of the chosen block: the outcome in each plan and its reason, the other half, and a cut before it.

import { refOf } from "../../model/block-refs";
import { type BlockTitle, nameBlock } from "../../model/block-titles";
import { isLegal, whyNot } from "../../model/cuts";
import { exact, plural } from "../../model/format";
import { fateAt, isUncut, type Plan, turnOfRow } from "../../model/plan";
import { type Body, type BodyReply, DECIDERS } from "../../payloads/types";
import type { Actions, ViewState } from "../../store/view";
import { chip, h } from "../../ui/dom";
import { leftOut } from "../../ui/transcript-text";

/** Python's replies about a block received so far. */
export interface BlockReplies {
  label?: BlockTitle | undefined;
  /** The other half of its call. */
  pair?: BlockTitle | undefined;
  reply?: BodyReply | Error | undefined;
}

const BY_PIN = -2;
const BY_FILE = "by the compaction that the file records";

export const tellBlock = (viewState: ViewState, replies: BlockReplies, actions: Actions): HTMLElement[] => {
  const { scene, plan, other, row, place } = viewState;
  const unit = h("span", { class: "ci-quiet", title: scene.unit.long }, scene.unit.short);
  const before = h("span", {}, exact(scene.blockTokens[row] as number));
  const plans =
    other === null
      ? tellPlan(viewState, plan, place)
      : [
          ...pair("plan A", ...tellSide(viewState, plan, place)),
          ...pair("plan B", ...tellSide(viewState, other, other.cut.place)),
        ];
  return [
    ...pair("before", before, " ", unit),
    ...plans,
    ...tellPair(viewState, replies, actions),
    ...pair("cut here", ...sayCut(viewState, actions)),
    ...tellReply(replies.reply),
  ];
};

const pair = (name: string, ...value: (Node | string)[]): HTMLElement[] => [
  h("span", { class: "ci-quiet" }, name),
  h("span", {}, ...value),
];

const tellPlan = (viewState: ViewState, plan: Plan, place: number): HTMLElement[] => {
  const { scene, row } = viewState;
  const { fate, tokens } = fateAt(scene, plan, row, place);
  return [
    ...pair("after", exact(tokens)),
    ...pair("outcome", chip(sectionOf(viewState), scene.fates[fate]?.id), scene.fates[fate]?.label ?? ""),
    ...pair("decided by", sayRule(viewState, plan, place).replace(/^by /, "")),
  ];
};

/** "▦ pointer, 61 · by rule 3, outputs > 2k". */
const tellSide = (viewState: ViewState, plan: Plan, place: number): (Node | string)[] => {
  const { scene, row } = viewState;
  const { fate, tokens } = fateAt(scene, plan, row, place);
  const named = scene.fates[fate];
  return [
    chip(sectionOf(viewState), named?.id),
    h("b", {}, `${named?.label ?? ""} ${exact(tokens)}`),
    h("span", { class: "ci-by" }, sayRule(viewState, plan, place)),
  ];
};

const sectionOf = ({ scene, row }: ViewState): string =>
  scene.sections[scene.blockSection[row] as number]?.id ?? "unknown";

const sayRule = (viewState: ViewState, plan: Plan, place: number): string => {
  const { fate, rule } = fateAt(viewState.scene, plan, viewState.row, place);
  if (plan.cut.by === "file") return viewState.scene.fates[fate]?.id === "verbatim" ? "it was kept" : BY_FILE;
  if (rule >= 0) return `by rule ${rule + 1}, ${plan.rules[rule]?.title ?? ""}`;
  return rule === BY_PIN ? sayPin(viewState, plan) : (DECIDERS[rule] ?? "");
};

/** A pin names an entry or a block; one that names the other half of a call holds both. */
const sayPin = ({ scene, row }: ViewState, plan: Plan): string => {
  const names = [row, scene.blockPair[row] ?? -1]
    .filter(blockRow => blockRow >= 0)
    .flatMap(blockRow => [refOf(scene, blockRow), scene.entryIds[scene.blockEntry[blockRow] as number]]);
  const at = plan.pins.findIndex(pin => names.includes(pin));
  return at < 0 ? (DECIDERS[BY_PIN] as string) : `by pin ${at + 1}`;
};

const tellPair = (
  { scene, row }: ViewState,
  { pair: label }: BlockReplies,
  actions: Actions,
): HTMLElement[] => {
  const half = scene.blockPair[row] ?? -1;
  if (half < 0) return [];
  const section = scene.sections[scene.blockSection[half] as number];
  const isCall = section?.id === "tool_call";
  const name = nameBlock(label?.label ?? "", section?.label ?? "");
  const go = h(
    "button",
    { class: "ci-link", "data-testid": "pair", onclick: () => actions.reveal(half) },
    `turn ${turnOfRow(scene, half) + 1}${name === "" ? "" : ` · ${name}`}`,
  );
  return pair(isCall ? "its call" : "its output", go);
};

const sayCut = ({ scene, plan, place, row, needsKernel }: ViewState, actions: Actions): (Node | string)[] => {
  const entry = scene.blockEntry[row] as number;
  const begins = needsKernel === "" && scene.placeStarts[entry] === 1 && entry > 0;
  const from = h(
    "button",
    { class: "ci-link", onclick: () => actions.compactRange(entry, scene.entries) },
    "summarise from here",
  );
  const more = begins ? [", ", from] : [];
  if (entry === place) return [isUncut(plan, place) ? "there is no cut" : "the cut is here", ...more];
  if (!isLegal(scene, entry)) return [h("span", { class: "ci-bad" }, "no: "), whyNot(scene, entry), ...more];
  // A page without Python has the cuts of its own beginning alone.
  const [words, onclick] =
    needsKernel === ""
      ? ["summarise up to here", () => actions.compactRange(0, entry)]
      : ["move the cut here", () => actions.slideCut(entry, false)];
  return ["valid, ", h("button", { class: "ci-link", onclick }, words), ...more];
};

const tellReply = (reply: BlockReplies["reply"]): HTMLElement[] =>
  reply === undefined || reply instanceof Error
    ? []
    : [
        ...pair("text", sayLength(reply.before)),
        ...reply.facts.flatMap(([name, value]) => pair(name, value)),
      ];

const sayLength = (body: Body): string => {
  const hidden = leftOut(body);
  const whole = plural(body.total, "character");
  return hidden === 0 ? whole : `${whole}, of which the last ${exact(hidden)} are left out here`;
};

/** The state of the panel: a moving cut redraws it only when this changes. */
export const stateOf = (viewState: ViewState): string => {
  const { scene, plan, other, row, place, pins } = viewState;
  if (row < 0) return "";
  const { fate, tokens, rule } = fateAt(scene, plan, row, place);
  const otherState = other && Object.values(fateAt(scene, other, row, other.cut.place)).join(" ");
  return [row, fate, tokens, rule, scene.blockEntry[row] === place, pins, plan.policy, otherState].join(" ");
};
