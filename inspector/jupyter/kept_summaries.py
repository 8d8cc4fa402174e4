"""Summaries that were written in a document, stored so that they survive a restart of the server."""

from __future__ import annotations

from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..session.session import Session
from ..workbench.written_summaries import WrittenSummary, load_written, update_written
from .kept_files import KeptFiles

STORE = KeptFiles("written", ".json", 32_000_000)
"""Large enough for the longest text that may be pasted, with every character escaped."""


def read_kept(path: str, session: Session) -> tuple[WrittenSummary, ...]:
    """Return the stored summaries of the session in the file at `path` whose entries are unchanged."""
    content = STORE.read(path)
    return load_written(content, session) if content else ()


def keep_summary(path: str, plan: Plan, checkpoint: Checkpoint | None) -> None:
    """Store the summary written for a plan of the session in the file at `path`; None removes it.

    The same session may be open in several documents, so summaries stored by others are preserved.
    """

    def change(content: bytes) -> bytes:
        return update_written(content, plan, checkpoint, STORE.most_bytes).encode("ascii")

    STORE.update(path, change)
