// Something that opens over the page below its button: Escape and a press elsewhere close it, and nothing else moves.
import { listen, setAttributes, setShown } from "./dom";

/** `opened` draws what is inside and may take the focus. */
export const makePopover = (button: HTMLElement, content: HTMLElement, opened: () => void) => {
  setShown(content, false);
  setAttributes(button, { "aria-expanded": "false" });
  const root = () => content.getRootNode() as Document;
  const isInside = (target: EventTarget | null) =>
    target instanceof Node && (content.contains(target) || button.contains(target));
  const outside = (event: Event) => {
    if (!isInside(event.composedPath()[0] ?? null)) show(false);
  };
  const show = (shown: boolean) => {
    setShown(content, shown);
    setAttributes(button, { "aria-expanded": String(shown) });
    if (shown) root().addEventListener("pointerdown", outside, true);
    else root().removeEventListener("pointerdown", outside, true);
  };
  const popover = {
    get isOpen() {
      return !content.hidden;
    },
    open() {
      show(true);
      opened();
    },
    /** Returns the focus to the button if it was inside. */
    close() {
      const hasFocus = content.contains(document.activeElement);
      show(false);
      if (hasFocus) button.focus();
    },
  };
  listen(content, "keydown", event => {
    if (event.key === "Escape") popover.close();
    else if (event.key.length > 1 || event.ctrlKey || event.metaKey) return;
    // A letter typed in here is for what is in here.
    event.stopPropagation();
  });
  listen(content, "focusout", event => {
    if (event.relatedTarget !== null && !isInside(event.relatedTarget)) show(false);
  });
  return popover;
};

/** The same for a button that has nothing else to do. */
export const makeMenu = (button: HTMLElement, content: HTMLElement, opened: () => void) => {
  const popover = makePopover(button, content, opened);
  listen(button, "click", () => (popover.isOpen ? popover.close() : popover.open()));
  return popover;
};
