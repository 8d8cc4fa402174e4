"""Functions for rules about tool outputs: their lengths and their tools, and how to shorten them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal
from unicodedata import combining

import numpy as np

from ..session.blocks import TEXT, TOOL_OUTPUT, Text, ToolOutput
from ..session.tree import Bools, Ints
from ..text import utf16_length, utf16_slice
from ..tokens.counters.tiered import is_bare_error
from ..tokens.ledger import CLEARED_TEXT
from ..tokens.memo import Memo
from .table import Table

_LENGTHS: Memo[Ints] = Memo()


def output_lengths(table: Table) -> Ints:
    """int32[m]: characters (code points) of the text in each tool output, 0 for every other block."""
    return _measure_lengths(table, (TOOL_OUTPUT,), len)


def text_lengths(table: Table) -> Ints:
    """int32[m]: UTF-16 units of each live text and tool output, 0 for every other block."""
    return _measure_lengths(table, (TEXT, TOOL_OUTPUT), utf16_length)


def _measure_lengths(table: Table, kinds: tuple[int, ...], measure: Callable[[str], int]) -> Ints:
    """int32[m]: the length of each live block of these kinds, of a cleared one that of its placeholder."""
    ledger = table.ledger

    def make() -> Ints:
        out = np.zeros(len(ledger), np.int32)
        rows = np.flatnonzero(np.isin(ledger.kind, kinds) & (ledger.entry >= 0))
        places = zip(rows.tolist(), ledger.entry[rows].tolist(), ledger.block[rows].tolist(), strict=True)
        for row, entry, block in places:
            out[row] = measure(ledger.session.entries[entry].blocks[block].text)
        return out

    lengths: Ints = _LENGTHS.of(ledger, make, kinds)[table.moment.rows]
    lengths[table.live.cleared] = measure(CLEARED_TEXT)
    return lengths


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
    """The output with one text instead of its own; its pictures and files stay."""
    first = next((at for at, part in enumerate(output.parts) if part.kind == "text"), 0)
    rest = tuple(part for part in output.parts if part.kind != "text")
    parts = (*rest[:first], Text(text=text), *rest[first:])
    return output.model_copy(update={"parts": parts})


Form = Literal["fixed", "compat"]
"""Whether a rule does what the published one does to the letter, or the same without its defects."""
LEAST = 100
"""Units that the fixed form leaves at least: the mark and some words on either side of it, or a notice."""
_MARK = re.compile(r"\n\[snip: (\d{1,12}) chars omitted\]\n")
_JOINER = "\u200d"


def snip(text: str, limit: int, form: Form = "fixed") -> str:
    """`text` cut to about `limit` UTF-16 units; the very same text when it is not longer.

    >>> snip("x" * 5000, 2000, "compat")[998:1034]
    'xx\\n[snip: 3000 chars omitted]\\nxxxxxx'
    >>> len(snip("x" * 5000, 2000))
    2000
    """
    length = utf16_length(text)
    if form == "compat":
        return text if length <= limit else _cut_as_published(text, length, limit)
    limit = max(limit, LEAST)
    if length <= limit:
        return text
    head, tail, before = text, text, 0
    if match := _MARK.search(text):
        # It was cut once: the new mark stands for the old one too.
        head, tail, before = text[: match.start()], text[match.end() :], int(match[1])
        length = utf16_length(head) + utf16_length(tail)
    room = limit - utf16_length(_mark(length + before))
    head, tail = take_head(head, room - room // 2), take_tail(tail, room // 2)
    kept_length = utf16_length(head) + utf16_length(tail)
    return f"{head}{_mark(length - kept_length + before)}{tail}"


def _mark(omitted: int) -> str:
    return f"\n[snip: {omitted} chars omitted]\n"


def _cut_as_published(text: str, length: int, limit: int) -> str:
    half = limit // 2
    units = _units(text)
    # "The last 0" is everything, so a limit of 0 or 1 repeats the text whole (TIERED §3.2).
    tail = units[-2 * half :] if half else units
    return f"{_text(units[: 2 * half])}{_mark(length - limit)}{_text(tail)}"


def cut_units(text: str, units: int) -> str:
    """The first UTF-16 units of a text, even if that splits a character in two."""
    return utf16_slice(text, 0, units, whole=False)


def take_head(text: str, units: int) -> str:
    """At most the first `units` UTF-16 units, no character split.

    >>> take_head("ab😀", 3), take_head("cafe\\u0301s", 4)
    ('ab', 'caf')
    """
    out = cut_units(text, units)
    if out and "\ud800" <= out[-1] <= "\udbff" and text[len(out) - 1] != out[-1]:
        out = out[:-1]
    while out and len(out) < len(text) and _joins(out[-1], text[len(out)]):
        out = out[:-1]
    return out


def take_tail(text: str, units: int) -> str:
    """At most the last `units` UTF-16 units, no character split."""
    if units <= 0:
        return ""
    out = text[-units:] if text.isascii() else _text(_units(text)[-2 * units :])
    if out and "\udc00" <= out[0] <= "\udfff" and text[-len(out)] != out[0]:
        out = out[1:]
    while out and len(out) < len(text) and _joins(text[-len(out) - 1], out[0]):
        out = out[1:]
    return out


def _joins(before: str, after: str) -> bool:
    """Whether two code points are drawn as one character: accents, joiners, variants, skin tones."""
    return (
        before == _JOINER
        or after == _JOINER
        or combining(after) > 0
        or "\ufe00" <= after <= "\ufe0f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _text(units: bytes) -> str:
    return units.decode("utf-16-le", "surrogatepass")


def find_bare_errors(table: Table) -> Bools:
    """bool[m]: outputs with only an error and empty content (mini-claude-code)."""
    out, live, entries = np.zeros(len(table.tokens), bool), table.live, table.session.entries
    rows = np.flatnonzero(table.kind == TOOL_OUTPUT)
    places = zip(
        rows.tolist(), live.entries[live.position[rows]].tolist(), live.block[rows].tolist(), strict=True
    )
    for row, i, block in places:
        out[row] = "blocks" in entries[i].extra and is_bare_error(entries[i], block)
    return out
