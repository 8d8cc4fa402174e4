"""Entries by a policy's own measure: the counted tokens, a published estimate of messages, or one each."""

from __future__ import annotations

import numpy as np

from .fates import STANDS, Side
from .policies.table import COUNTED, VERBATIM, Table
from .session.session import Entry
from .session.tree import Bools
from .tokens.counter import Longs
from .tokens.counters import find_counter


def weigh_side(table: Table, side: Side) -> Longs:
    """int64[n]: what each live entry weighs as this side leaves it."""
    measure, live = table.trigger.measure, table.live
    n = len(live)
    if measure in COUNTED:
        counted: Longs = np.bincount(live.position, side.tokens, n).astype(np.int64)
        return counted
    stands = _standing(table, side)
    alive = np.diff(live.start) == 0
    alive[live.position[stands]] = True
    if measure == "messages":
        return np.asarray(alive, np.int64)
    weights: Longs = table.weights(measure).astype(np.int64)
    weights[~alive] = 0
    touched = np.unique(live.position[side.fate != VERBATIM])
    counter = find_counter(measure)
    for position in touched[alive[touched]].tolist():
        assert counter.weigh is not None
        weights[position] = counter.weigh(_left(table, side, position, stands))
    return weights


def _standing(table: Table, side: Side) -> Bools:
    stands: Bools = STANDS[side.fate].copy()
    for row, block in side.blocks.items():
        if block is None:
            stands[row] = False
    return stands


def _left(table: Table, side: Side, position: int, stands: Bools) -> Entry:
    """The entry with the blocks that still stand, as they stand."""
    live = table.live
    rows = range(int(live.start[position]), int(live.start[position + 1]))
    blocks = tuple(
        block
        for row in rows
        if stands[row] and (block := side.blocks.get(row, None) or table.block(row)) is not None
    )
    entry = table.session.entries[live.entries[position]]
    left: Entry = entry.model_copy(update={"blocks": blocks})
    return left
