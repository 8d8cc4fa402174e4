"""Convert the rows of a session in one JSON document to the lines that its harness writes.

Exports and data sets put the rows of a log into a list. Some put this list into an object, next to a title
and other fields. Items of a list keep their offsets in the file. For an object, the rows come first and the
other fields are the last line, which the reader counts as an unknown record.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from ..session.json_text import dump_lossless
from .json_document import HEAD, cut_head, load, peek_once
from .json_lines import BOM, Data, Reader, spread_list
from .recording import LOOK

DEPTH, NAMES = 2, 32
"""Maximum number of objects around a list of rows, and of fields examined in each."""


def spread_rows(data: Data, readers: Sequence[Reader], of_lines: Sequence[Reader]) -> Data:
    """Convert rows to lines if one of `of_lines` reads the lines and none of `readers` the data itself."""
    head = cut_head(data)
    begin = head.removeprefix(BOM).lstrip()[:1]
    if begin == b"{":
        return _unwrap(data, head, readers, of_lines)
    if begin != b"[" or any(reader.sniff(data) is None for reader in readers if reader not in of_lines):
        return data
    beginning = spread_list(head)
    return spread_list(data) if any(reader.sniff(beginning) is None for reader in of_lines) else data


def _unwrap(data: Data, head: bytes, readers: Sequence[Reader], of_lines: Sequence[Reader]) -> Data:
    value, _ = peek_once(head, len(memoryview(data)) <= HEAD)
    way = _find_rows(value, of_lines, DEPTH)
    if not way or any(reader.sniff(data) is None for reader in readers):
        return data
    around = load(data)
    *outer, name = way
    holder = around
    for key in outer:
        holder = holder[key]
    rows = holder.pop(name)
    return _dump([*rows, *([] if around in ({}, {way[0]: {}}) else [around])])


def _find_rows(value: Any, of_lines: Sequence[Reader], depth: int) -> tuple[str, ...]:
    """Return the path of field names to a list of rows, or ()."""
    for name, item in islice(value.items(), NAMES) if isinstance(value, dict) else ():
        if isinstance(item, list) and item and isinstance(item[0], dict):
            beginning = _dump(item[:LOOK])
            if any(reader.sniff(beginning) is None for reader in of_lines):
                return (name,)
        elif isinstance(item, dict) and depth > 1 and (below := _find_rows(item, of_lines, depth - 1)):
            return (name, *below)
    return ()


def _dump(rows: Sequence[Any]) -> bytes:
    return b"\n".join(dump_lossless(row).encode("ascii") for row in rows)
