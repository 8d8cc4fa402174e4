// The chosen block: its content, its outcome, and the available actions.

import { refOf } from "../../model/block-refs";
import { nameBlock } from "../../model/block-titles";
import { turnOfRow } from "../../model/plan";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { makeCopy } from "../../ui/copy";
import { h } from "../../ui/dom";
import { copyOf, showProblem } from "../../ui/transcript-text";
import { type BlockReplies, stateOf, tellBlock } from "./details";

export const makeBlock = (actions: Actions): View => {
  const content = h("div");
  const node = h(
    "section",
    { class: "ci-panel ci-block", "data-testid": "block", "aria-label": "Block", hidden: true },
    h("h3", {}, "Block"),
    content,
  );
  let row = -1;
  let requests = 0;
  let replies: BlockReplies = {};
  let shown: ViewState | undefined;
  let state = "none";

  const fetch = async (index: number, half: number) => {
    const turn = ++requests;
    // What is known of this block stays until there is an answer.
    if (index !== row) replies = {};
    row = index;
    const rows = (at: number) => actions.requests.ask("rows", { from: at, to: at + 1 });
    const [block, body, its] = await Promise.allSettled([
      rows(index),
      actions.requests.ask("body", { row: index }),
      half < 0 ? Promise.reject(new Error("It has no other half.")) : rows(half),
    ]);
    // An answer to an earlier question may come later.
    if (row !== index || turn !== requests) return;
    replies = {
      label: block.status === "fulfilled" ? block.value.rows[0] : undefined,
      pair: its.status === "fulfilled" ? its.value.rows[0] : undefined,
      reply: body.status === "fulfilled" ? body.value : new Error((body.reason as Error).message),
    };
    if (shown !== undefined) render(shown);
  };

  const render = (viewState: ViewState) => {
    // If nothing is chosen, the list has the whole width.
    node.hidden = viewState.row < 0;
    if (node.hidden) {
      content.replaceChildren();
      return;
    }
    const { scene } = viewState;
    const section = scene.sections[scene.blockSection[viewState.row] as number];
    const { label, reply } = replies;
    const focused = content.contains(document.activeElement) ? document.activeElement : null;
    content.replaceChildren(
      h("p", { class: "ci-name" }, `turn ${turnOfRow(scene, viewState.row) + 1} · ${section?.label ?? ""}`),
      h(
        "p",
        { class: "ci-title" },
        h("b", {}, nameBlock(label?.label ?? "", section?.label ?? "")),
        " ",
        label?.preview ?? "",
      ),
      h("div", { class: "ci-pairs" }, ...tellBlock(viewState, replies, actions)),
      ...(reply instanceof Error ? [showProblem(reply.message)] : []),
      h("p", { class: "ci-actions" }, ...makeButtons(viewState, replies, actions)),
    );
    // A redrawn control keeps the focus, or passes it on if it is gone.
    if (focused === null) return;
    const name = CSS.escape(focused.getAttribute("data-testid") ?? "");
    const again = content.querySelector<HTMLElement>(`[data-testid="${name}"]:enabled`);
    (again ?? content.querySelector<HTMLElement>("button:enabled"))?.focus({ preventScroll: true });
  };

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      if (parts.has("scene")) row = -1;
      // Fetch only while the details are visible.
      if (viewState.tab !== "blocks") {
        row = -1;
        return;
      }
      const news = viewState.row !== row || hasAny(parts, "fates", "other");
      if (viewState.row >= 0 && news)
        void fetch(viewState.row, viewState.scene.blockPair[viewState.row] ?? -1);
      else if (viewState.row < 0) row = -1;
      const now = stateOf(viewState);
      if (now !== state || news) render(viewState);
      state = now;
    },
  };
};

const makeButtons = (viewState: ViewState, { reply }: BlockReplies, actions: Actions): HTMLElement[] => {
  const { row } = viewState;
  const button = (words: string, id: string, onclick: () => void) =>
    h("button", { class: "ci-button", "data-testid": id, onclick }, words);
  const copy = makeCopy("Copy text", () => copyOf(bodyOf(reply)), "ci-button");
  copy.dataset.testid = "copy-text";
  copy.disabled = reply === undefined || reply instanceof Error;
  return [
    button("Show its text", "show-text", () => actions.openBody(row)),
    copy,
    ...makePin(viewState, actions),
    button("Copy link", "copy-link", () => actions.copyLink(row)),
  ];
};

const bodyOf = (reply: BlockReplies["reply"]) =>
  reply === undefined || reply instanceof Error ? { text: "", total: 0 } : reply.before;

/** A pin keeps a block verbatim wherever the cut is. */
const makePin = ({ scene, row, pins, needsKernel }: ViewState, actions: Actions): HTMLElement[] => {
  if (pins === undefined) return [];
  const ref = refOf(scene, row);
  const pinned = pins.includes(ref);
  return [
    h(
      "button",
      {
        ...{ class: "ci-button", "data-testid": "pin" },
        ...{ disabled: needsKernel !== "", title: needsKernel || undefined },
        onclick: () => actions.setPins(pinned ? pins.filter(other => other !== ref) : [...pins, ref]),
      },
      pinned ? "Unpin" : "Pin",
    ),
  ];
};
