"""The compaction that a file records right after a moment, as a plan needs it: its cut and its summary."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..cuts import PAIRS, CutPoints
from ..errors import PolicyError
from ..policies.builtin.recorded import RECORDED
from ..policies.rules.carry_file_operations import CarryFileOperations, collect
from ..policies.table import Table
from ..session.entries import Entry
from ..session.queries import find_kept_place, find_moment_before, find_next_compaction, is_sealed
from ..session.session import Session
from ..text import brief
from ..tokens.recorded_sizes import find_sealed_summary
from .summary_jobs import Checkpoint


class RecordedCut(NamedTuple):
    """A recorded compaction: its entry, and the place of its cut among the live blocks before it.

    `place` is the file's own, also if providers refuse what it keeps because it parts calls from their
    outputs; if it is invalid for another reason, it is the nearest valid one. `since` is the place from which
    on it summarised, if its summary follows the beginning of the context, which it kept.
    """

    entry: Entry
    place: int | None
    since: int = 0

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The summary that the file holds; None if it is encrypted or missing."""
        words = self.entry.text.strip()
        if not words:
            return None
        return Checkpoint(text=words, by=f"the file ({brief(self.entry.id)})", deterministic=True)

    def size_sealed(self, table: Table) -> Table:
        """The same table; if the summary is encrypted, with its estimated size for the placeholder."""
        if not is_sealed(self.entry):
            return table
        return replace(table, sealed=find_sealed_summary(table.session, table.ledger, self.entry.id))

    def write_up(self, table: Table, place: int) -> Checkpoint | None:
        """The same, with the lists of files that an edit makes the plan add to a summary."""
        written, rule = self.checkpoint, table.sibling(CarryFileOperations.model_fields["kind"].default)
        if written is None or rule is None:
            return written
        return written.model_copy(update={"text": written.text + collect(table, place).text()})


def find_recorded(session: Session, cuts: CutPoints) -> RecordedCut:
    """Return the first compaction that a file records right after a session's leaf.

    `cuts` are the session's cut points. Raises `PolicyError` if no compaction follows.
    """
    entry = find_next_compaction(session)
    if entry is None:
        before = find_moment_before(session)
        advice = f"; the one that ends here is planned at {brief(before)}" if before else ""
        raise PolicyError(RECORDED.name, f"the file records no compaction right after this moment{advice}")
    place = find_kept_place(session, entry)
    since = _find_since(session, entry)
    since = since if cuts.starts[since] else 0
    stands = cuts.legal[place] or cuts[place].rule in PAIRS
    return RecordedCut(entry, place if stands else cuts.nearest(place), since)


def _find_since(session: Session, entry: Entry) -> int:
    """Return the number of entries at the beginning that are kept, if no others are, before the summary."""
    boundary = entry.boundary
    if boundary is None or not boundary.summary_last:
        return 0
    index, live = session.tree.index, session.live.entries.tolist()
    listed = {index[name] for name in boundary.kept if name in index}
    since = next((at for at, kept in enumerate(live) if kept not in listed), len(live))
    return since if listed.isdisjoint(live[since:]) else 0
