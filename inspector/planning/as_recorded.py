"""The compaction that a file records right after a moment, as a plan needs it: its cut and its summary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cuts import CutPoints
from ..errors import PolicyError
from ..policies.builtin.recorded import RECORDED
from ..policies.rules.carry_file_operations import CarryFileOperations, collect
from ..policies.table import Table
from ..session.entries import Entry
from ..session.queries import find_next_compaction
from ..session.session import Session
from ..text import brief
from .summary_jobs import Checkpoint


class RecordedCut(NamedTuple):
    """A recorded compaction: its entry, and the place of its cut among the live blocks before it.

    Where the file keeps from a place that no provider takes, `place` is the nearest legal one.
    """

    entry: Entry
    place: int | None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The summary that the file holds; None where it is sealed or missing."""
        words = self.entry.text.strip()
        if not words:
            return None
        return Checkpoint(text=words, by=f"the file ({brief(self.entry.id)})", deterministic=True)

    def write_up(self, table: Table, place: int) -> Checkpoint | None:
        """The same, with the lists of files that an edit makes the plan add to a summary."""
        written, rule = self.checkpoint, table.sibling(CarryFileOperations.model_fields["kind"].default)
        if written is None or rule is None:
            return written
        return written.model_copy(update={"text": written.text + collect(table, place).text()})


def find_recorded(session: Session, cuts: CutPoints) -> RecordedCut:
    """The compaction that a file records right after a session's leaf; of several the first.

    `cuts` are those of the session. Raises `PolicyError` where there is none.
    """
    entry = find_next_compaction(session)
    if entry is None:
        raise PolicyError(RECORDED.name, "the file records no compaction right after this moment")
    place = _find_place(session, entry)
    return RecordedCut(entry, place if cuts.legal[place] else cuts.nearest(place))


def _find_place(session: Session, entry: Entry) -> int:
    """Where what is kept begins: at the entry that the file names, or at the last run of those it lists."""
    live, index, boundary = session.live, session.tree.index, entry.boundary
    if boundary is None:
        return len(live)
    if boundary.first_kept in index:
        at = np.flatnonzero(live.entries == index[boundary.first_kept])
        return int(at[0]) if len(at) else len(live)
    listed = {index[name] for name in boundary.kept if name in index}
    place = len(live)
    while place and int(live.entries[place - 1]) in listed:
        place -= 1
    return place
