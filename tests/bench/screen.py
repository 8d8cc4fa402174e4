"""A workbench on a real screen, and the stopwatch beside it: JupyterLab, Chromium, one notebook."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

from playwright.sync_api import CDPSession, Page, sync_playwright  # noqa: E402

from tests.browser.conftest import FLAGS, find_chromium  # noqa: E402
from tests.browser.lab import Lab, open_notebook, start_lab  # noqa: E402
from tests.browser.traffic import Traffic  # noqa: E402

WIDTH, HEIGHT = 1280, 1000
READY = "import inspector.jupyter.widget, os"
BEGINS = "BeginMainThreadFrame"
PARTS = {
    **dict.fromkeys(("FireAnimationFrame", "EventDispatch", "TimerFire"), "scripts"),
    **dict.fromkeys(("UpdateLayoutTree", "Layout"), "style and layout"),
    **dict.fromkeys(("PrePaint", "Paint", "Layerize", "Commit"), "paint"),
}
TRACED = (
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
)

# In the page. `painted` waits for the frame after the next one: by then the last one is on the screen.
TOOLS = """() => {
  const frame = () => new Promise(done => requestAnimationFrame(done));
  const task = () => new Promise(done => setTimeout(done));
  const painted = async () => { await frame(); await task(); return performance.now() };
  const until = async (holds, patience = 60000) => {
    const end = performance.now() + patience;
    while (!holds()) {
      const wrong = document.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]');
      if (wrong !== null) throw new Error(wrong.innerText);
      if (performance.now() > end) throw new Error(`waited in vain for ${holds}`);
      await frame();
    }
    return painted();
  };
  const find = id => document.querySelector(`[data-testid="${id}"]`);
  const root = () => document.querySelector(".ci");
  const shown = () => {
    const handle = find("cut-handle");
    return handle !== null && handle.hasAttribute("aria-valuetext") && handle.checkVisibility();
  };
  const settled = () => shown() && !root().hasAttribute("aria-busy");
  const kernel = () => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const run = async code => {
    let said = "", wrong = "";
    const future = kernel().requestExecute({ code, store_history: false });
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === "stream") said += content.text;
      if (header.msg_type === "error") wrong = `${content.ename}: ${content.evalue}`;
    };
    await future.done;
    if (wrong) throw new Error(wrong);
    return said.trim();
  };
  const commands = () => window.jupyterapp.commands;
  window.bench = {
    frame, painted, until, find, root, shown, settled, kernel, run,
    /** A new kernel, warmed by `code`, and an empty page. */
    async restart(code) {
      await commands().execute("notebook:clear-all-cell-outputs");
      await kernel().restart();
      await kernel().info;
      await run(code);
      await until(() => root() === null);
    },
    /** From the order to run the cell to the frame that shows the handle. */
    async open() {
      window.bench.begun = performance.now();
      void commands().execute("notebook:run-all-cells");
      return (await until(shown)) - window.bench.begun;
    },
    /** The same to the frame that shows what no work behind it will change any more. */
    async opened() {
      await run("");
      const quiet = () => settled() && run("print(not wb._work)").then(said => said === "True");
      while (!(await quiet())) await frame();
      return (await painted()) - window.bench.begun;
    },
    settle: () => until(settled),
    /** Every fold of the list open. */
    async unfold() {
      for (let i = 0; i < 40; i++) {
        const closed = [...root().querySelectorAll('[data-fold][aria-expanded="false"]')];
        if (closed.length === 0) break;
        closed[0].click();
        await painted();
      }
    },
    /** From the control's own event to the frame that shows the plan made with it. */
    async set(knob, value) {
      const input = find(`knob-${knob}`);
      if (input === null) throw new Error(`no knob ${knob} is on the screen`);
      input.value = value;
      const start = performance.now();
      input.dispatchEvent(new Event("change", { bubbles: true }));
      const wanted = `'${knob}': ${value}`;
      return (await until(() => find("recipe").textContent.includes(wanted) && settled())) - start;
    },
    /** The same for a document of JupyterLab's; whatever was open is closed before. */
    async openDocument(path) {
      await commands().execute("application:close-all");
      await until(() => root() === null);
      const start = performance.now();
      void commands().execute("docmanager:open", { path, factory: "Compaction Inspector" });
      return (await until(shown)) - start;
    },
    nodes() {
      const walker = document.createTreeWalker(root(), NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
      let count = 1;
      while (walker.nextNode()) count++;
      return count;
    },
  };
}"""


class Screen(NamedTuple):
    """One page, and what measures it."""

    page: Page
    lab: Lab
    devtools: CDPSession
    traffic: Traffic

    def call(self, name: str, *arguments: Any) -> Any:
        """What a function of `TOOLS` gives."""
        return self.page.evaluate(
            "([name, values]) => window.bench[name](...values)", [name, list(arguments)]
        )

    def tools(self) -> None:
        self.page.evaluate(TOOLS)

    def heap(self) -> float:
        """Megabytes of JavaScript objects that are still reachable, in the whole page."""
        self.devtools.send("HeapProfiler.collectGarbage")
        metrics = self.devtools.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "JSHeapUsedSize")) / 1e6

    def trace(self) -> Trace:
        return Trace(self.page)

    @contextmanager
    def kernel_held(self) -> Iterator[None]:
        """The kernel's process stands still: one that is only busy answers from a second thread."""
        kernel = int(self.call("run", "print(os.getpid())"))
        os.kill(kernel, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(kernel, signal.SIGCONT)

    def kernel_memory(self) -> tuple[float, float]:
        """Megabytes that the kernel's process holds, and the most it ever held."""
        status = Path(f"/proc/{self.call('run', 'print(os.getpid())')}/status")
        if not status.exists():
            return 0.0, 0.0
        figures = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return tuple(int(figures[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


class Trace:
    """What the page's main thread does in each frame while the block runs, by Chromium's own trace.

    `work` is its processor time per frame in milliseconds, `wall` the same by the clock, with what other
    processes took in between; `costs` tells how `work` divides, in milliseconds a frame. `undisturbed` is
    `work` of the frames in which the browser did not collect the garbage of the whole page, JupyterLab's too.
    """

    def __init__(self, page: Page) -> None:
        browser = page.context.browser
        assert browser is not None
        self.page, self.browser = page, browser
        self.work: list[float] = []
        self.wall: list[float] = []
        self.undisturbed: list[float] = []
        self.costs: dict[str, float] = {}

    def __enter__(self) -> Self:
        self.browser.start_tracing(page=self.page, categories=list(TRACED))
        return self

    def __exit__(self, *_: object) -> None:
        events = json.loads(self.browser.stop_tracing())["traceEvents"]
        frames = read_frames(events)
        self.work = [sum(task.get("tdur", task.get("dur", 0)) for task in frame) / 1000 for frame in frames]
        self.wall = [sum(task.get("dur", 0) for task in frame) / 1000 for frame in frames]
        thread = (frames[0][0]["pid"], frames[0][0]["tid"])
        collections = [event["ts"] for event in events if event["name"] == "MajorGC"]
        self.undisturbed = [
            cost
            for cost, frame in zip(self.work, frames, strict=True)
            if not any(task["ts"] <= ts <= task["ts"] + task["dur"] for task in frame for ts in collections)
        ]
        for event in events:
            if event["ph"] == "X" and (event["pid"], event["tid"]) == thread and event["name"] in PARTS:
                part = PARTS[event["name"]]
                self.costs[part] = self.costs.get(part, 0) + event.get("tdur", 0) / 1000 / len(frames)


def read_frames(events: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The tasks of the page's main thread, frame by frame: events, scripts, style, layout and paint.

    A frame's tasks are those from the one that begins it to the one that begins the next.
    """
    drawn = Counter((event["pid"], event["tid"]) for event in events if event["name"] == BEGINS)
    thread = drawn.most_common(1)[0][0]  # the page's own thread draws most
    own = sorted((e for e in events if (e["pid"], e["tid"]) == thread), key=lambda event: event["ts"])
    marks = [event["ts"] for event in own if event["name"] == BEGINS]
    frames: list[list[dict[str, Any]]] = []
    at = 0
    for task in own:
        if task["name"] != "RunTask" or task["ph"] != "X":
            continue
        if at < len(marks) and marks[at] <= task["ts"] + task.get("dur", 0):
            while at < len(marks) and marks[at] <= task["ts"] + task.get("dur", 0):
                at += 1
            frames.append([])
        if frames:
            frames[-1].append(task)
    return [frame for frame in frames if frame]


@contextmanager
def show_screen() -> Iterator[Screen]:
    """A JupyterLab of its own with an empty page, until the block ends."""
    home = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        with start_lab(home / "lab") as lab, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
            traffic = Traffic(browser)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(60_000)
            devtools = page.context.new_cdp_session(page)
            devtools.send("Performance.enable")
            yield Screen(page, lab, devtools, traffic)
            browser.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def open_page(screen: Screen, path: Path) -> float:
    """Milliseconds from the order to open a file, with no network, to the frame that shows its handle."""
    page = screen.page.context.browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})  # type: ignore[union-attr]
    try:
        page.context.set_offline(True)
        page.add_init_script(f"({TOOLS})(); window.opened = window.bench.until(window.bench.shown)")
        page.goto(path.as_uri())
        return float(page.evaluate("window.opened"))
    finally:
        page.context.close()


def open_empty(screen: Screen, name: str, code: str) -> None:
    """Load a notebook with one cell that is not yet run; its kernel is up."""
    open_notebook(screen.page, screen.lab, screen.lab.write_notebook(name, code))
    screen.tools()
