// What would have kept a fact: each an edit as a hand would make it, with its price before anyone pays it.

import { exact, namePlace, signed } from "../../model/format";
import type { FactFix, FactReply } from "../../payloads/types";
import type { Actions, Picture } from "../../store/view";
import { h } from "../../ui/dom";
import { drawFate } from "../../ui/fate";

export const drawFixes = (picture: Picture, story: FactReply, actions: Actions): HTMLElement[] => {
  const { fixes } = story;
  if (fixes.length === 0)
    return [h("p", { class: "ci-quiet" }, "No single pin, cut or setting of this plan keeps more of it.")];
  const rows = fixes.map(fix => {
    const words = nameFix(picture, story, fix);
    const button = h(
      "button",
      {
        class: "ci-button",
        title: [fix.sentence, fix.money, fix.recipe].filter(Boolean).join("\n"),
        "data-testid": "fix",
      },
      words,
    );
    const said = [words, `${signed(fix.price)} tokens`, fix.money].filter(Boolean).join(", ");
    button.addEventListener("click", () => {
      // Of another plan than the one on the screen: a new price is on its way.
      if (button.closest(".ci-stale") === null) actions.edit(fix.changes, `${said}. Press z to undo.`);
    });
    const price = h("span", { title: `${exact(fix.price)} tokens more` }, signed(fix.price));
    return h(
      "li",
      {},
      button,
      price,
      h("span", { class: "ci-quiet" }, fix.money),
      ...drawFate(fix.fate, "planned").slice(0, 1),
    );
  });
  return [h("ul", { class: "ci-fixes" }, ...rows)];
};

/** A place by its turn rather than by its name in the file, where it is known. */
const nameFix = (
  { scene, cuts }: Picture,
  { said }: FactReply,
  { means, sentence, changes }: FactFix,
): string => {
  const pin = said.find(({ ref }) => ref === changes.pins?.at(-1));
  if (means === "pin" && pin !== undefined) return `Pin ${pin.label}`;
  const place = cuts.placeOf.get(changes.cut ?? "");
  return means === "cut" && place !== undefined ? `Cut at ${namePlace(scene, place)}` : sentence;
};
