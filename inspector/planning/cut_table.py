"""Plan all cuts at once: the size of the context after each, as columns.

A block's fate depends only on its side of the cut, so the size is a sum from the left, a sum from the right,
and the summary. Dragging the cut is then a look-up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cuts import END
from ..errors import EditError, PolicyError
from ..policies.base_rule import Rule
from ..policies.table import Table
from ..session.tree import Bools, Ints
from ..tokens.counter import Longs
from ..tokens.not_in_file import PARTS, PartName
from ..tokens.rows import SECTIONS

COMPACTED = SECTIONS.index("compacted")
HIDDEN_REASONING = PARTS.index("hidden_reasoning")
Cells = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CutTable:
    """Tokens after each of the n + 1 cuts.

    total     int64[n+1]      the size of the next request, on the provider's scale; -1 if a cut is invalid
    sections  int32[n+1, s]   counted tokens, by section; the summary counts as compacted history, a notice
                              as a message of its role
    summary   int32[n+1]      the placeholder summary alone
    outside   int64[n+1, 4]   tokens not in the file, by PARTS; with the sections they make up the total
    """

    total: Longs
    sections: Ints
    summary: Ints
    outside: Longs

    def with_row(self, place: int, other: CutTable) -> CutTable:
        """Return the table with another table's figures at one cut."""
        columns = {name: getattr(self, name).copy() for name in ("total", "sections", "summary", "outside")}
        for name, values in columns.items():
            values[place] = getattr(other, name)[place]
        return CutTable(**columns)

    def add(
        self, where: int | Bools, *, summary: int = 0, outside: int = 0, part: PartName = "hidden_reasoning"
    ) -> CutTable:
        """Return the table with tokens added at one cut, or at several (bool[n+1]): to the summary, and to a
        part that is not in the file."""
        if not summary and not outside:
            return self
        total, sections, written = self.total.copy(), self.sections.copy(), self.summary.copy()
        parts = self.outside.copy()
        sections[where, COMPACTED] += summary
        written[where] += summary
        parts[where, PARTS.index(part)] += outside
        total[where] += np.where(total[where] >= 0, summary + outside, 0)
        return CutTable(total, sections, written, parts)


def sum_behind(kept_cells: Cells, uncut: Cells, edge: int) -> Cells:
    """Sum the cells from each live position on: `uncut` up to the `edge`, `kept_cells` after it."""
    behind: Cells = np.cumsum(kept_cells[::-1], axis=0)[::-1]
    if uncut is not kept_cells:
        still = np.cumsum(uncut[::-1], axis=0)[::-1]
        behind[: edge + 1] = still[: edge + 1]
    return behind


def find_edited_place(table: Table, name: str) -> int:
    """Return the place that an edit's cut names. Raises `EditError` if it does not exist or is invalid."""
    place = _find_entry(table, "cut", name)
    if not table.cuts.legal[place]:
        raise EditError("cut", name, table.cuts[place].sentence)
    return place


def begin_at(table: Table, name: str) -> Table:
    """Return the table if only messages from the entry `name` on are compacted.

    Raises `EditError` as `find_edited_place` does, and `PolicyError` if the provider itself compacts.
    """
    since, cuts = _find_entry(table, "since", name), table.cuts
    if not cuts.starts[since]:
        raise EditError("since", name, cuts[since].sentence if name != END else "nothing is after the end")
    for rule in table.rules if since else ():
        if isinstance(rule, Rule) and rule.enabled and rule.takes and rule.by_provider:
            reason = "the provider compacts from the beginning of the context on, so it takes no `since`"
            raise PolicyError.of_rule(rule.kind, reason)
    return replace(table, since=since)


def _find_entry(table: Table, edit: str, name: str) -> int:
    if name == END:
        return len(table.live)
    positions = np.flatnonzero(table.live.entries == table.session.index.get(name, -1))
    if not len(positions):
        turn = f'; "turn {name}" names a turn' if name.isdecimal() else ""
        raise EditError(edit, name, f"no such entry in this context{turn}")
    return int(positions[0])
