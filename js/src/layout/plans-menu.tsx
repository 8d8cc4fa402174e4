// The menu of plans: save this one, open one that was saved beside the session, compare with another, begin anew.
import { render } from "preact";
import { heldOf } from "../model/compare";
import type { PlanFile } from "../payloads/replies";
import type { Actions, Picture, View } from "../store/view";
import { h } from "../ui/dom";
import { PolicyList } from "../ui/policy-list";
import { makePopover } from "../ui/popover";
import type { NewFileDialog } from "./new-file-dialog";

type Page = "menu" | "compare";

export interface PlansMenu extends View {
  /** Opens it below its button, and closes it again. */
  toggle(): void;
}

/** Without a dialog for new files there is nobody who could save or open. */
export const makePlansMenu = (actions: Actions, button: HTMLElement, file?: NewFileDialog): PlansMenu => {
  const keeps = file !== undefined;
  const content = h("div", {
    class: "ci-plans",
    role: "dialog",
    "aria-label": "Plans",
    "data-testid": "plans-menu",
  });
  let shown: Picture | undefined;
  let page: Page = "menu";
  let files: readonly PlanFile[] | null = null;
  let told = "";
  let bad = false;
  /** Python has not answered the last change yet: what it would save is another plan. */
  let wanted = false;

  const tell = (words: string, wrong = false) => {
    [told, bad] = [words, wrong];
    draw();
  };
  const save = async () => {
    wanted = shown?.settled !== true;
    if (wanted) return;
    tell("Saving the plan…");
    try {
      const { name, path } = await actions.requests.ask("save", {});
      tell(`Saved as ${name}. In Python, open_plan(${JSON.stringify(path)}, session) makes it again.`);
      await list();
    } catch (error) {
      tell((error as Error).message, true);
    }
  };
  const list = async () => {
    try {
      files = (await actions.requests.ask("plans", {})).plans;
    } catch {
      files = [];
    }
    draw();
  };
  const open = async (name: string) => {
    tell("Opening the plan…");
    try {
      const { choices, sentence } = await actions.requests.ask("open_plan", { name });
      menu.close();
      actions.edit(choices, sentence);
    } catch (error) {
      tell((error as Error).message, true);
    }
  };
  const turn = (next: Page) => {
    page = next;
    if (page === "compare") actions.askPolicies();
    draw();
    content.querySelector<HTMLElement>("button, [role=option][tabindex='0']")?.focus();
  };
  const leave = (act: () => void) => () => {
    menu.close();
    act();
  };

  const draw = () => {
    if (shown === undefined) return;
    render(page === "menu" ? drawMenu(shown) : drawCompare(shown), content);
  };
  const drawMenu = ({ other, versus }: Picture) => (
    <>
      {keeps && (
        <button type="button" class="ci-item" data-testid="save-plan" onClick={save}>
          Save this plan
        </button>
      )}
      {keeps && <h4>Open a plan</h4>}
      {keeps &&
        (files ?? []).map(({ name, words }) => (
          <button type="button" class="ci-item" key={name} data-testid="open-plan" onClick={() => open(name)}>
            {name}
            <small>{words}</small>
          </button>
        ))}
      {keeps && files?.length === 0 && <p class="ci-quiet">None is saved beside this session.</p>}
      {keeps && <h4>Write a new session</h4>}
      {keeps && (
        <button
          type="button"
          class="ci-item"
          data-testid="save-compacted"
          onClick={leave(() => file?.open("compacted"))}
        >
          Save the compacted session…
        </button>
      )}
      {keeps && (
        <button
          type="button"
          class="ci-item"
          data-testid="reopen"
          onClick={leave(() => file?.open("reopened"))}
        >
          Reopen here, or at another turn…
        </button>
      )}
      <hr />
      <button type="button" class="ci-item" data-testid="compare-with" onClick={() => turn("compare")}>
        Compare with…
      </button>
      {other !== null && "policy" in versus && (
        <button type="button" class="ci-item" data-testid="swap" onClick={leave(() => actions.swapPlans())}>
          Swap this plan and B
        </button>
      )}
      {other !== null && (
        <button
          type="button"
          class="ci-item"
          data-testid="compare-end"
          onClick={leave(() => actions.compareWith({}))}
        >
          Let plan B go
        </button>
      )}
      <button type="button" class="ci-item" data-testid="reset" onClick={leave(reset)}>
        Reset: as it was opened
      </button>
      {told && (
        <p class={bad ? "ci-bad" : "ci-quiet"} data-testid="saved">
          {told}
        </p>
      )}
    </>
  );
  const reset = () =>
    actions.edit(
      { policy: "auto", settings: {}, pins: [], cut: "", versus: {} },
      "The plan is as it was opened.",
    );
  const drawCompare = (picture: Picture) => {
    const { policies, recorded, versus } = picture;
    const chosen = "policy" in versus ? versus.policy : "";
    const choose = (policy: string) => leave(() => actions.compareWith({ policy }))();
    return (
      <>
        <button type="button" class="ci-item" onClick={() => turn("menu")}>
          ‹ Plans
        </button>
        <button
          type="button"
          class="ci-item"
          data-testid="compare-held"
          onClick={leave(() => actions.compareWith(heldOf(picture)))}
        >
          This plan, held as it is now
        </button>
        {recorded !== null && (
          <button
            type="button"
            class="ci-item"
            data-testid="compare-recorded"
            onClick={leave(() => actions.compareWith({ recorded: true }))}
          >
            What the file records
          </button>
        )}
        <PolicyList {...{ policies, chosen, after: -1, choose }} />
      </>
    );
  };
  const menu = makePopover(button, content, () => {
    page = "menu";
    told = "";
    if (keeps) void list();
    draw();
    content.querySelector<HTMLElement>("button")?.focus();
  });

  return {
    node: h("span", {}, content, ...(file === undefined ? [] : [file.node])),
    toggle: () => (menu.isOpen ? menu.close() : menu.open()),
    draw(picture, parts) {
      shown = picture;
      if (wanted && picture.settled) void save();
      if (menu.isOpen && (parts.has("other") || parts.has("policies") || parts.has("plan"))) draw();
    },
    dispose() {
      render(null, content);
      file?.dispose();
    },
  };
};
