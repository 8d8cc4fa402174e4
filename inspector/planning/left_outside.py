"""What stays of the tokens that are not in the file, block by block and at every place of the cut.

The fixed part stays. What is withheld goes with its blocks, and is less of a block that is shortened. History
from before the file, and what a harness attached again, go as soon as anything is summarised or dropped.
"""

from __future__ import annotations

import numpy as np

from ..policies.table import DROPPED, SUMMARISED, VERBATIM, Table
from ..session.tree import Bools, Ints
from ..tokens.counter import Longs
from ..tokens.outside import PARTS, Outside
from .cut_table import WITHHELD, sum_behind
from .fates import BY_WITHHELD, SideFates, find_standing
from .notice import PlacedNotice
from .stand_in import StandIn


def leave_outside(table: Table, side: SideFates) -> Longs:
    """int64[m]: what stays of what is withheld of each block."""
    spread = table.moment.outside.spread
    out = np.zeros(len(spread), np.int64)
    rows = np.flatnonzero(spread)
    if not len(rows):
        return out
    stands = find_standing(side.fate)[rows]
    for row, block in side.blocks.items():
        if block is None and spread[row]:
            stands[np.searchsorted(rows, row)] = False
    had = table.tokens[rows].astype(np.int64)
    left = np.where(side.fate[rows] == VERBATIM, had, np.minimum(side.tokens[rows], had))
    share = np.where(had > 0, spread[rows] * left // np.maximum(had, 1), spread[rows])
    out[rows] = np.where(stands, share, 0)
    return out


def weigh_more(outside: Outside, tokens: int) -> int:
    """What new text weighs on the provider's scale beyond its count."""
    return round((outside.scale - 1) * tokens)


def takes(side: SideFates) -> Bools:
    """bool[m]: blocks of which nothing stands any more because a compaction took them."""
    gone = (side.fate == SUMMARISED) | (side.fate == DROPPED)
    taken: Bools = gone & (side.rule != BY_WITHHELD)
    return taken


def price_outside(
    table: Table,
    sides: tuple[SideFates, SideFates, SideFates],
    edge: int,
    writes: Bools,
    stand_in: StandIn,
    notice: PlacedNotice | None,
) -> Longs:
    """int64[n+1, 4]: what is not in the file, by PARTS, of the context each place leaves; as `price_cuts`."""
    outside, live = table.moment.outside, table.live
    n = len(live)
    parts = np.zeros((n + 1, len(PARTS)), np.int64)
    for part in ("fixed", "earlier", "attached"):
        parts[:, PARTS.index(part)] = outside.parts[part].tokens
    out = parts[:, WITHHELD]
    older, kept, uncut = sides
    if outside.spread.any():

        def add_up(side: SideFates) -> Longs:
            return np.bincount(live.position, leave_outside(table, side), n).astype(np.int64)

        behind = add_up(kept)
        still = behind if uncut is kept else add_up(uncut)
        out[1:] += np.cumsum(add_up(older))
        out[:-1] += sum_behind(behind, still, edge)
    if outside.scale > 1:
        summary = np.where(writes, stand_in.cost, 0)
        out += weigh_all(outside, summary) - summary
        if notice is not None:
            out += weigh_all(outside, notice.cost) - notice.cost
    if notice is not None and notice.echoes(n):
        out[n] += int(leave_outside(table, notice.before).sum())
    if outside.passing:
        taken = _taken(table, older, kept, uncut, edge)
        parts[taken] *= ~np.isin(PARTS, ("earlier", "attached"))
    return parts


def weigh_all(outside: Outside, tokens: Ints | Longs) -> Longs:
    """int64: new texts on the provider's scale, their counted tokens included."""
    counted: Longs = np.asarray(tokens, np.int64)
    more: Longs = np.rint((outside.scale - 1) * counted).astype(np.int64)
    return counted + more


def _taken(table: Table, older: SideFates, kept: SideFates, uncut: SideFates, edge: int) -> Bools:
    """bool[n+1]: whether a cut at this place takes anything."""
    position, n = table.live.position, len(table.live)
    out = np.zeros(n + 1, bool)
    first = np.flatnonzero(takes(older))[:1]
    if len(first):
        out[int(position[first[0]]) + 1 :] = True
    for side, begin, end in ((uncut, 0, edge + 1), (kept, edge + 1, n + 1)):
        last = np.flatnonzero(takes(side))[-1:]
        if len(last):
            out[begin : min(int(position[last[0]]) + 1, end)] = True
    return out
