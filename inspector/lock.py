"""DOOR: one writer at a time in a folder. The lock ends with its process, however that ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import WriteConflict

NAME = ".lock"


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep other writers out of a folder. Raises `WriteConflict` at once when one is in it."""
    handle = os.open(folder / NAME, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        try:
            _take(handle)
        except OSError:
            raise WriteConflict(str(folder), "another writer is at work there") from None
        yield
    finally:
        # Closing it gives it back. The file stays: removing it would let two in at once.
        os.close(handle)


def _take(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
