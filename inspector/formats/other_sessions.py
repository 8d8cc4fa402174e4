"""Entries that belong to two sessions: copies from another one, and entries of a sub-agent's own file.

A copied entry, for instance of a fork, keeps its usage, which is the size of a request, and names the session
that it was copied from. The request is in the bill of that session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from ..session.entries import Boundary, Entry
from ..session.session import Session
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


def set_apart(agent: Session, id: str, prefix: str = "", known_ids: Collection[str] = ()) -> Iterator[Entry]:
    """Yield the entries of a sub-agent's session, each on the sidechain `id`, with prefixed ids.

    Their sources are removed, because their rows are in another file. `prefix` is by default `id`. Entries
    of `known_ids` are left out: the parent session contains them.
    """
    prefix, known_ids = prefix or id, frozenset(known_ids)
    entries = [entry for entry in agent.entries if known_ids.isdisjoint((entry.id, *entry.aliases))]
    here = {name for entry in entries for name in (entry.id, *entry.aliases)}

    def rename(own: str | None) -> str | None:
        return f"{prefix}/{own}" if own is not None and own in here else None

    for entry in entries:
        yield entry.model_copy(
            update={
                "id": f"{prefix}/{entry.id}",
                "parent": rename(entry.parent),
                "aliases": tuple(_rename_all(entry.aliases, rename)),
                "sidechain": entry.sidechain or id,
                "boundary": entry.boundary and _move(entry.boundary, rename),
                "sources": (),
            }
        )


def _move(boundary: Boundary, rename: Callable[[str | None], str | None]) -> Boundary:
    kept_ids = tuple(_rename_all(boundary.kept, rename))
    return boundary.model_copy(update={"kept": kept_ids, "first_kept": rename(boundary.first_kept)})


def _rename_all(names: Iterable[str], rename: Callable[[str | None], str | None]) -> Iterator[str]:
    return (new for name in names if (new := rename(name)) is not None)
