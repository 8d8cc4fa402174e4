"""A session's whole life as columns: how full the context was at every step, compactions included.

The unit is the step: one request with its tool outputs. In go a session and its ledger, out comes a
`History` over the path from the root to the leaf, through every recorded compaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .ledger import Ledger
from .live import Ints
from .session import Session


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
    entries, path = session.entries, session.path
    where = {index: at for at, index in enumerate(path)}
    tokens = ledger.entry_tokens
    steps, turns, estimated, reported = [], [], [], []
    marks: list[Mark] = []
    cuts: list[int] = []
    running, turn, begun = ledger.head_tokens, -1, False
    for at, index in enumerate(path):
        entry = entries[index]
        if entry.opens_turn:
            turn += 1
        begins = entry.opens_turn or entry.role == "assistant" or entry.kind == "compaction"
        if begins or not begun:
            begun = True
            turns.append(max(turn, 0))
            estimated.append(0)
            reported.append(-1)
        if entry.kind == "compaction":
            first = (
                where.get(session.index.get(entry.boundary.first_kept or "", -1), at)
                if entry.boundary
                else at
            )
            running = ledger.head_tokens + int(
                sum(tokens[path[k]] for k in range(first, at) if entries[path[k]].kind != "note")
            )
            cuts.append(at)
        running += int(tokens[index]) if entry.kind != "note" else 0
        if entry.boundary is not None:
            told = entry.boundary
            marks.append(
                Mark(
                    len(turns) - 1,
                    entry.id,
                    told.kind,
                    told.trigger,
                    _int(told.tokens_before),
                    _int(told.tokens_after),
                )
            )
        steps.append(len(turns) - 1)
        estimated[-1] = running
        if entry.role == "assistant" and entry.usage is not None and entry.usage.tokens > 0:
            reported[-1] = int(entry.usage.tokens)
    segments = []
    for first, end in zip([0, *cuts], [*cuts, len(path)], strict=True):
        if end > first:
            a, b = steps[first], steps[end - 1]
            full = max(reported[b], estimated[b])
            segments.append(Segment(a, b, turns[a], turns[b], entries[path[end - 1]].id, full))
    return History(
        step=np.array(steps, np.int32),
        turn=np.array(turns, np.int32),
        estimated=np.array(estimated, np.int32),
        reported=np.array(reported, np.int32),
        segments=tuple(segments),
        marks=tuple(marks),
    )


def _int(value: float | None) -> int | None:
    return None if value is None else int(value)
