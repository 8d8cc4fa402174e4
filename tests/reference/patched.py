"""A diff of contexts, applied to the first of them."""

from __future__ import annotations

from dataclasses import replace

from inspector.planning.context import Context
from inspector.planning.diff.contexts import Diff, Insert, Remove


def patch_context(before: Context, diff: Diff) -> Context:
    """Return the second context of a diff, from the first one."""
    assert tuple(row.before for row in diff.rows if not isinstance(row, Insert)) == before.pieces
    pieces = tuple(row.after for row in diff.rows if not isinstance(row, Remove))
    return replace(before, pieces=pieces, **{change.field: change.after for change in diff.head})
