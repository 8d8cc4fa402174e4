"""Summaries that were written in a document, stored so that they survive a restart of the server."""

from __future__ import annotations

from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..session.session import Session
from ..workbench.written_summaries import WrittenSummary, load_written, update_written
from .kept_files import KeptFiles

KEPT = KeptFiles("written", ".json", 32_000_000)
"""The longest text that may be pasted fits, however it is escaped."""


def read_kept(path: str, session: Session) -> tuple[WrittenSummary, ...]:
    """Return the summaries stored for the session in the file at `path`, as far as they still fit it."""
    content = KEPT.read(path)
    return load_written(content, session) if content else ()


def keep_summary(path: str, plan: Plan, checkpoint: Checkpoint | None) -> None:
    """Store the summary written for a plan of the session in the file at `path`, or remove it with None.

    The same session may be open in several documents: the summaries that others have stored stay.
    """

    def change(content: bytes) -> bytes:
        return update_written(content, plan, checkpoint, KEPT.most_bytes).encode("ascii")

    KEPT.update(path, change)
