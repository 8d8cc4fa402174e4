// A dialog over everything: a press outside closes it, and a key pressed in it is for it alone.
import { h } from "./dom";

export const makeDialog = (
  attributes: Record<string, string>,
  ...children: (Node | string)[]
): HTMLDialogElement => {
  const dialog: HTMLDialogElement = h(
    "dialog",
    {
      ...attributes,
      onclick: event => event.target === dialog && dialog.close(),
      onkeydown: event => event.stopPropagation(),
    },
    ...children,
  );
  return dialog;
};
