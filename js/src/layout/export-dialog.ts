// Export: first what would be redacted in the page is shown, then the page is made and handed to the browser.

import type { Requests } from "../payloads/requests";
import type { ExportReply, Secret } from "../payloads/types";
import type { View } from "../store/view";
import { makeDialog } from "../ui/dialog";
import { h, listen, setText } from "../ui/dom";

const PROMISE =
  "One file that opens anywhere, with no network and no kernel: there you can drag the cut, open blocks, and compare what each policy would leave. It is made here and saved by this browser; nothing is sent anywhere.";

/** Drawn independently of the view state. */
export const makeExporter = (requests: Requests): View & { open(): void } => {
  const cancel = h("button", { class: "ci-button", onclick: () => dialog.close() }, "Close");
  const make = h("button", { class: "ci-button ci-main", onclick: () => save() }, "Save page");
  const resultText = h("p", { "data-testid": "export-told" });
  const list = h("div", { class: "ci-secrets" });
  const dialog = makeDialog(
    { class: "ci-help ci-exporter", "aria-label": "Export HTML", "data-testid": "exporter" },
    h("h3", {}, "Export HTML", cancel),
    h("p", {}, PROMISE),
    resultText,
    list,
    h("div", { class: "ci-actions" }, make),
  );
  // Answers to an earlier opening are none of this one's.
  let opening = 0;

  const say = (words: string, bad = false) => {
    resultText.classList.toggle("ci-bad", bad);
    setText(resultText, words);
  };

  const review = async () => {
    const request = ++opening;
    make.disabled = true;
    list.replaceChildren();
    say("Looking for secrets in the texts…");
    try {
      const { findings, sentence } = await requests.ask("review", {});
      if (request !== opening) return;
      say(sentence);
      if (findings.length > 0) list.replaceChildren(drawList(findings));
      make.disabled = false;
      make.focus();
    } catch (error) {
      if (request === opening) say((error as Error).message, true);
    }
  };

  const save = async () => {
    const request = opening;
    // A button that cannot be pressed loses the focus.
    const focused = document.activeElement === make;
    const keep = [...list.querySelectorAll<HTMLInputElement>("input:checked")].map(({ value }) => value);
    make.disabled = true;
    say("Making the page…");
    try {
      const page = await requests.ask("export", { keep });
      download(page);
      if (request === opening) say(`Saved as ${page.name}, ${Math.round(page.size / 1000)} kB.`);
    } catch (error) {
      if (request === opening) say((error as Error).message, true);
    }
    if (request !== opening) return;
    make.disabled = false;
    if (focused && dialog.open && document.activeElement === document.body) make.focus();
  };

  return {
    node: dialog,
    draw() {},
    open() {
      dialog.showModal();
      review();
    },
  };
};

const drawList = (findings: readonly Secret[]): HTMLElement =>
  h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...COLUMNS.map(name => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...findings.map(drawSecret)),
  );

const COLUMNS = ["redacted", "what it is", "times", "leave it in"];

const drawSecret = ({ name, hint, count, where, grade }: Secret): HTMLElement => {
  const keep = h("input", { type: "checkbox", value: name, "aria-label": `Leave ${name} in` });
  const row = h(
    "tr",
    { class: grade === "secret" ? "ci-grave" : "" },
    h("th", { scope: "row" }, name),
    h("td", { title: where.join("\n") }, `${hint}, ${tellWhere(where, count)}`),
    h("td", {}, String(count)),
    h("td", {}, keep),
  );
  listen(keep, "change", () => row.classList.toggle("ci-kept", keep.checked));
  return row;
};

const tellWhere = (where: readonly string[], count: number): string =>
  `${count === 1 ? "at" : "first at"} ${where[0]}`;

const download = ({ html, name }: ExportReply) => {
  const url = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
