"""What readers of files made of records share: the `Reader` type, lines with their place, lenient decoding.

In go bytes, out come decoded records, each with the line, offset and size it has in the file. What real
transcripts hold and strict JSON forbids is accepted: halves of surrogate pairs, NaN, raw control
characters, integers of any size, nesting deeper than Python recurses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import msgspec

from ..session.entries import Corrupt, Source
from ..session.garbage import paused_gc
from ..session.session import Session

Data = bytes | memoryview
"""The content of a file, as the door hands it over."""

BOM = b"\xef\xbb\xbf"
DEEPEST = 256
"""Levels of nesting that are kept as they are; what is nested further down becomes a string of its JSON."""
_WILD = re.compile(r"[*?\[]")
_LINE_END = re.compile(b"\n")
_PIECE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},\n\r]', re.DOTALL)
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]+|[\]}]+', re.DOTALL)
_fast = msgspec.json.Decoder()


class Lines(Protocol):
    """What has been read of a file of lines. More may follow, also after a session was made of it."""

    corrupt: list[Corrupt]

    def take(self, source: Source, line: memoryview) -> None:
        """The next line. It goes to `corrupt`, and leaves no other trace, when it cannot be read."""

    def check_last(self, source: Source) -> None:
        """The line just taken is the last, and has no line end: it may still be being written."""

    def make_session(self) -> Session:
        """The session these lines make. Raises `EmptySession` when nobody says anything in it."""


@runtime_checkable
class FinishedLines(Lines, Protocol):
    """Lines that use up what they hold while their last session is made, once the file no longer `goes_on`:
    what was read and what is made of it are then never in memory together."""

    goes_on: bool


@dataclass(frozen=True)
class Reader:
    """One transcript format.

    `sniff` looks at the first records and answers None when it knows the format, else a short reason.
    `read` turns all of it into a `Session`; it raises `EmptySession` when nobody says anything, and
    `ReadError` when the content is not what `sniff` took it for. A format of lines has `start`, which
    begins to read; such a file can be followed while it grows.

    A session may stand in several files. `find_beside` answers, for the content and the name of one of them,
    which others are looked for in its folder and below: names, or patterns with `*`, at most `most_beside` of
    them. `read_all` reads them together: it is given the contents of those that are there, by their names. A
    folder is opened by the file in it called `folder_file`. `is_foreign` knows one that is none of them by
    its beginning, so that the rest is not read. `start_all` begins to read a file of lines
    with others beside it, for one that is followed while it grows. `name_holders` is asked the other way
    round: for the name and the first bytes of a file of a sub-agent's, where the session that reads it with
    its own may lie, as names or patterns from the file's folder; () for any other file. What a pattern takes
    from a file goes through `escape_name`: a transcript is nobody's to trust.
    """

    name: str
    title: str
    sniff: Callable[[Data], str | None]
    read: Callable[[Data], Session]
    start: Callable[[], Lines] | None = None
    find_beside: Callable[[Data, str], tuple[str, ...]] | None = None
    read_all: Callable[[Data, Mapping[str, Data]], Session] | None = None
    is_foreign: Callable[[Data, bytes], bool] | None = None
    start_all: Callable[[Mapping[str, Data]], Lines] | None = None
    name_holders: Callable[[str, bytes], tuple[str, ...]] | None = None
    most_beside: int = 64
    folder_file: str = ""

    def name_beside(self, data: Data, name: str) -> tuple[str, ...]:
        """Names and patterns of the other files that are looked for beside this one; often none."""
        return () if self.find_beside is None else self.find_beside(data, name)


def escape_name(name: str) -> str:
    """A pattern of the files of this name alone.

    >>> escape_name("[1] *.jsonl")
    '[[]1] [*].jsonl'
    """
    return _WILD.sub(r"[\g<0>]", name)


def read_lines(lines: Lines, data: Data) -> Session:
    """The session that all lines make. Raises `EmptySession` when nobody says anything in it."""
    with paused_gc():
        source: Source | None = None
        for source, line in iter_lines(data):
            lines.take(source, line)
        if source is not None and source.offset + source.size == len(data):
            lines.check_last(source)
        return lines.make_session()


def iter_lines(data: Data, number: int = 1, offset: int = 0) -> Iterator[tuple[Source, memoryview]]:
    """Every line that is not blank, with its 1-based number, byte offset and size without the line end.

    `number` and `offset` are those of the first line in `data`, where it is not a whole file.

    >>> [(source.line, source.offset, bytes(line)) for source, line in iter_lines(b"1\\n\\n 2\\r\\n3")]
    [(1, 0, b'1'), (3, 3, b' 2\\r'), (4, 7, b'3')]
    """
    view = memoryview(data)
    size = len(view)
    start = len(BOM) if not offset and bytes(view[: len(BOM)]) == BOM else 0
    for line, end in enumerate(_line_ends(data, size), number):
        if end > start and (view[start] > 32 or bytes(view[start:end]).strip()):
            yield Source(line, offset + start, end - start), view[start:end]
        start = end + 1


def spread_list(data: Data) -> bytes:
    """A JSON list as JSON Lines, each item where it stood.

    >>> spread_list(b'[\\n {"a": [1,\\n 2]},\\n {"b": "],"}]')
    b'   {"a": [1,  2]}\\n  {"b": "],"} '
    """
    spread = bytearray(data)
    depth = 0
    for piece in _PIECE.finditer(bytes(spread)):
        at, sign = piece.start(), piece.group()
        if sign in (b"\n", b"\r"):
            spread[at] = 32
        elif sign in (b"[", b"{"):
            depth += 1
            if depth == 1:
                spread[at] = 32
        elif sign in (b"]", b"}"):
            if depth == 1:
                spread[at] = 32
            depth -= 1
        elif sign == b"," and depth == 1:
            spread[at] = 10
    return bytes(spread)


def _line_ends(data: Data, size: int) -> Iterator[int]:
    """Where each line ends, the last one at the end of the data."""
    if isinstance(data, memoryview):
        yield from (found.start() for found in _LINE_END.finditer(data))
    else:
        # Three times as fast as an expression finds them.
        end = data.find(b"\n")
        while end >= 0:
            yield end
            end = data.find(b"\n", end + 1)
    yield size


def decode(raw: bytes | memoryview) -> Any:
    """One JSON value. Raises `ValueError` with a short reason.

    >>> decode(b'["\\\\ud83d", NaN]')
    ['\\ud83d', nan]
    """
    try:
        return _fast.decode(raw)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return decode_slowly(raw)


def decode_document(data: Data) -> Any:
    """A whole file that is one JSON value. Raises `ValueError` with a short reason."""
    view = memoryview(data)
    return decode(view[len(BOM) :] if bytes(view[: len(BOM)]) == BOM else view)


def decode_slowly(raw: bytes | memoryview) -> Any:
    """`decode` without the fast path: what strict JSON refuses comes here."""
    try:
        text = bytes(raw).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    try:
        return _load(text)
    except RecursionError:
        return _load(flatten(text))


def _load(text: str) -> Any:
    try:
        return json.loads(text, strict=False, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at character {error.pos}: {error.msg}") from None


def flatten(text: str) -> str:
    """The same JSON with every object or array more than `DEEPEST` levels down turned into a string.

    >>> nested = flatten("[" * 100_000 + "]" * 100_000)
    >>> nested[:DEEPEST] == "[" * DEEPEST, nested[DEEPEST : DEEPEST + 3]
    (True, '"[[')
    """
    out: list[str] = []
    depth = done = begin = 0
    for mark in _MARK.finditer(text):
        start, end = mark.span()
        if text[start] in "[{":
            if depth <= DEEPEST < depth + end - start:
                begin = start + DEEPEST - depth
            depth += end - start
        elif text[start] in "]}":
            if depth - (end - start) <= DEEPEST < depth:
                last = start + depth - DEEPEST
                out += (text[done:begin], json.dumps(text[begin:last]))
                done = last
            depth -= end - start
    if depth > DEEPEST:
        raise ValueError(f"not JSON at character {len(text)}: the text ends too early")
    return "".join((*out, text[done:]))


def _whole(digits: str) -> int | float:
    """Python refuses to parse integers of thousands of digits; such a one becomes a float."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)
