// The control that chooses plan B: nothing, what the file records, a policy, or this plan held as it is now.

import { heldOf } from "../../model/compare";
import { plural } from "../../model/format";
import type { Actions, Picture, View } from "../../store/view";
import { h, setShown } from "../../ui/dom";

const NONE = "";
const RECORDED = ":recorded";
const HOLD = ":hold";
const HELD = ":held";

export const makeCompare = (actions: Actions): View => {
  const select = h("select", { class: "ci-knob", "data-testid": "versus", "aria-label": "Plan B" });
  const swap = h(
    "button",
    {
      class: "ci-link",
      "data-testid": "swap",
      title: "Plan A becomes plan B, and B becomes A",
    },
    "swap A and B",
  );
  const node = h("p", { class: "ci-compare" }, h("label", {}, "compare with ", select), swap);
  let shown: Picture | undefined;
  select.addEventListener("change", () => {
    if (shown === undefined) return;
    const { value } = select;
    if (value === NONE) actions.compareWith({});
    else if (value === RECORDED) actions.compareWith({ recorded: true });
    else if (value === HOLD) actions.compareWith(heldOf(shown));
    else if (value !== HELD) actions.compareWith({ policy: value });
  });
  swap.addEventListener("click", () => actions.swapPlans());
  return {
    node,
    draw(picture, parts) {
      if (!parts.has("scene") && !parts.has("plan") && !parts.has("other")) return;
      shown = picture;
      drawOptions(select, picture);
      setShown(swap, "policy" in picture.versus);
    },
  };
};

/** Plan B is a policy as it is known by its name, with nothing set by hand. */
const isNamed = ({ versus }: Picture): boolean => "policy" in versus && Object.keys(versus).length === 1;

type Choice = [value: string, words: string, disabled?: boolean];

const drawOptions = (select: HTMLSelectElement, picture: Picture) => {
  const { scene, versus, other } = picture;
  const named = isNamed(picture);
  const held = "policy" in versus && !named;
  const last = scene.segments.at(-1)?.current === true;
  const name = scene.policies.find(policy => held && policy.name === versus.policy)?.title;
  const wanted: Choice[] = [
    [NONE, "nothing"],
    [RECORDED, last ? "recorded: none after this moment" : "recorded in the file", last],
    [HOLD, "this plan, held as it is now"],
    ...(held ? [[HELD, `held: ${name ?? other?.label ?? "a plan"}${sayEdits(versus)}`] as Choice] : []),
    ...scene.policies.map(({ name, title }): Choice => [name, title]),
  ];
  const told = JSON.stringify(wanted);
  if (select.dataset.told !== told) {
    select.dataset.told = told;
    select.replaceChildren(
      ...wanted.map(([value, words, disabled]) => h("option", { value, disabled }, words)),
    );
  }
  select.value = "recorded" in versus ? RECORDED : held ? HELD : "policy" in versus ? versus.policy : NONE;
};

/** What was set by hand of a held plan, in a few words. */
const sayEdits = (versus: Picture["versus"]): string => {
  if (!("policy" in versus)) return "";
  const settings = Object.keys(versus.settings ?? {}).length;
  const pins = versus.pins?.length ?? 0;
  const parts = [
    versus.cut ? "its cut" : "",
    settings > 0 ? plural(settings, "setting") : "",
    pins > 0 ? plural(pins, "pin") : "",
  ].filter(Boolean);
  return parts.length > 0 ? ` with ${parts.join(", ")}` : "";
};
