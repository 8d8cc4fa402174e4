"""Handle rows that Claude Code appends again to the same file.

Before the second compaction of one process, Claude Code appends copies of earlier rows, and the next new row
names the last copy as its parent instead of the row that it follows (anthropics/claude-code issues 92089,
92849).
"""

from __future__ import annotations

from typing import Any

from .draft import Draft, Lane
from .rows import Row


class RepeatedRows:
    """The last copied row of each lane, and the end of that lane before the copies.

    A new row that names the last copied row as its parent follows that end.
    """

    def __init__(self) -> None:
        self._last: dict[Lane, tuple[str, str]] = {}
        self._parents: dict[str, str] = {}

    def add(self, row: Row, draft: Draft | None, end: Draft | None) -> None:
        """Add a row whose uuid is in the file: in `draft`, if it is a message. `end` ends its lane."""
        if row.uuid is None or end is None:
            return
        if draft is not None and draft.lines[0].row == row.uuid:
            if row.parent_uuid != self._parents.get(row.uuid, draft.parent):
                return  # moved, not copied
            row.parent_uuid = draft.parent
        self._last[row.lane] = row.uuid, end.id

    def mend(self, row: Row) -> None:
        """Change the parent of a new row from the last copied row to the end before the copies."""
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
    """Return the metadata of a compaction with a new id for the last preserved row."""
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(segment, dict) or segment.get("tailUuid") != last:
        return metadata
    return {**metadata, "preservedSegment": {**segment, "tailUuid": end}}
