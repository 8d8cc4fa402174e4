"""Steps of Flue that the package takes elsewhere or not at all: what a summariser is shown, and a retry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from inspector.errors import EditError
from inspector.planning.summary_jobs import SummaryJob
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.compaction import RETRY, CompactionResult
from inspector.summaries.material import job_text


def request_text(session: Session, job: SummaryJob) -> str:
    """What the summariser is shown before its instructions (FLUE §10.2)."""
    text = f"<conversation>\n{job_text(session, job)}\n</conversation>\n\n"
    if job.previous:
        text += f"<previous-summary>\n{job.previous}\n</previous-summary>\n\n"
    return text


def append_retry(result: CompactionResult, entries: Iterable[Entry]) -> CompactionResult:
    """The same with what the retried request brought, after the compaction, marked as a retry's (S4-64).

    Raises `EditError` for a compaction after which nothing is retried, and for a name that is taken.
    """
    if not result.retries:
        raise EditError("retry", result.entry or "", result.why or "no request was refused")
    session = result.after
    brought: list[Entry] = []
    names, parent = set(session.index), session.leaf
    for entry in entries:
        if entry.id in names:
            raise EditError("retry", entry.id, "the session already has an entry of this name")
        marked = {"parent": parent, "extra": {**entry.extra, "source": RETRY}}
        brought.append(entry.model_copy(update=marked))
        names.add(entry.id)
        parent = entry.id
    fields = {name: getattr(session, name) for name in Session.model_fields}
    fields |= {"entries": (*session.entries, *brought), "leaf": parent}
    return replace(result, after=Session.model_construct(**fields))
