// What Python is busy with: a thin line over everything, the words for it, and a way to stop it.
import { percent } from "../model/format";
import type { Work } from "../payloads/replies";
import type { Actions } from "../store/view";
import { h, listen, setAttributes, setShown, setText } from "../ui/dom";

export const makeProgress = (actions: Actions) => {
  const line = h("div", { class: "ci-track", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 });
  // Only what is done is announced; the share is there for whoever asks the bar.
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
      // What comes next was not stopped yet.
      if (work?.what !== what.textContent) stop.disabled = false;
      setText(what, work?.what ?? "");
      if (work === null) return;
      const { done } = work;
      const known = done !== null;
      setText(share, known ? percent(done, 1) : "");
      line.style.setProperty("--ci-done", String(done ?? 1));
      line.classList.toggle("ci-unknown", !known);
      const now = known ? Math.round(100 * done) : undefined;
      setAttributes(line, { "aria-label": work.what, "aria-valuenow": now });
      setShown(stop, work.stoppable);
    },
  };
};
