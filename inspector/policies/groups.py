"""Groups of messages, as rules that drop, fold or summarise whole steps see them.

A group is a call with all its results and the reasoning before it; any other message is a group of its own.
"""

from __future__ import annotations

import numpy as np

from ..cuts import CUT_RULES
from ..session.blocks import REASONING, TOOL_CALL, TOOL_OUTPUT, Block
from ..session.entries import Entry
from ..session.tree import ASSISTANT, Bools, Ints
from ..tokens.counters import find_counter
from ..tokens.counters.measures import FRACTIONS
from .table import Table

OPEN_LOOP = [rule.name for rule in CUT_RULES].index("open-loop")
COUNTED = ("groups", "messages")
"""Measures by which each group or message counts as 1."""


def find_groups(table: Table) -> Ints:
    """int32[n]: the group of each live entry, in order of their first entries."""
    live = table.live
    n = len(live)
    out = np.arange(n, dtype=np.int32)
    outputs = np.zeros(n, bool)
    outputs[live.position[table.kind == TOOL_OUTPUT]] = True
    others = np.bincount(live.position[table.kind != TOOL_OUTPUT], minlength=n)
    called: dict[int, int] = {}
    for call, output in live.position[live.pairs].tolist():
        called.setdefault(output, call)
    reasons = np.bincount(live.position[table.kind == REASONING], minlength=n)
    for position in range(n):
        if outputs[position] and not others[position] and position in called:
            out[position] = out[called[position]]
        elif position and live.role[position] == ASSISTANT and live.role[position - 1] == ASSISTANT:
            # Reasoning in a message of its own belongs to what follows it.
            if reasons[position - 1] == others[position - 1] > 0:
                out[position] = out[position - 1]
    return out


def find_calling(table: Table, groups: Ints) -> Bools:
    """bool[n]: the entry is in a group that calls a tool."""
    calls: Bools = np.isin(groups, groups[table.live.position[table.kind == TOOL_CALL]])
    return calls


def in_open_loop(table: Table) -> Bools:
    """bool[n]: the entry is in the open tool loop, if a provider requires every message of it (`cuts.py`)."""
    inside = np.flatnonzero(table.cuts.reason == OPEN_LOOP)
    out: Bools = np.arange(len(table.live)) >= (inside[0] - 1 if len(inside) else len(table.live))
    return out


def measure_entries(table: Table, measure: str) -> np.ndarray:
    """float64[n]: the size of each live entry, folded ones as they are folded."""
    live = table.live
    n = len(live)
    fold = getattr(table.sibling("fold-calls"), "fold", None)
    folded: dict[int, Block | None] = {} if fold is None else dict(fold(table))
    if measure == "tokens":
        tokens = table.tokens.astype(np.int64)
        tokens[list(folded)] = 0
        texts = {row: block for row, block in folded.items() if block is not None}
        tokens[list(texts)] = table.ledger.count_blocks(list(texts.values()))
        return np.bincount(live.position, tokens, n).astype(np.float64)
    touched = {int(live.position[row]) for row in folded}
    sizes = np.ones(n, np.float64) if measure in COUNTED else table.moment.fractions(measure).copy()
    for position in touched:
        entry = table.session.entries[live.entries[position]]
        rows = range(int(live.start[position]), int(live.start[position + 1]))
        blocks = tuple(block for row in rows if (block := folded.get(row, table.block(row))) is not None)
        named = entry.model_copy(update={"id": f"tool_summary_group_{entry.id}", "blocks": blocks})
        sizes[position] = 0.0 if not blocks else 1.0 if measure in COUNTED else _weigh(measure, named)
    return sizes


def _weigh(measure: str, entry: Entry) -> float:
    weigh = FRACTIONS.get(measure) or find_counter(measure).weigh
    assert weigh is not None
    return weigh(entry)
