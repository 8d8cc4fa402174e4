// Preact inside the workbench: a view whose content is a component of the view state.
import type { ComponentType } from "preact";
import { options, render } from "preact";
import { h, setAttributes } from "../ui/dom";
import { type Actions, hasAny, type Part, type View, type ViewState } from "./view";

// No button here sends a form.
options.vnode = ({ type, props }) => {
  if (type === "button") (props as { type?: string }).type ??= "button";
};

export interface PanelProps {
  viewState: ViewState;
  actions: Actions;
}

/**
 * A view that renders `Component` into a section of its own whenever one of the parts in `needs` has changed.
 *
 * The view state is one object that changes in place, so a component must not store parts of it. Content that moves
 * with every frame of a drag does not belong here: it is drawn directly.
 */
export const makeComponentView = (
  Component: ComponentType<PanelProps>,
  actions: Actions,
  needs: readonly Part[],
  attributes: Record<string, string> = {},
): View => {
  const node = h("section");
  setAttributes(node, attributes);
  return {
    node,
    draw(viewState, parts) {
      if (hasAny(parts, ...needs)) render(<Component viewState={{ ...viewState }} actions={actions} />, node);
    },
    dispose: () => render(null, node),
  };
};
