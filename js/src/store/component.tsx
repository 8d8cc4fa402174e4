// Preact inside the workbench: a view whose content is a component over the picture.
import type { ComponentType } from "preact";
import { render } from "preact";
import { h, setAttributes } from "../ui/dom";
import type { Actions, Part, Picture, View } from "./view";

export interface PanelProps {
  picture: Picture;
  actions: Actions;
}

/**
 * A view that renders `Component` into a section of its own whenever one of the parts in `needs` has changed.
 *
 * The picture is one object that changes in place, so a component reads it and keeps nothing of it. What moves
 * with every frame of a drag does not belong here: it is drawn by hand.
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
    draw(picture, parts) {
      if (needs.some(part => parts.has(part)))
        render(<Component picture={{ ...picture }} actions={actions} />, node);
    },
    dispose: () => render(null, node),
  };
};
