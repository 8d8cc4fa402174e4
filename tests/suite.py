"""Every check and every test: `python tests/suite.py [GROUP or STEP ...]`.

The browser's tests run first, then the others: `slow` are those of `slow.txt` and of servers.
They wait a fifth of their time, for pages, kernels and other processes, so they have one process more than
there are cores. The steps that keep one core busy run at the same time with lower priority, and print when
they end. No test judges time, so no test needs to run alone, and none is run again. A failing step does not
hide the next one. The last line adds everything up: a tool's tests one by one, a check that only says yes or
no as one.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from quick_imports import lean_environment

ROOT = Path(__file__).resolve().parents[1]
PYTEST = (sys.executable, "-m", "pytest", "-q", "--tb=short")
NBVAL = (
    *("-p", "tests.kernels", "--nbval", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg"),
    *("--nbval-kernel-startup-timeout", "180"),  # seconds, on a machine that others share
    "--ignore-glob=notebooks/*.py",  # what builds the documentation
)
SPHINX = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", "dist/.doctrees", "-b", "html")
BARE = ("-p", "no:nbval")  # a second of imports in each process
CORES = min(2, os.cpu_count() or 1)
MOST = 1 + CORES  # processes that share tests out, or steps side by side
SPREAD = ("-n", str(MOST), "--dist")
# The tests of a file share servers and pages, those of JupyterLab one server: tests/browser/conftest.py.
ORDERED = ("--no-loadscope-reorder",)
UNIT = (*PYTEST, *BARE, *SPREAD, "worksteal")
LIMIT = 4200  # seconds; a step that hangs is ended
MODEST = ("nice", "-n", "10")  # a step that takes what another one leaves


class Step(NamedTuple):
    """One command.

    If `tests` is set, its output counts tests, and no test at all is a failure. If `spread` is set, it uses
    all cores, and no other such step runs at the same time.
    """

    group: str
    name: str
    command: tuple[str, ...]
    folder: str = "."
    tests: bool = False
    spread: bool = False


# The longest first, so that the others fit beside it.
STEPS = (
    Step("lint", "mypy", (sys.executable, "-m", "mypy")),
    Step("notebooks", "nbval", (*PYTEST, *NBVAL, "notebooks"), tests=True),
    Step("lint", "ruff format", (sys.executable, "-m", "ruff", "format", "--check", "--quiet")),
    Step("lint", "ruff check", (sys.executable, "-m", "ruff", "check", "--quiet")),
    Step("lint", "biome", ("npm", "run", "--silent", "lint"), "js"),
    Step("lint", "tsc", ("npm", "run", "--silent", "typecheck"), "js"),
    Step("docs", "sphinx", (*SPHINX, "notebooks", "dist/site")),
    Step("lint", "checklist", (sys.executable, "-m", "tests.checklist")),
    Step("front", "vitest", ("npm", "run", "--silent", "test"), "js", tests=True),
    # Playwright keeps an event loop running, so its tests have processes of their own.
    Step(
        "browser",
        "playwright",
        (*PYTEST, *BARE, *SPREAD, "loadscope", *ORDERED, "tests/browser"),
        tests=True,
        spread=True,
    ),
    Step("unit", "pytest", (*UNIT, "-m", "not slow"), tests=True, spread=True),
    Step("slow", "pytest", (*UNIT, "-m", "slow"), tests=True, spread=True),
)
# Both together are run as one, so that modules are imported once and no core waits for the first to end.
ALL_UNIT = Step("unit", "pytest", UNIT, tests=True, spread=True)

COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
PYTEST_LINE = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.:]+ ?s?")
VITEST_LINE = re.compile(r"^\s*Tests\s+(.*)\(\d+\)")


class Outcome(NamedTuple):
    """The result of a step."""

    step: Step
    seconds: float
    passed: int
    failed: int
    skipped: int


def tally(lines: list[str]) -> tuple[int, int, int]:
    """Passed, failed and skipped in a test runner's last summary line."""
    for line in reversed(lines):
        plain = COLOUR.sub("", line)
        found = PYTEST_LINE.match(plain) or VITEST_LINE.match(plain)
        if found:
            counts = dict.fromkeys(("passed", "failed", "error", "errors", "skipped", "xfailed"), 0)
            counts |= {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", found[1])}
            failed = counts["failed"] + counts["error"] + counts["errors"]
            return counts["passed"] + counts["xfailed"], failed, counts["skipped"]
    return 0, 0, 0


_under_way: set[subprocess.Popen[str]] = set()


def run(step: Step) -> Outcome:
    """Run one step. A long one says what it says line by line, any other when it is over."""
    long = step.spread
    start = time.monotonic()
    environment = dict(os.environ, **({"FORCE_COLOR": "1"} if sys.stdout.isatty() else {"NO_COLOR": "1"}))
    heading = f"\n== {step.group}: {step.name}\n"
    if long:
        print(heading, end="", flush=True)
    process = subprocess.Popen(
        step.command,
        cwd=ROOT / step.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    _under_way.add(process)
    watch = threading.Timer(LIMIT, lambda: os.killpg(process.pid, signal.SIGKILL))
    watch.start()
    assert process.stdout is not None
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            if long:
                print(line, end="", flush=True)
        code = process.wait()
    finally:
        watch.cancel()
        _under_way.discard(process)
    passed, failed, skipped = tally(lines) if step.tests else (int(code == 0), 0, 0)
    told = [] if long else [heading, *lines]
    if step.tests and not passed + failed:
        told.append("no test ran\n")
        failed = 1
    if code and not failed:
        failed = 1
    seconds = time.monotonic() - start
    told.append(f"   {'failed' if failed else 'passed'} in {seconds:.1f} s\n")
    print("".join(told), end="", flush=True)  # in one piece, between two lines of a long step
    return Outcome(step, seconds, passed, failed, skipped)


def run_all(steps: list[Step]) -> Iterator[Outcome]:
    """Run the steps that are spread one after the other, and beside them the others, some at a time."""
    spread = [step for step in steps if step.spread]
    light = [step for step in steps if not step.spread]
    if spread:
        light = [step._replace(command=(*MODEST, *step.command)) for step in light]
    pool = ThreadPoolExecutor(MOST)
    try:
        beside = pool.map(run, light)
        done = [run(step) for step in spread]
        yield from beside
        yield from done
    finally:
        for process in tuple(_under_way):
            os.killpg(process.pid, signal.SIGTERM)
        pool.shutdown(cancel_futures=True)


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - {word for step in STEPS for word in (step.group, step.name)}
    if unknown:
        known = ", ".join(dict.fromkeys(step.group for step in STEPS))
        print(f"no step is called {', '.join(sorted(unknown))}; there are: {known}")
        return 2
    chosen = [step for step in STEPS if not wanted or {step.group, step.name} & set(wanted)]
    if {"unit", "slow"} <= {step.group for step in chosen}:
        chosen = [step for step in chosen if step.group not in ("unit", "slow")] + [ALL_UNIT]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        # Of all processes: notebooks, documentation and whatever a test starts read schemas too.
        lean = lean_environment(Path(folder))
        os.environ.clear()
        os.environ.update(lean)
        outcomes = list(run_all(chosen))
    print("\n== all together")
    for outcome in outcomes:
        mark = "FAILED" if outcome.failed else "passed"
        print(f"   {outcome.step.group:9} {outcome.step.name:12} {mark}  {outcome.seconds:6.1f} s")
    passed, failed, skipped = (sum(outcome[at] for outcome in outcomes) for at in (2, 3, 4))
    print(f"   {'':22} {'':6}  {time.monotonic() - start:6.1f} s\n")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
