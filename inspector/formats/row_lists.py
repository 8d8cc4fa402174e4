"""Rows of a session that stand in one JSON document -> the lines that its harness writes.

Exports and data sets keep the rows of a log in a list, and exporters put such a list into an object, beside a
title and other things of their own. The items of a list stay where they stand in the file; of an object the
rows come first, and what it tells besides is the last line, which the reader counts as one it does not know.
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
"""So many objects may stand around a list of rows, and so many fields of each are looked at."""


def spread_rows(data: Data, readers: Sequence[Reader], of_lines: Sequence[Reader]) -> Data:
    """The rows as lines where one of `of_lines` takes them so, and none of `readers` the data as it is."""
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
    for each in outer:
        holder = holder[each]
    rows = holder.pop(name)
    return _dump([*rows, *([] if around in ({}, {way[0]: {}}) else [around])])


def _find_rows(value: Any, of_lines: Sequence[Reader], depth: int) -> tuple[str, ...]:
    """The names below which a list of rows stands; none where there is none."""
    for name, held in islice(value.items(), NAMES) if isinstance(value, dict) else ():
        if isinstance(held, list) and held and isinstance(held[0], dict):
            beginning = _dump(held[:LOOK])
            if any(reader.sniff(beginning) is None for reader in of_lines):
                return (name,)
        elif isinstance(held, dict) and depth > 1 and (below := _find_rows(held, of_lines, depth - 1)):
            return (name, *below)
    return ()


def _dump(rows: Sequence[Any]) -> bytes:
    return b"\n".join(dump_lossless(row).encode("ascii") for row in rows)
