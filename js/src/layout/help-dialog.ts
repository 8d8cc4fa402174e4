// The keys of the workbench in a dialog: the table in `key-table.ts`, then the keys of focused controls (INSIDE).
import type { Host } from "../payloads/host";
import type { View } from "../store/view";
import { makeDialog } from "../ui/dialog";
import { h, listen } from "../ui/dom";
import { listKeys } from "./key-table";
import { makeLetterKeys } from "./letter-keys-switch";

const IN_FACTS = "In the facts";
/** Keys that views handle themselves while they have the focus. */
const INSIDE: readonly [string, string, string][] = [
  ["On the cut", "← →", "next valid cut point"],
  ["", "Page ↑ ↓", "next turn"],
  ["", "Home End", "first, last"],
  ["On the lanes", "← → ↑ ↓", "step, section"],
  ["", "Space Enter", "next block of the step, its text"],
  ["In the list", "↑ ↓ Enter", "row, its text"],
  [IN_FACTS, "↑ ↓ Enter", "fact, its story"],
];

export const makeHelp = (host: Host): View & { open(): void } => {
  const letters = makeLetterKeys(host);
  const close = h("button", { class: "ci-button", onclick: () => node.close() }, "Close");
  const table = h("div", { class: "ci-helps" });
  const node = makeDialog(
    { class: "ci-help", "aria-label": "Keys", "data-testid": "help" },
    h("h3", {}, "Keys", letters.node, close),
    table,
  );
  listen(node, "keydown", event => {
    if (event.key !== "?") return;
    event.preventDefault();
    node.close();
  });
  return {
    node,
    draw() {},
    open() {
      letters.refresh();
      // Nearly two hundred elements that most never look at.
      if (table.firstChild === null)
        table.append(...groupKeys(host).map(([name, rows]) => drawGroup(name, rows)));
      if (!node.open) node.showModal();
    },
  };
};

type Row = readonly [keys: string, help: string];

const groupKeys = (host: Host): [string, Row[]][] => {
  const groups = new Map<string, Row[]>();
  let last = "";
  const add = (group: string, ...row: Row) => groups.set(group, [...(groups.get(group) ?? []), row]);
  for (const { shown, help, group } of listKeys(host)) add(group, shown, help);
  for (const [group, keys, help] of INSIDE) {
    last = group || last;
    if (host.needsKernel === undefined || last !== IN_FACTS) add(last, keys, help);
  }
  return [...groups];
};

const drawGroup = (name: string, rows: readonly Row[]): HTMLElement =>
  h(
    "section",
    {},
    h("h4", {}, name),
    h(
      "dl",
      {},
      ...rows.flatMap(([keys, help]) => [
        h("dt", {}, ...keys.split(" ").flatMap((key, i) => [i > 0 ? " " : "", h("kbd", {}, key)])),
        h("dd", {}, help),
      ]),
    ),
  );
