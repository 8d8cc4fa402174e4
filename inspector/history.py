"""A session's whole life as columns: how full the context was at every step, compactions included.

The unit is the step: one request with its tool outputs. In go a session and its ledger, out comes a
`History` over the path from the root to the leaf, through every recorded compaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .ledger import Ledger
from .live import Ints
from .session import Session
from .tree import ASSISTANT, COMPACTION, NOTE


class Segment(NamedTuple):
    """A stretch between two recorded compactions. `at` is its last entry; `tokens` what stood there."""

    first_step: int
    last_step: int
    first_turn: int
    last_turn: int
    at: str
    tokens: int


class Mark(NamedTuple):
    """A recorded compaction on the path: the step it happened before, and the file's own figures."""

    step: int
    entry: str
    kind: str
    trigger: str | None
    before: int | None
    after: int | None


@dataclass(frozen=True, eq=False)
class History:
    """Columns over k steps of the path, and what was found along it.

    step       int32[p]  path position -> step
    turn       int32[k]  turn of each step, 0-based
    estimated  int32[k]  tokens in the context at the end of the step, by the ledger's counter
    reported   int32[k]  the same by the provider's last usage in the step, -1 where there is none
    """

    step: Ints
    turn: Ints
    estimated: Ints
    reported: Ints
    segments: tuple[Segment, ...]
    marks: tuple[Mark, ...]

    @property
    def fullest(self) -> Segment | None:
        """The segment that ends with the most tokens; the last of equals."""
        return max(reversed(self.segments), key=lambda segment: segment.tokens, default=None)


def trace_history(session: Session, ledger: Ledger) -> History:
    """Walk the path once. Linear in its entries."""
    tree, entries, path = session.tree, session.entries, np.array(session.path, np.int32)
    role, sort, opens = tree.role[path], tree.sort[path], tree.opens[path]
    begins = opens | (role == ASSISTANT) | (sort == COMPACTION)
    begins[:1] = True
    step = np.cumsum(begins, dtype=np.int32) - 1
    last = np.append(np.flatnonzero(begins), len(path))[1:] - 1
    turn = np.maximum(np.cumsum(opens, dtype=np.int32)[begins] - 1, 0)
    cuts = np.flatnonzero(sort == COMPACTION).tolist()
    full = _full(session, ledger, path, cuts)
    estimated = full[last]
    reported = np.full(len(turn), -1, np.int32)
    for at in np.flatnonzero(role == ASSISTANT).tolist():
        usage = entries[path[at]].usage
        if usage is not None and (tokens := usage.tokens) > 0:
            reported[step[at]] = int(tokens)
    segments = []
    for first, end in zip([0, *cuts], [*cuts, len(path)], strict=True):
        if end > first:
            a, b = int(step[first]), int(step[end - 1])
            most = max(int(reported[b]), int(full[end - 1]))
            segments.append(Segment(a, b, int(turn[a]), int(turn[b]), entries[path[end - 1]].id, most))
    return History(
        step=step,
        turn=turn,
        estimated=estimated,
        reported=reported,
        segments=tuple(segments),
        marks=tuple(_marks(session, path, step)),
    )


def _full(session: Session, ledger: Ledger, path: Ints, cuts: list[int]) -> Ints:
    """int32[p]: tokens in the context after each entry of the path.

    A compaction throws away what stands before the first entry it kept: from then on, that much less is
    in the context.
    """
    index, sums = session.index, np.zeros(len(path) + 1, np.int64)
    np.cumsum(np.where(session.tree.sort[path] == NOTE, 0, ledger.entry_tokens[path]), out=sums[1:])
    where = {i: at for at, i in enumerate(path.tolist())} if cuts else {}
    gone = np.zeros(len(path), np.int64)
    for at, end in zip(cuts, [*cuts[1:], len(path)], strict=False):
        boundary = session.entries[path[at]].boundary
        kept = where.get(index.get(boundary.first_kept or "", -1), at) if boundary is not None else at
        gone[at:end] = sums[min(kept, at)]
    return (ledger.head_tokens + sums[1:] - gone).astype(np.int32)


def _marks(session: Session, path: Ints, step: Ints) -> Iterator[Mark]:
    for at in np.flatnonzero(np.isin(path, session.tree.bounded)).tolist():
        entry = session.entries[path[at]]
        told = entry.boundary
        if told is not None:
            before, after = _int(told.tokens_before), _int(told.tokens_after)
            yield Mark(int(step[at]), entry.id, told.kind, told.trigger, before, after)


def _int(value: float | None) -> int | None:
    return None if value is None else int(value)
