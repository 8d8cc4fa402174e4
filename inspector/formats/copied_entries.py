"""Mark entries that were copied from another session, for instance by a fork.

A copied entry keeps its usage, which is the size of a request, and names the session that it was copied from.
The request is in the bill of that session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from ..session.entries import Entry
from ..text import plural


def read_time(stamp: str | None) -> float | None:
    """Return the seconds since 1970; None if the text is not a time.

    >>> read_time("1970-01-01T00:01:00Z"), read_time("yesterday")
    (60.0, None)
    """
    try:
        return None if stamp is None else datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError):
        return None


def mark_until(entries: Iterable[Entry], stamp: str | None, origin: str) -> list[Entry]:
    """Mark the entries up to a point in time as copied from the session `origin`."""
    end = read_time(stamp)
    return [
        entry.model_copy(update={"copied_from": origin})
        if end is not None and (time := read_time(entry.timestamp)) is not None and time <= end
        else entry
        for entry in entries
    ]


def warn_of_copies(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a warning with the number of copied requests for each session."""
    counts = Counter(entry.copied_from for entry in entries if entry.copied_from and entry.usage is not None)
    for origin, count in counts.items():
        copied = plural(count, "request is", "requests are")
        yield f"it is a fork: {copied} copied from session {origin:.60} and charged there"
