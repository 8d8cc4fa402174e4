// Python's current work: a thin progress line, a description, and a button that stops it.
import { percent } from "../model/format";
import type { Work } from "../payloads/replies";
import type { Actions } from "../store/view";
import { h, listen, setAttributes, setShown, setText } from "../ui/dom";

export const makeProgress = (actions: Actions) => {
  const line = h("div", { class: "ci-track", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 });
  // Only the end is announced; the share can be read from the progress bar.
  const what = h("span", {});
  const share = h("span", { "aria-hidden": "true" });
  const stop = h("button", { class: "ci-link", "data-testid": "stop" }, "Stop");
  const node = h(
    "div",
    { class: "ci-work", "data-testid": "work", hidden: true },
    line,
    h("p", {}, what, share, stop),
  );
  listen(stop, "click", () => {
    stop.disabled = true;
    actions.stop();
  });
  return {
    node,
    show(work: Work | null) {
      setShown(node, work !== null);
      // The next work has not been stopped yet.
      if (work?.what !== what.textContent) stop.disabled = false;
      setText(what, work?.what ?? "");
      if (work === null) return;
      const { done } = work;
      const isMeasured = done !== null;
      setText(share, isMeasured ? percent(done, 1) : "");
      line.style.setProperty("--ci-done", String(done ?? 1));
      line.classList.toggle("ci-unknown", !isMeasured);
      const now = isMeasured ? Math.round(100 * done) : undefined;
      setAttributes(line, { "aria-label": work.what, "aria-valuenow": now });
      setShown(stop, work.stoppable);
    },
  };
};
