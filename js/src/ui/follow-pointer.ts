// Drags by pointer.
import { listen } from "./dom";

/** Handlers for a pointer between its press on an element and its release. */
export interface Drag {
  move(event: PointerEvent): void;
  end?(): void;
}

/** Calls `begin` for each press of the main button; the drag that it returns follows the pointer until its release. */
export const followPointer = (node: HTMLElement, begin: (event: PointerEvent) => Drag | undefined): void =>
  listen(node, "pointerdown", event => {
    const drag = event.button === 0 ? begin(event) : undefined;
    if (drag === undefined) return;
    node.setPointerCapture(event.pointerId);
    listen(node, "pointermove", drag.move);
    const end = () => {
      node.removeEventListener("pointermove", drag.move);
      drag.end?.();
    };
    listen(node, "lostpointercapture", end, { once: true });
  });
