"""All places of the cut planned at once: what each would leave, as columns.

A block's fate depends only on its side of the cut, so what a place leaves is a sum from the left, a sum
from the right, and the summary. Dragging the cut is then a look-up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .fates import Side
from .ledger import SECTIONS
from .live import Ints
from .standin import StandIn
from .table import SUMMARISED, Summary, Table

COMPACTED = SECTIONS.index("compacted")


@dataclass(frozen=True, eq=False)
class CutTable:
    """What each of the n + 1 places would leave, in tokens of the ledger's counter.

    total     int32[n+1]      everything the context would hold; -1 where a cut is illegal
    sections  int32[n+1, s]   the same by section; the summary counts as compacted history
    summary   int32[n+1]      the stand-in summary alone
    """

    total: Ints
    sections: Ints
    summary: Ints


def price_cuts(table: Table, older: Side, kept: Side, spec: Summary | None, stand_in: StandIn) -> CutTable:
    """What every place would leave, given each block's outcome on both sides."""
    live = table.live
    n, s = len(live), len(SECTIONS)
    cells = live.position.astype(np.int64) * s + table.section
    by_older = np.bincount(cells, older.tokens, n * s).reshape(n, s)
    by_kept = np.bincount(cells, kept.tokens, n * s).reshape(n, s)
    sections = np.zeros((n + 1, s))
    np.cumsum(by_older, axis=0, out=sections[1:])
    sections[:n] += np.cumsum(by_kept[::-1], axis=0)[::-1]
    sections += table.ledger.head_sections
    wanted = np.zeros(n + 1, bool)
    if spec is not None:
        summarised = np.bincount(live.position, older.fate == SUMMARISED, n)
        wanted[1:] = np.cumsum(summarised) > 0
    summary = np.where(wanted, stand_in.cost, 0).astype(np.int32)
    sections[:, COMPACTED] += summary
    total = np.where(table.cuts.legal, sections.sum(axis=1), -1)
    return CutTable(total.astype(np.int32), sections.astype(np.int32), summary)
