// The line at the top: the session, undo and redo, the search, plans, the page, and the keys.
import { exact, splitPath } from "../model/format";
import type { BillPayload } from "../payloads/types";
import type { Actions, View } from "../store/view";
import { h, listen, setAttributes, setShown, setText } from "../ui/dom";
import { makeMenu } from "../ui/popover";

/** `tools` are placed between the search and the help: plans, and the page. */
export const makeHeader = (
  actions: Actions,
  search: HTMLElement,
  tools: readonly HTMLElement[],
  openHelp: () => void,
): View => {
  const title = h("b");
  const facts = ["compactions", "size", "harness", "model"].map(name =>
    h("span", { class: `ci-about-${name}` }),
  );
  const [unknown, unknowns] = [
    h("button", { class: "ci-link", "data-testid": "unknown" }),
    h("ul", { class: "ci-popover" }),
  ];
  const [cost, bill] = [
    h("button", { class: "ci-link", "data-testid": "cost" }),
    h("div", { class: "ci-popover", "data-testid": "bill" }),
  ];
  const strange = h("span", { class: "ci-about-more" }, unknown);
  const priced = h("span", { class: "ci-about-more" }, cost);
  makeMenu(unknown, unknowns, () => undefined);
  makeMenu(cost, bill, () => undefined);
  const undo = makeIcon("↶", "undo", actions.undo);
  const redo = makeIcon("↷", "redo", actions.redo);
  const help = makeIcon("?", "open-help", openHelp);
  setAttributes(help, { "aria-label": "Keys", title: "Keys (?)" });
  const more = h("button", { class: "ci-button ci-more-button", "data-testid": "more-menu" }, "More ▾");
  const rest = h("div", { class: "ci-rest" }, ...tools);
  const node = h(
    "div",
    { class: "ci-header" },
    title,
    // The numbers are never shortened; other details share the remaining room.
    h("div", { class: "ci-about ci-about-figures" }, ...facts.slice(0, 2), priced),
    h("div", { class: "ci-about" }, ...facts.slice(2), strange),
    h("span", { class: "ci-pasts" }, undo, redo),
    search,
    more,
    rest,
    help,
    unknowns,
    bill,
  );
  // In a wide workbench the content of More is in the line itself; the style sheet decides.
  listen(more, "click", () => {
    const open = node.classList.toggle("ci-more-open");
    setAttributes(more, { "aria-expanded": String(open) });
  });
  setAttributes(more, { "aria-expanded": "false" });
  listen(node, "keydown", event => {
    if (event.key !== "Escape" || !node.classList.contains("ci-more-open")) return;
    more.click();
    more.focus();
  });
  const name = (button: HTMLButtonElement, verb: string, what: string, key: string) => {
    button.disabled = what === "";
    const label = what === "" ? `Nothing to ${verb.toLowerCase()}` : `${verb} the change of ${what}`;
    setAttributes(button, { "aria-label": label, title: `${label} (${key})` });
  };
  return {
    node,
    draw({ scene, history }, parts) {
      if (parts.has("history")) {
        name(undo, "Undo", history.undo, "z");
        name(redo, "Redo", history.redo, "Z");
        // A button hears no keys once it is disabled: after the last undo the focus is on redo, and the other way round.
        if (undo.disabled && undo === document.activeElement) redo.focus();
        else if (redo.disabled && redo === document.activeElement) undo.focus();
      }
      if (!parts.has("scene")) return;
      const { header } = scene;
      // A long address may go on in a second line, as every line of a title that has no room.
      title.replaceChildren(...splitPath(header.title).flatMap(part => [part, h("wbr")]));
      setAttributes(title, { title: header.about });
      for (const [i, words] of [header.compactions, header.size, header.harness, header.model].entries())
        setText(facts[i] as HTMLElement, words);
      setShown(strange, header.unknown.length > 0);
      setText(unknown, `${exact(header.unknown.length)} unknown`);
      unknowns.replaceChildren(...header.unknown.map(line => h("li", {}, line)));
      setShown(priced, scene.bill.cost !== "");
      setText(cost, scene.bill.cost);
      setAttributes(cost, { "aria-label": `${scene.bill.cost}. ${scene.bill.sentence}` });
      bill.replaceChildren(...drawBill(scene.bill));
    },
  };
};

const makeIcon = (sign: string, id: string, onclick: () => void): HTMLButtonElement =>
  h("button", { class: "ci-icon", "data-testid": id, onclick }, sign);

const drawBill = ({ sentence, columns, rows, notes }: BillPayload): HTMLElement[] => [
  h("p", {}, sentence),
  h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...columns.map(name => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...rows.map(row => h("tr", {}, ...row.map(words => h("td", {}, words))))),
  ),
  h("p", { class: "ci-quiet" }, notes),
];
