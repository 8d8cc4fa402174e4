"""Fates of blocks on one side of the cut: claims in order, pins before all, pairs kept whole.

In go a table and the rules' claims, out comes a `Side`. Nothing here knows where the cut stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .blocks import BlockRef
from .errors import EditError
from .live import Bools, Ints
from .table import DROPPED, FATES, VERBATIM, Bytes, Claim, Table

BY_NONE, BY_PIN, BY_PAIR = -1, -2, -3
"""Who decided a block when no rule did: nobody, a pin, or the other half of its call/output pair."""
STANDS = np.array([fate not in ("summarised", "dropped") for fate in FATES])


@dataclass(frozen=True, eq=False)
class Side:
    """Every block's outcome on one side of the cut: fate uint8[m], tokens int32[m], rule int32[m]."""

    fate: Bytes
    tokens: Ints
    rule: Ints


def decide_side(table: Table, claims: Sequence[Claim | None], pinned: Bools) -> Side:
    """Ask the claims in order; the first that names a block decides it, pins before all."""
    m = len(table.tokens)
    fate, rule = np.full(m, VERBATIM, np.uint8), np.where(pinned, BY_PIN, BY_NONE).astype(np.int32)
    tokens, undecided = table.tokens.copy(), ~pinned
    for code, claim in enumerate(claims):
        if claim is None:
            continue
        rows = claim.rows & undecided
        fate[rows], rule[rows] = claim.fate, code
        if claim.tokens is not None:
            tokens[rows] = claim.tokens[rows]
        elif not STANDS[claim.fate]:
            tokens[rows] = 0
        undecided &= ~claim.rows
    return close_pairs(table, Side(fate, tokens, rule))


def close_pairs(table: Table, side: Side) -> Side:
    """Keep pairs whole: a half that would stand alone shares the other's fate; lone halves are dropped."""
    live = table.live
    calls, outputs = live.pairs[:, 0], live.pairs[:, 1]
    stands = STANDS[side.fate]
    lone_call, lone_output = stands[calls] & ~stands[outputs], stands[outputs] & ~stands[calls]
    lone = np.concatenate([live.orphans, live.pending])
    lone = lone[stands[lone]]
    if not (lone_call.any() or lone_output.any() or len(lone)):
        return side
    fate, tokens, rule = side.fate.copy(), side.tokens.copy(), side.rule.copy()
    fate[calls[lone_call]] = fate[outputs[lone_call]]
    fate[outputs[lone_output]] = fate[calls[lone_output]]
    fate[lone] = DROPPED
    for rows in (calls[lone_call], outputs[lone_output], lone):
        tokens[rows], rule[rows] = 0, BY_PAIR
    return Side(fate, tokens, rule)


def find_pinned(table: Table, pins: tuple[str, ...]) -> Bools:
    """Rows that pins hold, with the other half of every call/output pair they touch."""
    live, session = table.live, table.session
    rows = np.zeros(len(table.tokens), bool)
    for pin in pins:
        name, block = pin, None
        if pin not in session.index and "/" in pin:
            try:
                name, block = BlockRef.parse(pin)
            except ValueError:
                raise EditError("pin", pin, "a block is written entry/number") from None
        at = np.flatnonzero(live.entries == session.index.get(name, -1))
        if not len(at):
            raise EditError("pin", pin, "no such entry in this context")
        first, last = int(live.start[at[0]]), int(live.start[at[0] + 1])
        if block is None:
            rows[first:last] = True
        elif first + block < last and block >= 0:
            rows[first + block] = True
        else:
            raise EditError("pin", pin, f"the entry has {last - first} blocks")
    calls, outputs = live.pairs[:, 0], live.pairs[:, 1]
    both = rows[calls] | rows[outputs]
    rows[calls[both]] = rows[outputs[both]] = True
    return rows
