"""Compute the remaining tokens that are not in the file, by block and by part.

The fixed part stays. Hidden reasoning is removed with its blocks, and reduced if a block is shortened.
History from before the file and reattached files are removed as soon as anything is summarised or dropped,
unless the beginning of the context stays.
"""

from __future__ import annotations

import numpy as np

from ..policies.table import DROPPED, SUMMARISED, VERBATIM, Table
from ..session.tree import Bools
from ..tokens.counter import Longs
from ..tokens.not_in_file import NotInFile, PartName
from .fates import BY_WITHHELD, SideFates, find_standing
from .notice import PlacedNotice


def leave_outside(table: Table, side: SideFates) -> Longs:
    """int64[m]: the remaining hidden reasoning of each block."""
    spread = table.moment.outside.spread
    out = np.zeros(len(spread), np.int64)
    rows = np.flatnonzero(spread)
    if not len(rows):
        return out
    remains = find_standing(side.fate)[rows]
    for row, block in side.blocks.items():
        if block is None and spread[row]:
            remains[np.searchsorted(rows, row)] = False
    had = table.tokens[rows].astype(np.int64)
    tokens_after = np.where(side.fate[rows] == VERBATIM, had, np.minimum(side.tokens[rows], had))
    share = np.where(had > 0, spread[rows] * tokens_after // np.maximum(had, 1), spread[rows])
    out[rows] = np.where(remains, share, 0)
    return out


def weigh_more(outside: NotInFile, tokens: int) -> int:
    """Tokens of new text on the provider's scale beyond its counted tokens."""
    return round((outside.scale - 1) * tokens)


def takes(side: SideFates) -> Bools:
    """bool[m]: blocks that a compaction removed."""
    gone = (side.fate == SUMMARISED) | (side.fate == DROPPED)
    removed: Bools = gone & (side.rule != BY_WITHHELD)
    return removed


def leave_parts(
    table: Table, side: SideFates, summary: int, notice: PlacedNotice | None, place: int | None
) -> dict[PartName, int]:
    """The tokens that are not in the file after a plan, by part: of its blocks as on this side, and of a
    summary of `summary` tokens and a notice at `place`."""
    outside = table.moment.outside
    hidden = int(leave_outside(table, side).sum()) + weigh_more(outside, summary)
    if notice is not None and place is not None:
        hidden += weigh_more(outside, int(notice.cost[place]))
        if notice.echoes(place):
            hidden += int(leave_outside(table, notice.before).sum())
    removed = not table.since and bool(takes(side).any())
    return {
        "system_and_tools": outside.system_and_tools.tokens,
        "hidden_reasoning": hidden,
        "before_file": 0 if removed else outside.before_file.tokens,
        "reattached": 0 if removed else outside.reattached.tokens,
    }
