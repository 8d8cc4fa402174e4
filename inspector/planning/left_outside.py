"""Compute the remaining tokens that are not in the file, by block and at every cut.

The fixed part stays. Hidden reasoning is removed with its blocks, and reduced if a block is shortened.
History from before the file and reattached files are removed as soon as anything is summarised or dropped,
unless the beginning of the context stays.
"""

from __future__ import annotations

import numpy as np

from ..policies.table import DROPPED, SUMMARISED, VERBATIM, Table
from ..session.tree import Bools, Ints
from ..tokens.counter import Longs
from ..tokens.not_in_file import PARTS, NotInFile, PartName
from .cut_table import HIDDEN_REASONING, sum_behind
from .fates import BY_WITHHELD, SideFates, find_standing
from .notice import PlacedNotice
from .stand_in import StandIn


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


def price_outside(
    table: Table,
    sides: tuple[SideFates, SideFates, SideFates],
    edge: int,
    writes: Bools,
    stand_in: StandIn,
    notice: PlacedNotice | None,
) -> Longs:
    """int64[n+1, 4]: tokens after each cut that are not in the file, by PARTS. Args as in `price_cuts`."""
    outside, live = table.moment.outside, table.live
    n = len(live)
    parts = np.zeros((n + 1, len(PARTS)), np.int64)
    for part in ("system_and_tools", "before_file", "reattached"):
        parts[:, PARTS.index(part)] = outside.parts[part].tokens
    out = parts[:, HIDDEN_REASONING]
    older, kept_side, uncut = sides
    if outside.spread.any():

        def add_up(side: SideFates) -> Longs:
            return np.bincount(live.position, leave_outside(table, side), n).astype(np.int64)

        behind = add_up(kept_side)
        still = behind if uncut is kept_side else add_up(uncut)
        out[1:] += np.cumsum(add_up(older))
        out[:-1] += sum_behind(behind, still, edge)
    if outside.scale > 1:
        summary = np.where(writes, stand_in.cost, 0)
        out += weigh_all(outside, summary) - summary
        if notice is not None:
            out += weigh_all(outside, notice.cost) - notice.cost
    if notice is not None and notice.echoes(n):
        out[n] += int(leave_outside(table, notice.before).sum())
    if outside.passing and not table.since:
        removed = _find_removed(table, older, kept_side, uncut, edge)
        parts[removed] *= ~np.isin(PARTS, ("before_file", "reattached"))
    return parts


def weigh_all(outside: NotInFile, tokens: Ints | Longs) -> Longs:
    """int64: new texts on the provider's scale, their counted tokens included."""
    counted: Longs = np.asarray(tokens, np.int64)
    more: Longs = np.rint((outside.scale - 1) * counted).astype(np.int64)
    return counted + more


def _find_removed(table: Table, older: SideFates, kept_side: SideFates, uncut: SideFates, edge: int) -> Bools:
    """bool[n+1]: whether a cut at this place removes any block."""
    position, n = table.live.position, len(table.live)
    out = np.zeros(n + 1, bool)
    first = np.flatnonzero(takes(older))[:1]
    if len(first):
        out[int(position[first[0]]) + 1 :] = True
    for side, begin, end in ((uncut, 0, edge + 1), (kept_side, edge + 1, n + 1)):
        last = np.flatnonzero(takes(side))[-1:]
        if len(last):
            out[begin : min(int(position[last[0]]) + 1, end)] = True
    return out
