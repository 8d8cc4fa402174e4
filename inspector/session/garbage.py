"""Python's search for garbage in circles, held off while a session is read and first looked at."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MUCH = 20_000
"""Objects made by one reading, from which on collecting among them is felt: a hundredth of a second."""


@contextmanager
def paused_gc() -> Iterator[None]:
    """No garbage collection meanwhile: a reader makes many objects and no garbage in cycles.

    Of much that was made then, all counts as old, so that the next collection does not walk through it.
    """
    was_on, before = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        yield
    finally:
        # The count of what is frozen is itself a walk through it, so it is not asked for a small file,
        # whatever else was made since the last collection.
        if gc.get_count()[0] - before > MUCH and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_on:
            gc.enable()
