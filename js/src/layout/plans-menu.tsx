// The menu of plans: save, open, compare, and start again.
import { render } from "preact";
import { heldOf } from "../model/compare";
import type { PlanFile } from "../payloads/replies";
import { type Actions, hasAny, type View, type ViewState } from "../store/view";
import { h } from "../ui/dom";
import { PolicyList } from "../ui/policy-list";
import { makePopover } from "../ui/popover";
import type { NewFileDialog } from "./new-file-dialog";

type Page = "menu" | "compare";

export interface PlansMenu extends View {
  /** Opens it below its button, and closes it again. */
  toggle(): void;
}

/** Without a dialog for new files, plans cannot be saved or opened. */
export const makePlansMenu = (actions: Actions, button: HTMLElement, file?: NewFileDialog): PlansMenu => {
  const keeps = file !== undefined;
  const content = h("div", {
    class: "ci-popover ci-plans",
    role: "dialog",
    "aria-label": "Plans",
    "data-testid": "plans-menu",
  });
  let shown: ViewState | undefined;
  let page: Page = "menu";
  let files: readonly PlanFile[] | null = null;
  let status = "";
  let bad = false;
  /** Python has not answered the last change yet, so it would save another plan. */
  let isOpen = false;

  const report = (words: string, wrong = false) => {
    [status, bad] = [words, wrong];
    draw();
  };
  const save = async () => {
    isOpen = shown?.settled !== true;
    if (isOpen) return;
    report("Saving the plan…");
    try {
      const { name, path } = await actions.requests.ask("save", {});
      report(`Saved as ${name}. In Python, open_plan(${JSON.stringify(path)}, session) opens it.`);
      await list();
    } catch (error) {
      report((error as Error).message, true);
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
    report("Opening the plan…");
    try {
      const { choices, sentence } = await actions.requests.ask("open_plan", { name });
      menu.close();
      actions.edit(choices, sentence);
    } catch (error) {
      report((error as Error).message, true);
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
  const drawMenu = ({ other, versus }: ViewState) => (
    <>
      {keeps && (
        <button class="ci-item" data-testid="save-plan" onClick={save}>
          Save this plan
        </button>
      )}
      {keeps && <h4>Open a plan</h4>}
      {keeps &&
        (files ?? []).map(({ name, words }) => (
          <button class="ci-item" key={name} data-testid="open-plan" onClick={() => open(name)}>
            {name}
            <small>{words}</small>
          </button>
        ))}
      {keeps && files?.length === 0 && <p class="ci-quiet">There is no saved plan next to this session.</p>}
      {keeps && <h4>Write a new session</h4>}
      {keeps && (
        <button class="ci-item" data-testid="save-compacted" onClick={leave(() => file?.open("compacted"))}>
          Save the compacted session…
        </button>
      )}
      {keeps && (
        <button class="ci-item" data-testid="reopen" onClick={leave(() => file?.open("reopened"))}>
          Reopen here, or at another turn…
        </button>
      )}
      <hr />
      <button class="ci-item" data-testid="compare-with" onClick={() => turn("compare")}>
        Compare with…
      </button>
      {other !== null && "policy" in versus && (
        <button class="ci-item" data-testid="swap" onClick={leave(() => actions.swapPlans())}>
          Swap this plan and B
        </button>
      )}
      {other !== null && (
        <button class="ci-item" data-testid="compare-end" onClick={leave(() => actions.compareWith({}))}>
          Remove plan B
        </button>
      )}
      <button class="ci-item" data-testid="reset" onClick={leave(reset)}>
        Reset to the plan as it was opened
      </button>
      {status && (
        <p class={bad ? "ci-bad" : "ci-quiet"} data-testid="saved">
          {status}
        </p>
      )}
    </>
  );
  const reset = () =>
    actions.edit({ policy: "auto", settings: {}, pins: [], cut: "", versus: {} }, "The plan was reset.");
  const drawCompare = (viewState: ViewState) => {
    const { policies, recorded, versus, needsKernel } = viewState;
    const chosen = "policy" in versus ? versus.policy : "";
    const choose = (policy: string) => leave(() => actions.compareWith({ policy }))();
    return (
      <>
        <button class="ci-item" onClick={() => turn("menu")}>
          ‹ Plans
        </button>
        <button
          class="ci-item"
          data-testid="compare-held"
          onClick={leave(() => actions.compareWith(heldOf(viewState)))}
        >
          A copy of this plan as it is now
        </button>
        {recorded !== null && (
          <button
            class="ci-item"
            data-testid="compare-recorded"
            onClick={leave(() => actions.compareWith({ recorded: true }))}
          >
            What the file records
          </button>
        )}
        {needsKernel === "" && <PolicyList {...{ policies, chosen, after: -1, choose }} />}
      </>
    );
  };
  const menu = makePopover(button, content, () => {
    page = "menu";
    status = "";
    if (keeps) void list();
    draw();
    content.querySelector<HTMLElement>("button")?.focus();
  });

  return {
    node: h("span", {}, content, ...(file === undefined ? [] : [file.node])),
    toggle: () => (menu.isOpen ? menu.close() : menu.open()),
    draw(viewState, parts) {
      shown = viewState;
      if (isOpen && viewState.settled) void save();
      if (menu.isOpen && hasAny(parts, "other", "policies", "plan")) draw();
    },
    dispose() {
      render(null, content);
      file?.dispose();
    },
  };
};
