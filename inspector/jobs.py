"""What a summariser is asked to write for a cut: the history, and a split turn's beginning apart.

The order and the limits are Flue's (FLUE §7, §10.3): a turn's beginning gets no previous summary, and a
history that is empty is not asked for.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .blocks import BlockRef
from .live import Bools
from .session import Entry
from .summary import SummaryJob
from .table import Summary, Table

Kind = Literal["initial", "update", "turn_prefix"]


def list_jobs(
    table: Table, spec: Summary, place: int, split: int, summarised: Bools
) -> tuple[SummaryJob, ...]:
    """The jobs of a cut at `place`.

    `split` is where the turn begins that the cut splits, or -1. `summarised` (bool[m]) tells the blocks to
    be written up; older ones that are not, such as pins, are left out of their entry's text.
    """
    session, live = table.session, table.live
    names = [session.entries[i].id for i in live.entries.tolist()]
    left = np.flatnonzero((live.position < place) & ~summarised)
    by_entry: dict[int, list[str]] = {}
    for row, position in zip(left.tolist(), live.position[left].tolist(), strict=True):
        by_entry.setdefault(position, []).append(str(BlockRef(names[position], int(live.block[row]))))

    def job(
        kind: Literal["initial", "update", "turn_prefix"],
        first: int,
        last: int,
        limit: int,
        previous: str | None,
    ) -> SummaryJob:
        leave_out = tuple(ref for position in range(first, last) for ref in by_entry.get(position, ()))
        return SummaryJob(
            kind=kind,
            entries=tuple(names[first:last]),
            leave_out=leave_out,
            max_tokens=limit,
            previous=previous,
        )

    previous = _previous(session.entries[live.entries[0]]) if live.summary == 0 else None
    history_end = place if split < 0 else split
    jobs = []
    if split < 0 or history_end > table.start:
        kind: Kind = "update" if previous else "initial"
        jobs.append(job(kind, table.start, history_end, spec.max_tokens, previous))
    if split >= 0:
        jobs.append(job("turn_prefix", split, place, spec.prefix_max_tokens, None))
    return tuple(jobs)


def _previous(entry: Entry) -> str:
    told = entry.boundary.summary if entry.boundary is not None else None
    return told if told is not None else entry.text
