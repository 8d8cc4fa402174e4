"""The gates of the workbench, in a real JupyterLab and a real Chromium: each figure beside its gate.

An opening has a fresh kernel, with the package imported, as after any first cell. Times are from the order
to the frame that shows the result. A frame's work is the page's main thread's processor time, JupyterLab's
own included, while the hand drags the cut and the kernel is held still; the press that begins it is left
out, as it makes JupyterLab restyle the panel that it activates. MB are 1,000,000 bytes.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from bench_count import clock
from outside import REAL, Missing, claude_session
from screen import READY, Screen, open_empty, open_page, show_screen

from inspector.workbench.page.export import export_html

ROUNDS = 20
KNOB = "keep-recent-tokens.tokens"
AGAIN = 0.5  # seconds until the picture of a document that was opened before
READ = 3_000  # milliseconds in which the file behind a picture is read, so that nothing is left to do of it
PARTS_OF_DRAG = 240  # moves of the mouse


class Gate(NamedTuple):
    """One figure, and what it must stay below; None where nothing was promised."""

    what: str
    measured: float
    unit: str
    limit: float | None = None
    more: str = ""

    @property
    def met(self) -> bool:
        return self.limit is None or self.measured < self.limit

    def show(self, number: float) -> str:
        fine = self.unit == "s" or (self.unit == "MB" and number < 10)
        return f"{number:,.2f} {self.unit}" if fine else f"{number:,.0f} {self.unit}".rstrip()


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, the 95th of a hundred, and the largest."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1) + 0.5)], ordered[-1]


def measure_openings(screen: Screen, first: float) -> Iterator[Gate]:
    seconds = []
    for _ in range(ROUNDS):
        screen.call("restart", READY)
        seconds.append(screen.call("open") / 1000)
    median, late, _ = spread(seconds)
    yield Gate("open to first paint, median", median, "s", first, f"p95 {late:.2f} s of {ROUNDS}")
    exact = screen.call("opened") / 1000
    yield Gate("  … until the exact counts are in", exact, "s", None, "once")


def measure_rule(screen: Screen) -> Iterator[Gate]:
    # A workbench opens on what the file records: rules are changed of a policy, on their own tab.
    screen.call("run", "wb.policy, wb.tab = 'flue', 'rules'")
    screen.page.get_by_test_id(f"knob-{KNOB}").wait_for()
    times = [screen.call("set", KNOB, 12_000 + 997 * i) for i in range(ROUNDS + 1)][1:]
    median, late, _ = spread(times)
    yield Gate("change a rule to redrawn screen, p95", late, "ms", 100, f"median {median:.0f} ms of {ROUNDS}")


def press(screen: Screen, name: str) -> float:
    """Take a handle; where on the page, from above."""
    page = screen.page
    handle = page.get_by_test_id(name)
    handle.scroll_into_view_if_needed()
    grip = handle.bounding_box()
    assert grip is not None
    y = grip["y"] + grip["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, y)
    page.mouse.down()
    page.wait_for_timeout(200)
    return y


def drag(screen: Screen, y: float, moves: int) -> None:
    """Take the handle, which is held, to the left end, to the right and back, and let go."""
    page = screen.page
    box = page.get_by_test_id("lanes").bounding_box()
    assert box is not None
    for x in (box["x"] + 130, box["x"] + box["width"] - 6, box["x"] + 0.6 * box["width"]):
        page.mouse.move(x, y, steps=moves // 3)
    page.mouse.up()


def measure_drag(screen: Screen) -> Iterator[Gate]:
    cut, start = ("the cut", "cut-handle"), ("the beginning", "start-handle")
    for (what, handle), name, limit, held in (
        (cut, "no kernel", 12, screen.kernel_held),
        (cut, "with its answers", None, nullcontext),
        (start, "no kernel", 12, screen.kernel_held),
        (start, "with its answers", None, nullcontext),
    ):
        y = press(screen, handle)
        with held(), screen.trace() as trace:
            drag(screen, y, PARTS_OF_DRAG)
        screen.call("settle")
        median, late, worst = spread(trace.work)
        split = ", ".join(f"{part} {cost:.1f}" for part, cost in trace.costs.items())
        collected = len(trace.work) - len(trace.undisturbed)
        more = (
            f"p95 {late:.1f}, median {median:.1f} ms of {len(trace.work)}; {split}; longest "
            f"outside garbage collection ({collected} frames left out) {max(trace.undisturbed):.1f}"
        )
        yield Gate(f"drag {what}, {name}: longest frame", worst, "ms", limit, more)
        yield Gate("  … by the clock", max(trace.wall), "ms", None, f"p95 {spread(trace.wall)[1]:.1f} ms")


def measure_sizes(screen: Screen, idle: float, lab: float) -> Iterator[Gate]:
    nodes = screen.call("nodes")
    screen.call("unfold")
    yield Gate("DOM nodes", max(nodes, screen.call("nodes")), "", 1_500, f"at first {nodes:,}")
    heap = screen.heap()
    yield Gate("JavaScript heap, the whole page", heap, "MB", 80, f"JupyterLab alone {lab:.0f} MB")
    held, most = screen.kernel_memory()
    yield Gate("kernel over its idle size", held - idle, "MB", 350, f"idle {idle:.0f} MB, peak {most:.0f} MB")


def measure_notebook(screen: Screen, path: Path, first: float) -> Iterator[Gate]:
    open_empty(screen, f"{path.stem}.ipynb", f"wb = inspector.Workbench({str(path)!r})\nwb")
    screen.call("run", "import os")
    idle, lab = screen.kernel_memory()[0], screen.heap()
    yield from measure_openings(screen, first)
    yield from measure_rule(screen)
    yield from measure_drag(screen)
    yield from measure_sizes(screen, idle, lab)


def measure_document(screen: Screen, path: Path, opened: float) -> Iterator[Gate]:
    """The file opened by JupyterLab's file browser, over the server's routes: no kernel. At first as one that
    was never opened, then again, when a large file's first picture is kept."""
    name = f"{path.stem}.session.jsonl"
    shutil.copy(path, screen.lab.notebooks / name)
    screen.page.goto(screen.lab.url())
    screen.page.wait_for_selector(".jp-DirListing-item")
    screen.tools()
    times = []
    for _ in range(ROUNDS + 1):
        shutil.rmtree(
            screen.lab.log.parent / "cache" / "compaction-inspector" / "pictures", ignore_errors=True
        )
        times.append(screen.call("openDocument", name) / 1000)
    median, late, _ = spread(times[1:])
    more = f"p95 {late:.2f} s of {ROUNDS}; the first after the server's start {times[0]:.2f} s"
    yield Gate("open as a document, median", median, "s", opened, more)
    times = []
    for _ in range(ROUNDS):
        screen.page.wait_for_timeout(READ)
        times.append(screen.call("openDocument", name) / 1000)
    median, late, _ = spread(times)
    yield Gate("open the document again, median", median, "s", AGAIN, f"p95 {late:.2f} s of {ROUNDS}")


