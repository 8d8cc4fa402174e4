"""Summaries that were written in a document, kept over a restart of the server.

They lie in the user's cache folder, a file for each session's path, which nobody else may read: a summary
says what the session said. Losing them costs no more than writing them again, so an error is no error.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from ..files import write_whole
from ..session.session import Session
from ..workbench.written_summaries import WrittenSummary, dump_written, load_written

MOST_BYTES = 8_000_000
"""A larger file is no file of ours."""


def read_kept(path: str, session: Session) -> tuple[WrittenSummary, ...]:
    """The summaries kept for the session in the file at `path`, as far as they still fit it."""
    place = _find_place(path)
    with suppress(OSError):
        if place.stat().st_size <= MOST_BYTES:
            return load_written(place.read_bytes(), session)
    return ()


def write_kept(path: str, written: tuple[WrittenSummary, ...]) -> None:
    """Keep these summaries, and no others, for the session in the file at `path`."""
    place = _find_place(path)
    with suppress(OSError):
        if not written:
            place.unlink(missing_ok=True)
            return
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not place.exists():
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600))
        write_whole(place, dump_written(written).encode("ascii"))


def _find_place(path: str) -> Path:
    name = sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()
    return user_cache_path("compaction-inspector") / "written" / f"{name}.json"
