"""Measure work without a clock, so that a busy machine changes no result.

`count_calls` counts the calls of a function: the same number on every run. It does not measure the work of a
single C function, such as a regular expression that backtracks. `limit_work` stops such a call.
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
"""Seconds to wait for an event that must happen. Only a hang takes this long."""

MUCH = 120
"""Limit of processor time in seconds: a hundred times what most tests take."""


def count_calls(work: Callable[[], object]) -> int:
    """Return the number of calls, of Python and built-in functions, that `work` makes in this thread."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    # A garbage collection may call finalizers of other tests.
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
    """Raise `TimeoutError` if the block uses more than `seconds` of processor time, since it then hangs.

    Other processes do not count. Has no effect on systems without this timer.
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
    """Poll a condition until it is true; fail if it stays false for `PATIENCE` seconds."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
