"""Measure work without a clock, so that a busy machine changes nothing.

`count_calls` counts what a function calls: the same number on every run. It does not see what one call of a
C function costs, such as a regular expression that backtracks. `limit_work` ends that.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 120
"""Seconds to wait for something that must happen. Only a hang takes that long."""

MUCH = 120
"""Seconds of this process's own processor time that no test needs: a hundred times what most take."""


def count_calls(work: Callable[[], object]) -> int:
    """Return how many functions, Python's and built-in ones, `work` calls in this thread."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    # A collection may call what other tests left behind.
    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return calls


@contextmanager
def limit_work(seconds: int = MUCH) -> Iterator[None]:
    """Raise `TimeoutError` once this process has used so much of the processor: it hangs.

    What other processes do does not count. Without effect if the system has no such timer.
    """

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s of the processor: this hangs")

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def wait_until(is_so: Callable[[], object]) -> None:
    """Wait for a condition that no event announces; fail if it stays false for `PATIENCE` seconds."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
