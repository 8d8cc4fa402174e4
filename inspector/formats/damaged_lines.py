"""Find the complete JSON objects in a damaged line of a JSON Lines file.

A crash leaves zero bytes or half a record, two concurrent writers leave several records on one line, and some
harnesses write unescaped line breaks into strings. The complete records can still be read.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import NamedTuple

LONGEST = 1 << 22
"""The maximum number of bytes that are searched for the end of a record's strings."""
TEARS = 64
"""The maximum number of damaged positions in a line after which a record is searched."""
_JUNK = re.compile("[\0- ]*(?:\xef\xbb\xbf[\0- ]*)*")  # zeros, blanks and byte order marks, as Latin-1
_SPACE = " \t\r\n"
_INSIDE = frozenset(",]}")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r]*', re.DOTALL)
_OUTSIDE = re.compile(rb'[^"\n]+')
_scan = JSONDecoder(strict=False, parse_int=float).raw_decode


class Repair(NamedTuple):
    """The offsets of the complete objects of a damaged line, and the end of the last line of them.

    `is_open` says that the line begins an object that later data may complete.
    """

    spans: list[tuple[int, int]]
    end: int
    is_open: bool = False


def repair_line(data: bytes | memoryview, start: int, end: int) -> Repair:
    """Find the complete objects in the line `data[start:end]`, and in the lines that continue its strings.

    A line that is one JSON value needs no repair and returns no spans. The time is linear in the length of
    the line, because each attempt begins after the previous failure and there are at most `TEARS` attempts.
    No line is read more than twice: if it begins a record and ends within a string, it does not begin within
    one.

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
    """Find the spans of complete objects, and the start of an object with an unterminated string, else -1.

    After a damaged position, the next `{"` begins a record. An object before a comma or a bracket is part of
    an incomplete value.
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
        # A truncated string ends at the first quote of the next record; an escape may follow it directly.
        start = line.find('{"', max(start + 1, failed - 7))
    return spans, -1


def _skip(line: str, start: int) -> int:
    match = _JUNK.match(line, start)
    return start if match is None else match.end()


def _find_close(data: bytes | memoryview, start: int) -> int:
    """Find the end of the first line that ends outside the strings of the object that begins at `start`.

    Return the end of the data if there is no such line yet, and -1 if the text after a string cannot belong
    to the object.
    """
    limit = min(len(data), start + LONGEST)
    offset = start
    while offset < limit:
        if data[offset] == 10:
            return offset
        if data[offset] != 34:
            outside = _OUTSIDE.match(data, offset, limit)
            offset = limit if outside is None else outside.end()
            continue
        string = _STRING.match(data, offset, limit)
        if string is None:
            offset = limit
            break
        offset = string.end()
        if offset < limit and data[offset] not in b",:]}":
            return -1
    return offset if limit == len(data) else -1