def measure_export(screen: Screen, path: Path) -> Iterator[Gate]:
    page = screen.lab.notebooks / "page.html"
    took = clock(lambda: export_html(path, page))
    size = page.stat().st_size
    yield Gate("exported page", size / 1e6, "MB", 0.6, f"{size:,} bytes, written in {took:.1f} s")
    median, late, _ = spread([open_page(screen, page) / 1000 for _ in range(ROUNDS)])
    yield Gate("open the exported page, median", median, "s", None, f"p95 {late:.2f} s of {ROUNDS}")


def measure(screen: Screen, path: Path, first: float, opened: float) -> Iterator[Gate]:
    yield from measure_notebook(screen, path, first)
    yield from measure_document(screen, path, opened)
    if path == REAL:
        yield from measure_export(screen, path)
    strangers = screen.traffic.take_strangers()
    yield Gate("requests to other hosts", len(strangers), "", 1, ", ".join(strangers[:3]))


def sessions() -> Iterator[tuple[str, Callable[[], Path], float, float]]:
    """What is opened, and in how many seconds in a cell and as a document at most."""
    yield "real session of 3.9 MB, 3 compactions", _real, 0.3, 0.25
    yield "100 MB, 32,000 records, 137 compactions", lambda: claude_session(100), 1.2, 1.5


def _real() -> Path:
    if not REAL.exists():
        raise Missing("it is not beside this checkout")
    return REAL


def run() -> Iterator[tuple[str, str]]:
    told: list[tuple[str, Gate]] = []
    for name, find, first, opened in sessions():
        try:
            path = find()
        except Missing as reason:
            yield name, f"not measured: {reason}"
            continue
        yield name, ""
        with show_screen() as screen:
            for gate in measure(screen, path, first, opened):
                told.append((name, gate))
                yield f"  {gate.what}", gate.show(gate.measured) + (f"; {gate.more}" if gate.more else "")
    yield "", ""
    yield "gate", "measured / gate, met"
    for name, gate in told:
        if gate.limit is not None:
            verdict = "met" if gate.met else "MISSED"
            limit = "0" if gate.limit == 1 else f"< {gate.show(gate.limit)}"
            yield f"{name[:22]}: {gate.what}", f"{gate.show(gate.measured)} / {limit}, {verdict}"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<70} {value}", flush=True)
