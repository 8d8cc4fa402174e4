// The chosen block: what it is, what becomes of it, and what can be done with it.

import { refOf } from "../../model/block-refs";
import { nameBlock } from "../../model/block-titles";
import { turnOfRow } from "../../model/plan";
import type { Actions, Picture, View } from "../../store/view";
import { makeCopy } from "../../ui/copy";
import { h, listen } from "../../ui/dom";
import { copyOf, showProblem } from "../../ui/transcript-text";
import { type Known, stateOf, tellBlock } from "./details";

export const makeBlock = (actions: Actions): View => {
  const content = h("div");
  const node = h(
    "section",
    { class: "ci-panel ci-block", "data-testid": "block", "aria-label": "Block", hidden: true },
    h("h3", {}, "Block"),
    content,
  );
  let row = -1;
  let asked = 0;
  let known: Known = {};
  let shown: Picture | undefined;
  let state = "none";

  const fetch = async (wanted: number, half: number) => {
    const turn = ++asked;
    // What is known of this block stays until there is an answer.
    if (wanted !== row) known = {};
    row = wanted;
    const rows = (at: number) => actions.requests.ask("rows", { from: at, to: at + 1 });
    const [mine, body, its] = await Promise.allSettled([
      rows(wanted),
      actions.requests.ask("body", { row: wanted }),
      half < 0 ? Promise.reject(new Error("It has no other half.")) : rows(half),
    ]);
    // An answer to an earlier question may come later.
    if (row !== wanted || turn !== asked) return;
    known = {
      label: mine.status === "fulfilled" ? mine.value.rows[0] : undefined,
      pair: its.status === "fulfilled" ? its.value.rows[0] : undefined,
      reply: body.status === "fulfilled" ? body.value : new Error((body.reason as Error).message),
    };
    if (shown !== undefined) render(shown);
  };

  const render = (picture: Picture) => {
    // Where nothing is chosen the list has the whole width.
    node.hidden = picture.row < 0;
    if (node.hidden) {
      content.replaceChildren();
      return;
    }
    const { scene } = picture;
    const section = scene.sections[scene.blockSection[picture.row] as number];
    const { label, reply } = known;
    const focused = content.contains(document.activeElement) ? document.activeElement : null;
    content.replaceChildren(
      h("p", { class: "ci-name" }, `turn ${turnOfRow(scene, picture.row) + 1} · ${section?.label ?? ""}`),
      h(
        "p",
        { class: "ci-title" },
        h("b", {}, nameBlock(label?.label ?? "", section?.label ?? "")),
        " ",
        label?.preview ?? "",
      ),
      h("div", { class: "ci-pairs" }, ...tellBlock(picture, known, actions)),
      ...(reply instanceof Error ? [showProblem(reply.message)] : []),
      h("p", { class: "ci-actions" }, ...makeButtons(picture, known, actions)),
    );
    // What was redrawn under the focus keeps it, or passes it on where it is gone.
    if (focused === null) return;
    const name = CSS.escape(focused.getAttribute("data-testid") ?? "");
    const again = content.querySelector<HTMLElement>(`[data-testid="${name}"]:enabled`);
    (again ?? content.querySelector<HTMLElement>("button:enabled"))?.focus({ preventScroll: true });
  };

  return {
    node,
    draw(picture, parts) {
      shown = picture;
      if (parts.has("scene")) row = -1;
      // What nobody looks at is not asked for; opened, it is.
      if (picture.tab !== "blocks") {
        row = -1;
        return;
      }
      const news = picture.row !== row || parts.has("fates") || parts.has("other");
      if (picture.row >= 0 && news) void fetch(picture.row, picture.scene.blockPair[picture.row] ?? -1);
      else if (picture.row < 0) row = -1;
      const now = stateOf(picture);
      if (now !== state || news) render(picture);
      state = now;
    },
  };
};

const makeButtons = (picture: Picture, { reply }: Known, actions: Actions): HTMLElement[] => {
  const { row } = picture;
  const button = (words: string, id: string, act: () => void) => {
    const made = h("button", { class: "ci-button", "data-testid": id }, words);
    listen(made, "click", act);
    return made;
  };
  const copy = makeCopy("Copy text", () => copyOf(bodyOf(reply)), "ci-button");
  copy.dataset.testid = "copy-text";
  copy.disabled = reply === undefined || reply instanceof Error;
  return [
    button("Show its text", "show-text", () => actions.openBody(row)),
    copy,
    ...makePin(picture, actions),
    button("Copy link", "copy-link", () => actions.copyLink(row)),
  ];
};

const bodyOf = (reply: Known["reply"]) =>
  reply === undefined || reply instanceof Error ? { text: "", total: 0 } : reply.before;

/** A pin keeps a block verbatim wherever the cut is. */
const makePin = ({ scene, row, pins, needsKernel }: Picture, actions: Actions): HTMLElement[] => {
  if (pins === undefined) return [];
  const ref = refOf(scene, row);
  const pinned = pins.includes(ref);
  const pin = h(
    "button",
    {
      ...{ class: "ci-button", "data-testid": "pin" },
      ...{ disabled: needsKernel !== "", title: needsKernel || undefined },
    },
    pinned ? "Unpin" : "Pin",
  );
  listen(pin, "click", () => actions.setPins(pinned ? pins.filter(other => other !== ref) : [...pins, ref]));
  return [pin];
};
