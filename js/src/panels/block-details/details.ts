// What is known of the chosen block: what each plan leaves of it and why, its other half, and a cut before it.

import { refOf } from "../../model/block-refs";
import { type BlockTitle, nameBlock } from "../../model/block-titles";
import { isLegal, whyNot } from "../../model/cuts";
import { exact, plural } from "../../model/format";
import { fateAt, isUncut, type Plan, turnOfRow } from "../../model/plan";
import type { Body, BodyReply } from "../../payloads/types";
import type { Actions, Picture } from "../../store/view";
import { chip, h, listen } from "../../ui/dom";
import { leftOut } from "../../ui/transcript-text";

/** What Python has answered of a block, as far as it has. */
export interface Known {
  label?: BlockTitle | undefined;
  /** The other half of its call. */
  pair?: BlockTitle | undefined;
  reply?: BodyReply | Error | undefined;
}

const NOBODY: Record<number, string> = {
  [-1]: "no rule claims it",
  [-3]: "it shares the fate of its call or output",
  [-4]: "the model refuses reasoning after an edit",
  [-5]: "this harness sends no reasoning",
  [-6]: "no message may end with reasoning, and what it led to is gone",
};
const BY_FILE = "by the compaction that the file records";

export const tellBlock = (picture: Picture, known: Known, actions: Actions): HTMLElement[] => {
  const { scene, plan, other, row, place } = picture;
  const unit = h("span", { class: "ci-quiet", title: scene.unit.long }, scene.unit.short);
  const before = h("span", {}, exact(scene.blockTokens[row] as number));
  const plans =
    other === null
      ? tellPlan(picture, plan, place)
      : [
          ...pair("plan A", ...tellSide(picture, plan, place)),
          ...pair("plan B", ...tellSide(picture, other, other.cut.place)),
        ];
  return [
    ...pair("before", before, " ", unit),
    ...plans,
    ...tellPair(picture, known, actions),
    ...pair("cut here", ...sayCut(picture, actions)),
    ...tellReply(known.reply),
  ];
};

const pair = (name: string, ...value: (Node | string)[]): HTMLElement[] => [
  h("span", { class: "ci-quiet" }, name),
  h("span", {}, ...value),
];

const tellPlan = (picture: Picture, plan: Plan, place: number): HTMLElement[] => {
  const { scene, row } = picture;
  const { fate, tokens } = fateAt(scene, plan, row, place);
  return [
    ...pair("after", exact(tokens)),
    ...pair("becomes", chip(sectionOf(picture), scene.fates[fate]?.id), scene.fates[fate]?.label ?? ""),
    ...pair("decided by", sayRule(picture, plan, place).replace(/^by /, "")),
  ];
};

/** "▦ pointer, 61 · by rule 3, outputs > 2k". */
const tellSide = (picture: Picture, plan: Plan, place: number): (Node | string)[] => {
  const { scene, row } = picture;
  const { fate, tokens } = fateAt(scene, plan, row, place);
  const named = scene.fates[fate];
  return [
    chip(sectionOf(picture), named?.id),
    h("b", {}, `${named?.label ?? ""} ${exact(tokens)}`),
    h("span", { class: "ci-by" }, sayRule(picture, plan, place)),
  ];
};

const sectionOf = ({ scene, row }: Picture): string =>
  scene.sections[scene.blockSection[row] as number]?.id ?? "unknown";

const sayRule = (picture: Picture, plan: Plan, place: number): string => {
  const { fate, rule } = fateAt(picture.scene, plan, picture.row, place);
  if (plan.cut.by === "file") return picture.scene.fates[fate]?.id === "verbatim" ? "it was kept" : BY_FILE;
  if (rule >= 0) return `by rule ${rule + 1}, ${plan.rules[rule]?.title ?? ""}`;
  return rule === -2 ? sayPin(picture, plan) : (NOBODY[rule] ?? "");
};

/** A pin names an entry or a block; one that names the other half of a call holds both. */
const sayPin = ({ scene, row }: Picture, plan: Plan): string => {
  const names = [row, scene.blockPair[row] ?? -1]
    .filter(one => one >= 0)
    .flatMap(one => [refOf(scene, one), scene.entryIds[scene.blockEntry[one] as number]]);
  const at = plan.pins.findIndex(pin => names.includes(pin));
  return at < 0 ? "by a pin" : `by pin ${at + 1}`;
};

const tellPair = ({ scene, row }: Picture, { pair: label }: Known, actions: Actions): HTMLElement[] => {
  const half = scene.blockPair[row] ?? -1;
  if (half < 0) return [];
  const section = scene.sections[scene.blockSection[half] as number];
  const isCall = section?.id === "tool_call";
  const name = nameBlock(label?.label ?? "", section?.label ?? "");
  const go = h(
    "button",
    { class: "ci-link", "data-testid": "pair" },
    `turn ${turnOfRow(scene, half) + 1}${name === "" ? "" : ` · ${name}`}`,
  );
  listen(go, "click", () => actions.reveal(half));
  return pair(isCall ? "its call" : "its output", go);
};

const sayCut = ({ scene, plan, place, row }: Picture, actions: Actions): (Node | string)[] => {
  const entry = scene.blockEntry[row] as number;
  if (entry === place) return [isUncut(plan, place) ? "there is no cut" : "the cut stands here"];
  if (!isLegal(scene, entry)) return [h("span", { class: "ci-bad" }, "no: "), whyNot(scene, entry)];
  const move = h("button", { class: "ci-link" }, "move the cut here");
  listen(move, "click", () => actions.slideCut(entry, false));
  return ["legal, ", move];
};

const tellReply = (reply: Known["reply"]): HTMLElement[] =>
  reply === undefined || reply instanceof Error
    ? []
    : [
        ...pair("text", sayLength(reply.before)),
        ...reply.facts.filter(([name]) => !TOLD.has(name)).flatMap(([name, value]) => pair(name, value)),
      ];

const sayLength = (body: Body): string => {
  const left = leftOut(body);
  const whole = plural(body.total, "character");
  return left === 0 ? whole : `${whole}, of which the last ${exact(left)} are left out here`;
};

/** Facts of Python's that the panel tells itself, for the cut under the hand rather than the one last planned. */
const TOLD = new Set(["kind", "tokens before", "tokens after", "fate", "decided by"]);

/** All that the panel tells of a block: a moving cut redraws it only when this changes. */
export const stateOf = (picture: Picture): string => {
  const { scene, plan, other, row, place, pins } = picture;
  if (row < 0) return "";
  const { fate, tokens, rule } = fateAt(scene, plan, row, place);
  const theirs = other && Object.values(fateAt(scene, other, row, other.cut.place)).join(" ");
  return [row, fate, tokens, rule, scene.blockEntry[row] === place, pins, plan.policy, theirs].join(" ");
};
