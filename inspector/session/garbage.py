"""Python's search for garbage in circles, held off while a session is read and first looked at."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MUCH = 20_000
"""Objects made by one reading, from which on collecting among them is felt: a hundredth of a second."""

_others_freeze = False
_lock = threading.Lock()


@contextmanager
def paused_gc() -> Iterator[None]:
    """No garbage collection meanwhile: a reader makes many objects and no garbage in cycles.

    Of much that was made then, all counts as old, so that the next collection does not walk through it.
    A process that has frozen objects of its own keeps them so.
    """
    was_on, before = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        yield
    finally:
        # Whatever else was made since the last collection, a small file is no matter.
        if gc.get_count()[0] - before > MUCH:
            _count_as_old()
        if was_on:
            gc.enable()


def _count_as_old() -> None:
    global _others_freeze
    with _lock:
        # To count what is frozen walks through it all, and who freezes once means to keep it so.
        _others_freeze = _others_freeze or gc.get_freeze_count() > 0
        if not _others_freeze:
            gc.freeze()
            gc.unfreeze()
