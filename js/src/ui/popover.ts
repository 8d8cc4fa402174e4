// Something that opens over the page below its button: Escape and a press elsewhere close it, and nothing else moves.
import { listen, setAttributes, setShown } from "./dom";

export interface Popover {
  readonly isOpen: boolean;
  open(): void;
  /** Gives the focus back to the button where it was in here. */
  close(): void;
}

/** `opened` draws what is inside and may take the focus. */
export const makePopover = (button: HTMLElement, content: HTMLElement, opened: () => void): Popover => {
  setShown(content, false);
  content.classList.add("ci-popover");
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
    close() {
      const held = content.contains(document.activeElement);
      show(false);
      if (held) button.focus();
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
export const makeMenu = (button: HTMLElement, content: HTMLElement, opened: () => void): Popover => {
  const popover = makePopover(button, content, opened);
  listen(button, "click", () => (popover.isOpen ? popover.close() : popover.open()));
  return popover;
};
