// What the session cost by the usage in its file: a table behind a line that tells the sum.
import { exact } from "../../model/format";
import type { BillPayload } from "../../payloads/types";
import type { View } from "../../store/view";
import { h, setShown, setText } from "../../ui/dom";

const NOT_TOLD = "?";

export const makeBill = (): View => {
  const sum = h("summary");
  const rows = h("tbody");
  const head = ["", "requests", "tokens"].map(name => h("th", { scope: "col" }, name));
  const currency = h("th", { scope: "col" });
  const table = h("table", {}, h("thead", {}, h("tr", {}, ...head, currency)), rows);
  const notes = h("p");
  const node = h("details", { class: "ci-more ci-bill", "data-testid": "bill" }, sum, table, notes);
  return {
    node,
    draw({ scene }, parts) {
      if (!parts.has("scene")) return;
      const { bill } = scene;
      setShown(node, bill.rows.length > 0);
      setText(sum, sayBill(bill));
      setText(currency, bill.currency);
      setText(notes, bill.notes.join(" "));
      rows.replaceChildren(
        ...bill.rows.map(({ name, calls, tokens, money }) =>
          h(
            "tr",
            {},
            h("td", {}, name),
            h("td", {}, exact(calls)),
            h("td", {}, tokens === null ? NOT_TOLD : exact(tokens)),
            h("td", {}, money === null ? NOT_TOLD : money.toFixed(4)),
          ),
        ),
      );
    },
  };
};

/** The line above the table: the sum, and whether that is all. */
export const sayBill = ({ currency, total, whole }: BillPayload): string => {
  const known = total === null ? "not known" : `${currency} ${total.toFixed(2)}`;
  return `Cost by the file's usage: ${known}${total === null || whole ? "" : ", and more that is not known"}`;
};
