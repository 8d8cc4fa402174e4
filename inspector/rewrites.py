"""Rewritten blocks, counted once and kept with the ledger from plan to plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .policies.table import Rewrite, Table
from .session.blocks import Block
from .session.tree import Ints


class Rewritten(NamedTuple):
    """Rows that changed (int32), what stands there now, and its tokens (int32)."""

    rows: Ints
    blocks: list[Block | None]
    tokens: Ints


Kept = tuple[Block, Block | None, int]
"""A block, what became of it, and the tokens of that; -1 where it was left alone."""


def rewrite_rows(
    table: Table, rewrite: Rewrite, rows: list[int], before: Mapping[int, Block | None], again: bool
) -> Rewritten:
    """Rewrite live rows. `before` holds what earlier stages made of some; those are left unless `again`."""
    ledger = table.ledger
    memory: dict[tuple[int, int], Kept] = {}
    if rewrite.key is not None:
        memory = ledger.remember(("rewrites", rewrite.key), dict)
    at = ledger.live_rows(table.session)
    found: list[tuple[int, tuple[int, int], Block | None, int]] = []
    new: list[tuple[int, Block]] = []
    for row in rows:
        if row in before and not again:
            continue
        block = before[row] if row in before else table.block(row)
        if block is None:
            continue
        # An emptied output, or what a stage made of a block, is another block of the same row.
        name = (int(at[row]), id(block) if row in before else -int(table.live.cleared[row]))
        kept = memory.get(name)
        if kept is None or (row in before and kept[0] is not block):
            made = rewrite.make(block, row)
            kept = memory[name] = (block, made, -1 if made is block else 0)
            if made is not None and made is not block:
                new.append((len(found), made))
        found.append((row, name, kept[1], kept[2]))
    counted = ledger.count_blocks([block for _, block in new]).tolist() if new else []
    for (index, made), tokens in zip(new, counted, strict=True):
        row, name, _, _ = found[index]
        memory[name] = (memory[name][0], made, tokens)
        found[index] = (row, name, made, tokens)
    changed = [(row, made, tokens) for row, _, made, tokens in found if tokens >= 0]
    return Rewritten(
        np.array([row for row, _, _ in changed], np.int32),
        [made for _, made, _ in changed],
        np.array([tokens for _, _, tokens in changed], np.int32),
    )
