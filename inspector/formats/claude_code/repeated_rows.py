"""Rows that Claude Code appends again, as they stand in the file already.

Before the second compaction of one process, Claude Code appends copies of earlier rows, and the next new row
hangs on the last copy instead of on the row that it follows (anthropics/claude-code issues 92089, 92849).
"""

from __future__ import annotations

from typing import Any

from .draft import Draft, Lane
from .rows import Row


class RepeatedRows:
    """The last copied row of each lane, and what stood at its end before the copies.

    A new row that names the last copied row as its parent follows what stood there before.
    """

    def __init__(self) -> None:
        self._last: dict[Lane, tuple[str, str]] = {}
        self._parents: dict[str, str] = {}

    def add(self, row: Row, known: Draft | None, end: Draft | None) -> None:
        """Take a row whose uuid is in the file already.

        Args:
            row: The row that came again.
            known: The draft that its uuid belongs to; None for a row that is no message.
            end: The last draft of its lane.
        """
        if row.uuid is None or end is None:
            return
        if known is not None and known.lines[0].row == row.uuid:
            written = self._parents.get(row.uuid, known.parent)
            if row.parent_uuid != written:
                return  # it was moved
            row.parent_uuid = known.parent
        self._last[row.lane] = row.uuid, end.id

    def mend(self, row: Row) -> None:
        """Let a new row follow what stood before the copies, if it names the last copied row."""
        last, end = self._last.get(row.lane, ("", ""))
        if not last:
            return
        if row.parent_uuid == last:
            row.parent_uuid = end
            if row.uuid is not None:
                self._parents[row.uuid] = last
        if row.logical_parent_uuid == last:
            row.logical_parent_uuid = end
        row.compact_metadata = _rename_tail(row.compact_metadata, last, end)


def _rename_tail(metadata: Any, last: str, end: str) -> Any:
    """The metadata of a compaction with another name for the last row that it kept."""
    kept = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(kept, dict) or kept.get("tailUuid") != last:
        return metadata
    return {**metadata, "preservedSegment": {**kept, "tailUuid": end}}
