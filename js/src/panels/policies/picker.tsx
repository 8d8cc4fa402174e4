// The policy picker in the name of the plan's row: the list of policies over the page, each with what it would leave.
import { render } from "preact";
import { totalAfter } from "../../model/plan";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { h, setAttributes, setText } from "../../ui/dom";
import { PolicyList } from "../../ui/policy-list";
import { makeMenu } from "../../ui/popover";

export const makePolicyPicker = (actions: Actions): View => {
  const name = h("span");
  const button = h(
    "button",
    { class: "ci-picker", "data-testid": "policy-picker", "aria-haspopup": "listbox" },
    name,
    h("span", { "aria-hidden": "true" }, " ▾"),
  );
  const list = h("div", { class: "ci-popover ci-picked", "data-testid": "policy-list" });
  const node = h("span", { class: "ci-picks" }, button, list);
  let shown: ViewState | undefined;

  const draw = () => {
    if (shown === undefined) return;
    const { policies, planned, place, plan, needsKernel } = shown;
    const choosePolicy = (policy: string) => {
      menu.close();
      actions.choosePolicy(policy);
    };
    const choose = needsKernel === "" ? choosePolicy : undefined;
    const after = totalAfter(planned, plan === planned ? place : planned.cut.place);
    render(<PolicyList {...{ policies, chosen: planned.policy, after, choose }} />, list);
  };
  const menu = makeMenu(button, list, () => {
    actions.askPolicies();
    draw();
    const options = list.querySelectorAll<HTMLElement>("[role=option]");
    [...options].find(option => option.tabIndex === 0)?.focus({ preventScroll: true });
  });

  return {
    node,
    draw(viewState, parts) {
      shown = viewState;
      if (hasAny(parts, "scene", "plan")) {
        const { planned } = viewState;
        const words = planned.gauge?.name ?? planned.policyTitle;
        setText(name, words);
        setAttributes(button, { "aria-label": `Policy: ${words}`, title: planned.chosen || words });
      }
      if (!menu.isOpen) return;
      if (hasAny(parts, "scene", "plan")) actions.askPolicies();
      if (hasAny(parts, "policies", "plan", "scene")) {
        const hasFocus = list.contains(document.activeElement);
        draw();
        // The list comes in after it was opened: its first row then takes the focus that waited.
        if (!hasFocus && document.activeElement === button)
          list.querySelector<HTMLElement>('[role=option][tabindex="0"]')?.focus({ preventScroll: true });
      }
    },
    dispose: () => render(null, list),
  };
};
