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
from .fates import SideFates
from .notice import PlacedNotice
from .stand_in import StandIn

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

    def lengthen(self, place: int, tokens: int, more: int = 0) -> CutTable:
        """Return the table with a summary at one cut that is longer (or shorter) than its placeholder.

        `tokens` are the counted difference, `more` the difference beyond the counted tokens.
        """
        if not tokens:
            return self
        total, sections, summary = self.total.copy(), self.sections.copy(), self.summary.copy()
        outside = self.outside.copy()
        sections[place, COMPACTED] += tokens
        summary[place] += tokens
        outside[place, HIDDEN_REASONING] += more
        if total[place] >= 0:
            total[place] += tokens + more
        return CutTable(total, sections, summary, outside)

    def correct(self, part: PartName, tokens: int, where: Bools) -> CutTable:
        """Return the table with `tokens` added to a part that is not in the file, at the cuts for which
        `where` (bool[n+1]) is True."""
        if not tokens:
            return self
        outside = self.outside.copy()
        outside[where, PARTS.index(part)] += tokens
        total = np.where(where & (self.total >= 0), self.total + tokens, self.total)
        return CutTable(total, self.sections, self.summary, outside)


def sum_behind(kept_cells: Cells, uncut: Cells, edge: int) -> Cells:
    """Sum the cells from each live position on: `uncut` up to the `edge`, `kept_cells` after it."""
    behind: Cells = np.cumsum(kept_cells[::-1], axis=0)[::-1]
    if uncut is not kept_cells:
        still = np.cumsum(uncut[::-1], axis=0)[::-1]
        behind[: edge + 1] = still[: edge + 1]
    return behind


def price_cuts(
    table: Table,
    sides: tuple[SideFates, SideFates, SideFates],
    edge: int,
    writes: Bools,
    stand_in: StandIn,
    notice: PlacedNotice | None,
    outside: Longs,
) -> CutTable:
    """Compute the tokens after every cut from each block's outcome on both sides of the cut.

    Args:
        table: The live blocks.
        sides: The older side, the kept side, and the kept side if nothing before the cut is edited.
        edge: The live position up to which nothing before the cut is edited.
        writes: bool[n+1]: whether there is anything to summarise.
        stand_in: The placeholder summary.
        notice: The message at the cut, if any.
        outside: int64[n+1, 4]: the tokens after each cut that are not in the file, by PARTS.
    """
    live = table.live
    n = len(live)
    older, kept_side, uncut = sides
    # Columns of the sections that there are, of which a session has a few.
    used = np.flatnonzero(np.bincount(table.section, minlength=len(SECTIONS)))
    column = np.zeros(len(SECTIONS), np.int64)
    column[used] = np.arange(len(used))
    columns = column[table.section]
    cells = live.position * np.int64(len(used)) + columns

    def add_up(behind: SideFates) -> Cells:
        """[n+1, sections used]: the sums if all blocks after the cut are as on the side `behind`."""
        sums = np.zeros((n + 1, len(used)))
        moved = np.bincount(cells, older.tokens - behind.tokens, n * len(used))
        np.cumsum(moved.reshape(n, len(used)), axis=0, out=sums[1:])
        sums += np.bincount(columns, behind.tokens, len(used))
        return sums

    cells_after = add_up(kept_side)
    if uncut is not kept_side:
        cells_after[: edge + 1] = add_up(uncut)[: edge + 1]
    sections = np.zeros((n + 1, len(SECTIONS)), np.int32)
    sections[:, used] = cells_after
    sections += table.ledger.head_sections.astype(np.int32)
    summary = np.where(writes, stand_in.cost, 0).astype(np.int32)
    sections[:, COMPACTED] += summary
    if notice is not None:
        sections += notice.sections.astype(np.int32)
    total = np.where(table.cuts.legal, sections.sum(axis=1, dtype=np.int64) + outside.sum(axis=1), -1)
    return CutTable(total, sections, summary, outside)


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
