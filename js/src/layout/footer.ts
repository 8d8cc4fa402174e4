// The Python that makes the same plan, in a line: short names are shown, whole ones copied.
import type { View } from "../store/view";
import { copyText } from "../ui/copy";
import { h, listen, setAttributes, setText } from "../ui/dom";

export interface Recipe extends View {
  /** The same once more, for the menu of a narrow workbench, which has no room for a foot. */
  readonly inMenu: HTMLElement;
}

export const makeRecipe = (): Recipe => {
  let whole = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const make = (attributes: Record<string, string>) => {
    const code = h("code", { tabindex: 0, "aria-label": "Recipe" });
    const copy = h("button", { class: "ci-link" }, "Copy");
    const say = (word: string) => {
      setText(copy, word);
      clearTimeout(timer);
      timer = setTimeout(() => setText(copy, "Copy"), 1600);
    };
    listen(copy, "click", async () => {
      if (await copyText(whole)) return say("Copied");
      setText(code, whole);
      getSelection()?.selectAllChildren(code);
      say("Selected: press Ctrl+C");
    });
    return { code, node: h("section", { "aria-label": "Recipe", ...attributes }, code, copy) };
  };
  const foot = make({ class: "ci-recipe", "data-testid": "recipe" });
  const inMenu = make({ class: "ci-recipe-more", "data-testid": "recipe-more" });
  return {
    node: foot.node,
    inMenu: inMenu.node,
    draw({ plan }, parts) {
      if (!parts.has("plan") && !parts.has("look") && !parts.has("scene")) return;
      whole = plan.recipe;
      for (const { code } of [foot, inMenu]) {
        setText(code, plan.shortRecipe ?? whole);
        setAttributes(code, { title: whole });
      }
    },
    dispose: () => clearTimeout(timer),
  };
};
