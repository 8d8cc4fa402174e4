"""How long tool outputs are, and who gave them: what rules about outputs ask of a table."""

from __future__ import annotations

import numpy as np

from .session.blocks import KINDS, Text, ToolOutput
from .session.tree import Bools, Ints
from .table import Table
from .tokens.ledger import CLEARED_TEXT, Ledger

TOOL_OUTPUT = KINDS.index("tool_output")


def output_lengths(table: Table) -> Ints:
    """int32[m]: characters (code points) of the text in each tool output, 0 for every other block."""
    every = table.ledger.remember(("output lengths",), lambda: _measure(table.ledger))
    lengths: Ints = every[table.ledger.live_rows(table.session)]
    lengths[table.live.cleared] = len(CLEARED_TEXT)
    return lengths


def _measure(ledger: Ledger) -> Ints:
    out = np.zeros(len(ledger), np.int32)
    rows = np.flatnonzero(ledger.kind == TOOL_OUTPUT)
    entries = ledger.session.entries
    places = zip(rows.tolist(), ledger.entry[rows].tolist(), ledger.block[rows].tolist(), strict=True)
    for row, entry, block in places:
        out[row] = len(entries[entry].blocks[block].text)
    return out


def tool_of(table: Table, row: int) -> str:
    """The tool that gave the output, or is called, in a live row; empty when nothing names it."""
    block = table.block(row)
    if block.kind == "tool_call":
        return block.name
    call = int(table.calls[row])
    if call >= 0:
        return tool_of(table, call)
    return (block.name or "") if block.kind == "tool_output" else ""


def from_tools(table: Table, rows: Bools, tools: tuple[str, ...]) -> Bools:
    """bool[m]: those of `rows` that are outputs or calls of these tools."""
    out = np.zeros(len(rows), bool)
    if tools:
        for row in np.flatnonzero(rows).tolist():
            out[row] = tool_of(table, row) in tools
    return out


def replace_text(output: ToolOutput, text: str) -> ToolOutput:
    """The output with one text in place of its own; pictures and files in it stay where they were."""
    first = next((at for at, part in enumerate(output.parts) if part.kind == "text"), 0)
    rest = tuple(part for part in output.parts if part.kind != "text")
    parts = (*rest[:first], Text(text=text), *rest[first:])
    return output.model_copy(update={"parts": parts})
