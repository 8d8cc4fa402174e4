// The Python that makes the same plan, in a line: short names are shown, whole ones copied.
import type { View } from "../store/view";
import { copyText } from "../ui/copy";
import { h, setAttributes, setText } from "../ui/dom";

export const makeRecipe = (): View => {
  const code = h("code", { tabindex: 0, "aria-label": "Recipe" });
  const copy = h("button", { class: "ci-link" }, "Copy");
  const node = h(
    "section",
    { class: "ci-recipe", "data-testid": "recipe", "aria-label": "Recipe" },
    code,
    copy,
  );
  let whole = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = (word: string) => {
    setText(copy, word);
    clearTimeout(timer);
    timer = setTimeout(() => setText(copy, "Copy"), 1600);
  };
  copy.addEventListener("click", async () => {
    if (await copyText(whole)) return say("Copied");
    setText(code, whole);
    getSelection()?.selectAllChildren(code);
    say("Selected: press Ctrl+C");
  });
  return {
    node,
    draw({ plan }, parts) {
      if (!parts.has("plan") && !parts.has("look") && !parts.has("scene")) return;
      whole = plan.recipe;
      setText(code, plan.shortRecipe ?? whole);
      setAttributes(code, { title: whole });
    },
    dispose: () => clearTimeout(timer),
  };
};
