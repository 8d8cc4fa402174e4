"""What the replies and compactions of a path used, summed as Flue sums it."""

from __future__ import annotations

from inspector.session.entries import Cost, Usage
from inspector.session.session import Session


def add_usage(session: Session, since: str | None = None) -> Usage:
    """The usage of every reply and compaction on the path after an entry: all of it for None (FLUE §11.1).

    What was tried on a branch that was left behind is not on the path and not counted: an under-count of
    what was billed (S4-68, S4-69).
    """
    usages = (
        entry.usage
        for entry in session.path_since(since)
        if entry.usage is not None and (entry.role == "assistant" or entry.kind == "compaction")
    )
    return sum(usages, start=Usage(total=0, cost=Cost()))
