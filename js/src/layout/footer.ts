// The Python that makes the same plan, ready to copy; and the plan itself, kept in a file for later.
import type { Requests } from "../payloads/requests";
import type { Picture, View } from "../store/view";
import { copyText } from "../ui/copy";
import { h, setShown, setText } from "../ui/dom";

/** Without `requests` there is nobody who could save. */
export const makeRecipe = (requests?: Requests): View => {
  const code = h("code", { tabindex: 0, "aria-label": "Recipe" });
  const copy = h("button", { class: "ci-button" }, "Copy");
  const save = h("button", { class: "ci-button", "data-testid": "save-plan" }, "Save plan");
  const told = h("p", { class: "ci-quiet", "data-testid": "saved" });
  const node = h(
    "section",
    { class: "ci-recipe", "data-testid": "recipe", "aria-label": "Recipe" },
    code,
    copy,
    ...(requests === undefined ? [] : [save, told]),
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  let plan: Picture["plan"] | undefined;
  /** Python has not answered the last change yet: what it would save is another plan. */
  let settled = false;
  let wanted = false;
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

  const tell = (words: string, bad = false) => {
    told.classList.toggle("ci-bad", bad);
    setText(told, words);
    setShown(told, words !== "");
  };
  tell("");
  const keep = async () => {
    wanted = !settled;
    if (wanted || requests === undefined) return;
    tell("Saving the plan…");
    try {
      const { name, path } = await requests.ask("save", {});
      tell(`Saved as ${name}. In Python, open_plan(${JSON.stringify(path)}, session) makes it again.`);
    } catch (error) {
      tell((error as Error).message, true);
    }
  };
  save.addEventListener("click", keep);

  return {
    node,
    draw(picture, parts) {
      ({ settled } = picture);
      if (parts.has("plan")) {
        setText(code, picture.plan.recipe);
        if (plan !== picture.plan) tell("");
        ({ plan } = picture);
      }
      if (wanted && settled) void keep();
    },
    dispose: () => clearTimeout(timer),
  };
};
