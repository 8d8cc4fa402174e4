"""The tool loop still open at the end of a context: calls and outputs, and no words of the user's since."""

from __future__ import annotations

import numpy as np

from ..session.blocks import REASONING, TEXT, TOOL_OUTPUT
from ..session.tree import ASSISTANT, Bools
from .table import Table


def find_open_loop(table: Table, standing: Bools | None = None, inserted: int | None = None) -> int:
    """Return the live position at which the open tool loop begins; n without an open loop.

    Adjacent messages of one role are one to a provider, and one that answers a call continues the loop.

    Args:
        table: The context.
        standing: bool[m], the blocks that remain; all by default.
        inserted: The position before which a message of the user's is inserted, such as a summary.
    """
    live = table.live
    n = len(live)
    content, outputs = (table.kind != TEXT) | (table.tokens > 0), table.kind == TOOL_OUTPUT
    if standing is not None:
        content, outputs = content & standing, outputs & standing
    answering = np.bincount(live.position[outputs], minlength=n) > 0
    has_content = np.bincount(live.position[content], minlength=n) > 0
    first, answers, saw_user = n, False, False
    for position in range(n - 1, -1, -1):
        if position + 1 == inserted:
            answers, saw_user = saw_user and answers, True
        if not has_content[position]:
            continue
        if live.role[position] == ASSISTANT:
            if not answers:
                break
            first, saw_user = position, False
        else:
            answers = bool(answering[position]) or (saw_user and answers)
            saw_user = True
    return first


def lacks_first_reasoning(table: Table, standing: Bools | None = None, inserted: int | None = None) -> bool:
    """Whether the open tool loop holds reasoning and does not begin with it."""
    live = table.live
    first = find_open_loop(table, standing, inserted)
    if first == len(live):
        return False
    rows = np.arange(int(live.start[first]), len(table.kind))
    if standing is not None:
        rows = rows[standing[rows]]
    if not (table.kind[rows] == REASONING).any():
        return False
    for row in rows.tolist():
        block = table.block(row)
        if block.kind != "text" or block.text.strip():
            return block.kind != "reasoning"
    return False
