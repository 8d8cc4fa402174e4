"""Find the whole JSON objects in a damaged line of a file of JSON Lines.

A crash leaves zero bytes or half a record, two processes that write at once leave several records on one
line, and some harnesses write line breaks into strings as they are. The records that are whole can still be
read.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import NamedTuple

LONGEST = 1 << 22
"""Bytes over which the strings of one record are looked for their end."""
TEARS = 64
"""Broken places of one line behind which a record is looked for."""
_JUNK = re.compile(
    "[\0- ]*(?:\xef\xbb\xbf[\0- ]*)*"
)  # zero bytes, white space and byte order marks, as Latin-1
_SPACE = " \t\r\n"
_INSIDE = frozenset(",]}")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r]*', re.DOTALL)
_OUTSIDE = re.compile(rb'[^"\n]+')
_scan = JSONDecoder(strict=False, parse_int=float).raw_decode


class Repair(NamedTuple):
    """What a damaged line holds.

    spans    where its whole objects begin and end in the data
    end      the end of the last line that they take up
    is_open  whether it begins an object that later data may complete
    """

    spans: list[tuple[int, int]]
    end: int
    is_open: bool = False


def repair_line(data: bytes | memoryview, start: int, end: int) -> Repair:
    """Find the whole objects in the line `data[start:end]`, and in those after it that its strings go on in.

    A line that is one JSON value needs no repair: it has no spans. The time grows with the length of the
    line, since each attempt begins where the one before failed and there are at most `TEARS` of them. A line
    that ends within a string and begins a record cannot begin within a string too, so that no line is looked
    at more than twice.

    >>> glued = b'{"a": 1}{"b": 2}'
    >>> repair_line(glued, 0, len(glued)).spans
    [(0, 8), (8, 16)]
    >>> torn = b'{"a": "x{"b": 2}'
    >>> repair_line(torn, 0, len(torn)).spans
    [(8, 16)]
    """
    spans, first = _find_objects(str(memoryview(data)[start:end], "latin-1"))
    if first < 0:
        return Repair([(start + begin, start + stop) for begin, stop in spans], end)
    begin = start + first
    close = _find_close(data, begin)
    if close <= end:
        return Repair([], end)
    try:
        _, stop = _scan(str(memoryview(data)[begin:close], "latin-1"))
    except (JSONDecodeError, RecursionError):
        return Repair([], end, close == len(data))
    return Repair([(begin, begin + stop)], close)


def _find_objects(line: str) -> tuple[list[tuple[int, int]], int]:
    """Find the spans of whole objects, and where an object begins whose string has no end; else -1.

    Behind a broken place the next `{"` begins a record. An object before a comma or a bracket is a part of
    something that is not whole.
    """
    spans: list[tuple[int, int]] = []
    start = _skip(line, 0)
    torn = failed = 0
    while 0 <= start < len(line) and torn <= TEARS:
        if line[start] == "{":
            try:
                _, end = _scan(line, start)
            except RecursionError:
                break
            except JSONDecodeError as error:
                if not torn and not spans and error.msg.startswith("Unterminated string"):
                    return [], start
                failed = error.pos
            else:
                if not torn and line.strip(_SPACE) == line[start:end]:
                    return [], -1
                behind = _skip(line, end)
                if line[behind : behind + 1] not in _INSIDE:
                    spans.append((start, end))
                start = behind
                continue
        torn += 1
        # A string that was cut off ends with the first quote of the next record, an escape just behind it.
        start = line.find('{"', max(start + 1, failed - 7))
    return spans, -1


def _skip(line: str, start: int) -> int:
    match = _JUNK.match(line, start)
    return start if match is None else match.end()


def _find_close(data: bytes | memoryview, start: int) -> int:
    """Find the end of the first line that ends outside the strings of the object that begins at `start`.

    It is the end of the data if no line does so far, and -1 if what follows cannot belong to the
    object.
    """
    limit = min(len(data), start + LONGEST)
    at = start
    while at < limit:
        if data[at] == 10:
            return at
        if data[at] != 34:
            outside = _OUTSIDE.match(data, at, limit)
            at = limit if outside is None else outside.end()
            continue
        string = _STRING.match(data, at, limit)
        if string is None:
            at = limit
            break
        at = string.end()
        if at < limit and data[at] not in b",:]}":
            return -1
    return at if limit == len(data) else -1
