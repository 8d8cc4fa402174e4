// Which policy it is: the published ones, and one's own where that is shown.
import type { Actions, Picture, View } from "../../store/view";
import { h, setShown } from "../../ui/dom";

export const makePolicy = (actions: Actions): View => {
  const select = h("select", { class: "ci-knob", "data-testid": "policy", "aria-label": "Policy" });
  select.addEventListener("change", () => actions.choosePolicy(select.value));
  const node = h("label", {}, "policy ", select);
  return {
    node,
    draw(picture, parts) {
      if (!parts.has("scene") && !parts.has("plan")) return;
      list(select, picture);
      setShown(node, picture.scene.policies.length > 0 || picture.plan.rules.length > 0);
    },
  };
};

const list = (select: HTMLSelectElement, { scene, plan }: Picture) => {
  const known = scene.policies.some(({ name }) => name === plan.policy);
  const policies = known
    ? scene.policies
    : [{ name: plan.policy, title: plan.policyTitle }, ...scene.policies];
  const names = policies.map(({ name }) => name).join("\n");
  if (select.dataset.names !== names) {
    select.dataset.names = names;
    select.replaceChildren(...policies.map(({ name, title }) => h("option", { value: name }, title)));
  }
  select.value = plan.policy;
};
