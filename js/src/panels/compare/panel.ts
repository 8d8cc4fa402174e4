// Plan B in words: what it is, where it cuts, what is reported of it, and the Python that makes it.
import { exact, signed } from "../../model/format";
import { totalAfter } from "../../model/plan";
import type { Picture, View } from "../../store/view";
import { h, setAttributes, setShown, setText } from "../../ui/dom";

export const makeVersus = (): View => {
  const name = h("b");
  const sums = h("span", { "data-testid": "versus-sums" });
  const sentence = h("p");
  const told = h("dl", { class: "ci-told", "data-testid": "told" });
  const notes = h("p", { class: "ci-quiet" });
  const code = h("code", { "aria-label": "Python of plan B" });
  const body = h(
    "div",
    {},
    h("p", { class: "ci-versus" }, name, sums),
    sentence,
    told,
    notes,
    h("p", { class: "ci-quiet" }, code),
  );
  const node = h(
    "section",
    { class: "ci-panel ci-other", "data-testid": "other", "aria-label": "Plan B", hidden: true },
    h("h3", {}, "Plan B"),
    body,
  );
  return {
    node,
    draw(picture, parts) {
      if (!["scene", "plan", "place", "other", "tab"].some(part => parts.has(part as "scene"))) return;
      const { other } = picture;
      setShown(node, other !== null);
      setShown(body, other !== null);
      if (other === null) return;
      setText(name, other.label ?? other.policyTitle);
      drawSums(sums, picture);
      setText(sentence, other.cut.sentence);
      setShown(told, (other.told ?? []).length > 0);
      const said = JSON.stringify(other.told ?? []);
      if (told.dataset.said !== said) {
        told.dataset.said = said;
        told.replaceChildren(
          ...(other.told ?? []).map(([what, tokens, source]) =>
            h("div", {}, h("dt", {}, what), h("dd", {}, h("b", {}, tokens), ` ${source}`)),
          ),
        );
      }
      // A policy that makes no cut may say the same in a note.
      const more = other.notes.filter(note => note !== other.cut.sentence);
      setText(notes, more.join(" "));
      setShown(notes, more.length > 0);
      setText(code, other.recipe);
    },
  };
};

/** What B leaves, and how much more or less that is than what A leaves. */
const drawSums = (node: HTMLElement, { plan, place, other }: Picture) => {
  if (other === null) return;
  const [mine, theirs] = [totalAfter(plan, place), totalAfter(other, other.cut.place)];
  const change = theirs - mine;
  setText(
    node,
    mine < 0
      ? `leaves ${exact(theirs)}`
      : `leaves ${exact(theirs)}, ${change === 0 ? "the same as A" : `${signed(change)} against A`}`,
  );
  setAttributes(node, { title: mine < 0 ? undefined : `A leaves ${exact(mine)}: ${exact(change)}` });
};
