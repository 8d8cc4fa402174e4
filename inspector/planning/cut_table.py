"""All places of the cut planned at once: what each would leave, as columns.

A block's fate depends only on its side of the cut, so what a place leaves is a sum from the left, a sum
from the right, and the summary. Dragging the cut is then a look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cuts import END
from ..errors import EditError
from ..policies.table import Table
from ..session.tree import Bools, Ints
from ..tokens.counter import Longs
from ..tokens.outside import PARTS, PartName
from ..tokens.rows import SECTIONS
from .fates import SideFates
from .notice import PlacedNotice
from .stand_in import StandIn

COMPACTED = SECTIONS.index("compacted")
WITHHELD = PARTS.index("withheld")
Cells = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CutTable:
    """What each of the n + 1 places would leave, in tokens.

    total     int64[n+1]      the size of the next request, on the provider's scale; -1 where a cut is illegal
    sections  int32[n+1, s]   what is counted of it, by section; summary and notice, with what it repeats,
                              count as compacted history
    summary   int32[n+1]      the stand-in summary alone
    outside   int64[n+1, 4]   what is not in the file, by PARTS; with the sections it makes up the total
    """

    total: Longs
    sections: Ints
    summary: Ints
    outside: Longs

    def lengthen(self, place: int, tokens: int, more: int = 0) -> CutTable:
        """The same with a summary at one place that is so much longer, or shorter, than its stand-in, and
        that weighs so much `more` beyond its count."""
        if not tokens:
            return self
        total, sections, summary = self.total.copy(), self.sections.copy(), self.summary.copy()
        outside = self.outside.copy()
        sections[place, COMPACTED] += tokens
        summary[place] += tokens
        outside[place, WITHHELD] += more
        if total[place] >= 0:
            total[place] += tokens + more
        return CutTable(total, sections, summary, outside)

    def correct(self, part: PartName, tokens: int, where: Bools) -> CutTable:
        """The same with so many tokens more, or fewer, in a part of what is not in the file, at the places
        where `where` (bool[n+1]) is True."""
        if not tokens:
            return self
        outside = self.outside.copy()
        outside[where, PARTS.index(part)] += tokens
        total = np.where(where & (self.total >= 0), self.total + tokens, self.total)
        return CutTable(total, self.sections, self.summary, outside)


def sum_behind(kept: Cells, uncut: Cells, edge: int) -> Cells:
    """What stands from each live position on: `uncut` up to the `edge`, `kept` behind it."""
    behind: Cells = np.cumsum(kept[::-1], axis=0)[::-1]
    if uncut is not kept:
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
    """What every place would leave, given each block's outcome on both sides of the cut.

    `sides` are the older one, the kept one, and what is kept where nothing before the cut is edited, which
    is so up to live position `edge`. `writes` (bool[n+1]) says where there is anything to summarise, and
    `outside` (int64[n+1, 4]) what each place leaves of what is not in the file.
    """
    live = table.live
    n = len(live)
    older, kept, uncut = sides
    # Columns of the sections that there are, of which a session has a few.
    used = np.flatnonzero(np.bincount(table.section, minlength=len(SECTIONS)))
    column = np.zeros(len(SECTIONS), np.int64)
    column[used] = np.arange(len(used))
    columns = column[table.section]
    cells = live.position * np.int64(len(used)) + columns

    def add_up(behind: SideFates) -> Cells:
        """[n+1, sections used]: where all that stands behind the cut is kept so."""
        sums = np.zeros((n + 1, len(used)))
        moved = np.bincount(cells, older.tokens - behind.tokens, n * len(used))
        np.cumsum(moved.reshape(n, len(used)), axis=0, out=sums[1:])
        sums += np.bincount(columns, behind.tokens, len(used))
        return sums

    left = add_up(kept)
    if uncut is not kept:
        left[: edge + 1] = add_up(uncut)[: edge + 1]
    sections = np.zeros((n + 1, len(SECTIONS)), np.int32)
    sections[:, used] = left
    sections += table.ledger.head_sections.astype(np.int32)
    summary = np.where(writes, stand_in.cost, 0).astype(np.int32)
    sections[:, COMPACTED] += summary
    if notice is not None:
        sections[:, COMPACTED] += notice.cost
        if notice.echoes(n):
            sections[n, COMPACTED] += notice.before.tokens.sum()
    total = np.where(table.cuts.legal, sections.sum(axis=1, dtype=np.int64) + outside.sum(axis=1), -1)
    return CutTable(total, sections, summary, outside)


def find_edited_place(table: Table, name: str) -> int:
    """The place that an edit's cut names; `EditError` where there is none, or none that is legal."""
    if name == END:
        place = len(table.live)
    else:
        positions = np.flatnonzero(table.live.entries == table.session.index.get(name, -1))
        if not len(positions):
            raise EditError("cut", name, "no such entry in this context")
        place = int(positions[0])
    if not table.cuts.legal[place]:
        raise EditError("cut", name, table.cuts[place].sentence)
    return place
