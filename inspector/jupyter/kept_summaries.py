"""Summaries that were written in a document, kept over a restart of the server."""

from __future__ import annotations

from ..session.session import Session
from ..workbench.written_summaries import WrittenSummary, dump_written, load_written
from .kept_files import KeptFiles

KEPT = KeptFiles("written", ".json", 8_000_000)


def read_kept(path: str, session: Session) -> tuple[WrittenSummary, ...]:
    """The summaries kept for the session in the file at `path`, as far as they still fit it."""
    kept = KEPT.read(path)
    return load_written(kept, session) if kept else ()


def write_kept(path: str, written: tuple[WrittenSummary, ...]) -> None:
    """Keep these summaries, and no others, for the session in the file at `path`."""
    KEPT.write(path, dump_written(written).encode("ascii") if written else b"")
