// The Python that makes the same plan, ready to copy.
import { copyText } from "./clip";
import { h, setText } from "./dom";
import type { View } from "./picture";

export const makeRecipe = (): View => {
  const code = h("code", { tabindex: 0, "aria-label": "Recipe" });
  const copy = h("button", { type: "button", class: "ci-button" }, "Copy");
  const node = h(
    "section",
    { class: "ci-recipe", "data-testid": "recipe", "aria-label": "Recipe" },
    code,
    copy,
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = (word: string) => {
    setText(copy, word);
    clearTimeout(timer);
    timer = setTimeout(() => setText(copy, "Copy"), 1600);
  };
  copy.addEventListener("click", async () => {
    if (await copyText(code.textContent ?? "")) return say("Copied");
    getSelection()?.selectAllChildren(code);
    say("Selected: press Ctrl+C");
  });
  return {
    node,
    draw({ plan }, parts) {
      if (parts.has("plan")) setText(code, plan.recipe);
    },
    dispose: () => clearTimeout(timer),
  };
};
