"""What files say a compaction had before it, and left, beside what is counted for the same two moments.

Neither side sees the other's figure: before, the product is given the session up to the entry before the
compaction; after, up to the compaction itself and nothing behind it. What a file states comes from many
counters: a provider's usage, a harness's estimate, what is left of a window.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from inspector.errors import InspectorError
from inspector.files import open_session
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.moment import find_moment

from .measure import list_files


class Stated(NamedTuple):
    """One figure that a file states of a compaction, and ours of the same moment, in tokens."""

    file: str
    format: str
    line: int
    kind: str
    moment: str
    stated: int
    ours: int

    @property
    def error(self) -> float:
        """The difference as a share of what is stated."""
        return (self.ours - self.stated) / self.stated


def find_stated(path: Path) -> Iterator[Stated]:
    """Those of every session below a path, in the order of names."""
    for file, name in list_files(path):
        try:
            session = open_session(file)
            yield from _compare(session, name)
        except (InspectorError, OSError):
            continue
        except Exception as error:
            # One file that cannot be measured does not hide what the others say.
            print(f"{name}: cannot be measured: {error!r}", file=sys.stderr)


def _compare(session: Session, name: str) -> Iterator[Stated]:
    path = list(session.path)
    for number, position in enumerate(path):
        entry = session.entries[position]
        if entry.boundary is None or not number:
            continue
        line = entry.sources[0].line if entry.sources else 0
        about = (name, session.format, line, entry.boundary.kind)
        if entry.boundary.tokens_before:
            yield Stated(
                *about, "before", int(entry.boundary.tokens_before), _weigh(session, path[number - 1])
            )
        if entry.boundary.tokens_after:
            yield Stated(*about, "after", int(entry.boundary.tokens_after), _weigh(session, position))


def _weigh(session: Session, last: int) -> int:
    """Tokens of the next request after this entry, of a file that ends there."""
    seen = session.with_entries(session.entries[: last + 1], session.entries[last].id)
    ledger = count_tokens(seen)
    return ledger.count_context(seen) + find_moment(seen, ledger).outside.tokens


def write_stated(stated: Iterable[Stated]) -> Iterator[str]:
    """The table, tab-separated, and its last line."""
    yield "file\tformat\tline\tkind\tmoment\tstated\tours\terror"
    found = list(stated)
    for one in found:
        yield "\t".join((*map(str, one), f"{100 * one.error:+.1f} %"))
    errors = sorted(abs(one.error) for one in found)
    if errors:
        yield f"median {100 * median(errors):.1f} %, worst {100 * errors[-1]:.1f} %, {len(errors)} figures"
