// The chosen block: what it is, what is left of it and by which rule, and whether the cut can stand before it.
import { isLegal, whyNot } from "../core/cuts";
import { exact } from "../core/format";
import { fateAt, turnOfRow } from "../core/state";
import type { BodyReply } from "../core/wire";
import { showProblem } from "./bodytext";
import { chip, h } from "./dom";
import { type Label, nameBlock } from "./faterow";
import type { Actions, Picture, View } from "./picture";

const CLAIMS: Record<number, string> = {
  [-1]: "no rule claims it",
  [-2]: "pinned by you",
  [-3]: "kept whole with its call or output",
};

export const makeBlock = (actions: Actions): View => {
  const content = h("div");
  const node = h(
    "section",
    { class: "ci-panel ci-block", "data-testid": "block", "aria-label": "Block", "aria-live": "polite" },
    h("h3", {}, "Block"),
    content,
  );
  let row = -1;
  let label: Label | undefined;
  let reply: BodyReply | Error | undefined;
  let shown: Picture | undefined;
  let state = "none";

  const fetch = async (wanted: number) => {
    [row, label, reply] = [wanted, undefined, undefined];
    const found = await Promise.allSettled([
      actions.requests.ask("rows", { from: wanted, to: wanted + 1 }),
      actions.requests.ask("body", { row: wanted }),
    ]);
    if (row !== wanted) return;
    const [rows, body] = found;
    if (rows.status === "fulfilled") label = rows.value.rows[0];
    reply = body.status === "fulfilled" ? body.value : new Error((body.reason as Error).message);
    if (shown !== undefined) render(shown);
  };

  const render = (picture: Picture) => {
    if (picture.row < 0) {
      content.replaceChildren(...explain());
      return;
    }
    const { scene } = picture;
    const section = scene.sections[scene.blockSection[picture.row] as number];
    const open = h("button", { type: "button", class: "ci-button" }, "Show its text");
    open.addEventListener("click", () => actions.openBody(picture.row));
    content.replaceChildren(
      h("p", { class: "ci-name" }, `turn ${turnOfRow(scene, picture.row) + 1} · ${section?.label ?? ""}`),
      h(
        "p",
        { class: "ci-title" },
        h("b", {}, nameBlock(label?.label ?? "", section?.label ?? "")),
        " ",
        label?.preview ?? "",
      ),
      h("div", { class: "ci-pairs" }, ...tell(picture, actions), ...tellFacts(reply)),
      ...(reply instanceof Error ? [showProblem(reply.message)] : []),
      h("p", { class: "ci-actions" }, open, ...makePin(picture, actions)),
    );
  };

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      if (parts.has("scene")) row = -1;
      const news = picture.row !== row || parts.has("fates");
      if (picture.row >= 0 && news) void fetch(picture.row);
      else if (picture.row < 0) row = -1;
      const now = stateOf(picture);
      if (now !== state || parts.has("fates")) render(picture);
      state = now;
    },
  };
};

const KEYS = [
  ["on the cut", "← →", "next legal place"],
  ["", "Page ↑ ↓", "next turn"],
  ["", "Home End", "first, last"],
  ["on the lanes", "← → ↑ ↓", "step, section"],
  ["in the list", "↑ ↓ Enter", "row, its text"],
  ["", "n", "next that differs"],
] as const;

const explain = (): HTMLElement[] => [
  h("p", { class: "ci-quiet" }, "Choose a bar or a row to see what becomes of it, and by which rule."),
  h("div", { class: "ci-keys" }, ...KEYS.flat().map(cell => h("span", {}, cell))),
];

/** All that the panel tells of a block: a moving cut redraws it only when this changes. */
const stateOf = ({ scene, plan, row, place, pins }: Picture): string => {
  if (row < 0) return "";
  const { fate, tokens, rule } = fateAt(scene, plan, row, place);
  return [row, fate, tokens, rule, scene.blockEntry[row] === place, pins].join(" ");
};

const pair = (name: string, ...value: (Node | string)[]): HTMLElement[] => [
  h("span", { class: "ci-quiet" }, name),
  h("span", {}, ...value),
];

const tell = (picture: Picture, actions: Actions): HTMLElement[] => {
  const { scene, plan, row, place } = picture;
  const { fate, tokens, rule } = fateAt(scene, plan, row, place);
  const entry = scene.blockEntry[row] as number;
  const section = scene.sections[scene.blockSection[row] as number]?.id ?? "unknown";
  const unit = h("span", { class: "ci-quiet", title: scene.unit.long }, scene.unit.short);
  return [
    ...pair("before", h("span", {}, exact(scene.blockTokens[row] as number)), " ", unit),
    ...pair("after", exact(tokens)),
    ...pair("fate", chip(section, scene.fates[fate]?.id), scene.fates[fate]?.label ?? ""),
    ...pair("decided by", sayRule(picture, rule)),
    ...pair("cut here", ...sayCut(picture, entry, actions)),
  ];
};

const sayRule = ({ plan }: Picture, rule: number): string =>
  rule < 0 ? (CLAIMS[rule] ?? "") : `rule ${rule + 1}, ${plan.rules[rule]?.title ?? ""}`;

const sayCut = ({ scene, place }: Picture, entry: number, actions: Actions): (Node | string)[] => {
  if (entry === place) return ["the cut stands here"];
  if (!isLegal(scene, entry)) return [h("span", { class: "ci-bad" }, "no: "), whyNot(scene, entry)];
  const move = h("button", { type: "button", class: "ci-link" }, "move the cut here");
  move.addEventListener("click", () => actions.slideCut(entry, false));
  return ["legal, ", move];
};

/** A pin keeps a block verbatim wherever the cut is. */
const makePin = ({ scene, row, pins }: Picture, actions: Actions): HTMLElement[] => {
  if (pins === undefined) return [];
  const entry = scene.blockEntry[row] as number;
  const ref = `${scene.entryIds[entry]}/${row - (scene.entryStart[entry] as number)}`;
  const pinned = pins.includes(ref);
  const pin = h(
    "button",
    { type: "button", class: "ci-button", "data-testid": "pin" },
    pinned ? "Unpin" : "Pin",
  );
  pin.addEventListener("click", () =>
    actions.setPins(pinned ? pins.filter(other => other !== ref) : [...pins, ref]),
  );
  return [pin];
};

const tellFacts = (reply: BodyReply | Error | undefined): HTMLElement[] =>
  reply === undefined || reply instanceof Error
    ? []
    : reply.facts.filter(([name]) => !TOLD.has(name)).flatMap(([name, value]) => pair(name, value));

/** Facts of Python's that the panel tells itself, for the cut under the hand rather than the one last planned. */
const TOLD = new Set(["kind", "tokens before", "tokens after", "fate", "decided by"]);
