"""All places of the cut planned at once: what each would leave, as columns.

A block's fate depends only on its side of the cut, so what a place leaves is a sum from the left, a sum
from the right, and the summary. Dragging the cut is then a look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..policies.table import Table
from ..session.live import Live
from ..session.tree import Bools, Ints
from ..tokens.counter import Longs
from ..tokens.rows import SECTIONS
from .fates import SideFates
from .notice import PlacedNotice
from .stand_in import StandIn

COMPACTED = SECTIONS.index("compacted")
Cells = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CutTable:
    """What each of the n + 1 places would leave, in tokens of the ledger's counter.

    total     int32[n+1]      everything the context would hold; -1 where a cut is illegal
    sections  int32[n+1, s]   the same by section; summary and notice, with what it repeats, count as
                              compacted history
    summary   int32[n+1]      the stand-in summary alone
    """

    total: Ints
    sections: Ints
    summary: Ints

    def lengthen(self, place: int, tokens: int) -> CutTable:
        """The same with a summary at one place that is so much longer, or shorter, than its stand-in."""
        if not tokens:
            return self
        total, sections, summary = self.total.copy(), self.sections.copy(), self.summary.copy()
        sections[place, COMPACTED] += tokens
        summary[place] += tokens
        if total[place] >= 0:
            total[place] += tokens
        return CutTable(total, sections, summary)


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
) -> CutTable:
    """What every place would leave, given each block's outcome on both sides of the cut.

    `sides` are the older one, the kept one, and what is kept where nothing before the cut is edited, which
    is so up to live position `edge`. `writes` (bool[n+1]) says where there is anything to summarise.
    """
    live = table.live
    n = len(live)
    older, kept, uncut = sides
    sections = np.repeat(table.ledger.head_sections[None].astype(np.int32), n + 1, axis=0)
    # A section at a time, of which a session has a few: a matrix of places and sections is mostly zeros.
    for section in np.unique(table.section).tolist():
        rows = np.flatnonzero(table.section == section)
        behind = _sum_before(live, rows, kept)
        behind = behind[-1] - behind
        if uncut is not kept:
            still = _sum_before(live, rows, uncut)[: edge + 1]
            behind[: edge + 1] = uncut.tokens[rows].sum() - still
        sections[:, section] += _sum_before(live, rows, older) + behind
    summary = np.where(writes, stand_in.cost, 0).astype(np.int32)
    sections[:, COMPACTED] += summary
    if notice is not None:
        sections[:, COMPACTED] += notice.cost
        if notice.echoes(n):
            sections[n, COMPACTED] += notice.before.tokens.sum()
    total = np.where(table.cuts.legal, sections.sum(axis=1), -1)
    return CutTable(total.astype(np.int32), sections, summary)


def _sum_before(live: Live, rows: Longs, side: SideFates) -> Ints:
    """int32[n+1]: what some rows cost on one side of the cut, of those before each place."""
    sums = np.zeros(len(live) + 1, np.int32)
    np.cumsum(np.bincount(live.position[rows], side.tokens[rows], len(live)), out=sums[1:], dtype=np.int32)
    return sums
