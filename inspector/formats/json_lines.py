"""Read files of records: the `Reader` type, lines with their position, and lenient JSON decoding.

Each decoded record has its line, byte offset and size. Real transcripts contain values that strict JSON
forbids; they are accepted: unpaired surrogates, NaN, raw control characters, integers of any size, and
nesting that is deeper than Python's recursion limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from ..session.entries import Corrupt, Source
from ..session.garbage import paused_gc
from ..session.session import Session
from ..text import plural
from .damaged_lines import Repair, repair_line

Data = bytes | memoryview
"""The content of a file."""

BOM = b"\xef\xbb\xbf"
DEEPEST = 256
"""Maximum nesting. Deeper values are converted to strings of their JSON."""
_WILD = re.compile(r"[*?\[]")
_LINE_END = re.compile(b"\n")
_SOLID = re.compile(rb"[^ \t-\r]")
_PIECE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},\n\r]', re.DOTALL)
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]+|[\]}]+', re.DOTALL)
_fast = msgspec.json.Decoder()


class LineTaker(Protocol):
    """A consumer of the lines of a file, one after the other."""

    corrupt: list[Corrupt]

    def take(self, source: Source, line: memoryview) -> None:
        """Read the next line. A line that cannot be read is added to `corrupt` and has no other effect."""

    def check_last(self, source: Source) -> None:
        """Note that the last line was read without a line end, so that it may be incomplete."""


class Lines(LineTaker, Protocol):
    """The lines read so far from a file. More may follow, even after a session was built from them.

    If `goes_on` is False, no more follow, and they may be freed while the session is built: the parsed rows
    and the session need not be in memory together.
    """

    goes_on: bool

    def make_session(self) -> Session:
        """Return the session of these lines. Raises `EmptySession` if none of them is a message."""


@dataclass(frozen=True)
class Reader:
    """One transcript format.

    Attributes:
        name: Identifier of the format.
        title: Name on the screen.
        sniff: Return None if the first records are of this format, else a short reason.
        read: Read the whole file. Raises `EmptySession` if it contains no messages, and `ReadError` if the
            content is not what `sniff` recognised.
        start: Begin to read a file of lines. Such a file can be followed while it grows.
        find_beside: Return names, or patterns with `*`, of other files in the folder or below that belong
            to the session, given the content and the name of one file. Untrusted text in a pattern must
            be passed through `escape_name`.
        read_all: Read a file with the contents of its other files, by name.
        is_foreign: Return whether another file does not belong to the session, from its beginning. Such a
            file is not read completely.
        start_all: Begin to read a growing file of lines with its other files.
        name_holders: Return names or patterns of the parent session's file, given the name and the first
            bytes of a sub-agent's file; () for any other file.
        most_beside: The maximum number of other files.
        folder_file: The file by which a folder with a session is opened.
    """

    name: str
    title: str
    sniff: Callable[[Data], str | None]
    read: Callable[[Data], Session]
    start: Callable[[], Lines] | None = None
    find_beside: Callable[[Data, str], tuple[str, ...]] = lambda data, name: ()
    read_all: Callable[[Data, Mapping[str, Data]], Session] | None = None
    is_foreign: Callable[[Data, bytes], bool] | None = None
    start_all: Callable[[Mapping[str, Data]], Lines] | None = None
    name_holders: Callable[[str, bytes], tuple[str, ...]] | None = None
    most_beside: int = 64
    folder_file: str = ""


def escape_name(name: str) -> str:
    """Return a pattern that matches this file name only.

    >>> escape_name("[1] *.jsonl")
    '[[]1] [*].jsonl'
    """
    return _WILD.sub(r"[\g<0>]", name)


def read_lines(lines: Lines, data: Data) -> Session:
    """Return the session of all lines. Raises `EmptySession` if none of them is a message."""
    with paused_gc():
        take_all(lines, data)
        return lines.make_session()


def lines_reader(
    name: str, title: str, sniff: Callable[[Data], str | None], start: Callable[[], Lines], **more: Any
) -> Reader:
    """Return the reader of a format of lines; `start` begins to read a file."""
    return Reader(name, title, sniff, lambda data: read_lines(start(), data), start, **more)


def take_all(lines: LineTaker, data: Data) -> None:
    """Pass every line of a whole file to `lines`."""
    last = take_lines(lines, data)
    lines.corrupt.extend(filter(None, [last.unfinished]))


class LastLine(NamedTuple):
    """The state at the end of the data of a file of lines.

    `end` is the offset after the last line that was read, `unfinished` the rest of the data, if later data
    may complete it; until then it is a corrupt record. `unended`: the last line that was read has no end.
    """

    end: int
    has_lines: bool
    unfinished: Corrupt | None = None
    unended: bool = False


def take_lines(lines: LineTaker, data: Data, number: int = 1, offset: int = 0) -> LastLine:
    """Pass every line to `lines`; of a damaged line, pass each complete record.

    `number` and `offset` describe the first line in `data`. A damaged line remains in `lines.corrupt`.
    """
    steps = _iter_taken(lines, data, number, offset)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            last: LastLine = stop.value
            return last


def iter_values(data: Data, corrupt: list[Corrupt]) -> Iterator[tuple[Source, Any]]:
    """Yield each JSON value of a file of lines with its source; add unreadable lines to `corrupt`."""
    for values in iter_line_values(data, corrupt):
        yield from values


def iter_line_values(data: Data, corrupt: list[Corrupt]) -> Iterator[list[tuple[Source, Any]]]:
    """Yield the values of each line: one value, or the complete values of a damaged line."""
    values = _Values(corrupt)
    steps = _iter_taken(values, data, 1, 0)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            corrupt.extend(filter(None, [stop.value.unfinished]))
            return
        yield values.values
        values.values = []


class _Values:
    """Collect the values of lines."""

    def __init__(self, corrupt: list[Corrupt]) -> None:
        self.values: list[tuple[Source, Any]] = []
        self.corrupt = corrupt

    def take(self, source: Source, line: memoryview) -> None:
        try:
            self.values.append((source, decode(line)))
        except ValueError as error:
            self.corrupt.append(Corrupt(line=source.line, offset=source.offset, reason=str(error)))

    def check_last(self, source: Source) -> None:
        pass


def _iter_taken(lines: LineTaker, data: Data, number: int, offset: int) -> Generator[None, None, LastLine]:
    """Do what `take_lines` does, and pause after each line."""
    size = len(data)
    end, has_lines = 0, False
    for source, line in iter_lines(data, number, offset):
        start = source.offset - offset
        stop = start + source.size
        if start < end:
            continue  # part of a string of a record that begins on an earlier line
        corrupt = len(lines.corrupt)
        lines.take(source, line)
        if len(lines.corrupt) > corrupt:
            repair = repair_line(data, start, stop)
            if repair.spans:
                _take_whole(lines, data, source, repair, start)
                stop = repair.end
            elif stop == size or repair.is_open:
                if stop == size:
                    lines.check_last(source)
                return LastLine(start, has_lines, lines.corrupt.pop())
        elif stop == size:
            lines.check_last(source)
        has_lines = True
        yield
        if stop == size:
            return LastLine(size, True, unended=True)
        end = stop + 1
    return LastLine(end, has_lines)


def _take_whole(lines: LineTaker, data: Data, source: Source, repair: Repair, start: int) -> None:
    """Read the complete records of a damaged line. The line remains corrupt."""
    fault = lines.corrupt.pop()
    read = 0
    for begin, stop in repair.spans:
        corrupt = len(lines.corrupt)
        place = Source(source.line, source.offset + begin - start, stop - begin)
        lines.take(place, memoryview(data)[begin:stop])
        read += len(lines.corrupt) == corrupt
        del lines.corrupt[corrupt:]
    reason = f"{fault.reason}; {plural(read, 'whole record in it was', 'whole records in it were')} read"
    lines.corrupt.append(
        Corrupt(line=fault.line, offset=fault.offset, reason=reason if read else fault.reason)
    )


def iter_lines(data: Data, number: int = 1, offset: int = 0) -> Iterator[tuple[Source, memoryview]]:
    """Yield every line that is not blank, with its 1-based number, byte offset and size without line end.

    `number` and `offset` describe the first line in `data`, if it is not a whole file.

    >>> [(source.line, source.offset, bytes(line)) for source, line in iter_lines(b"1\\n\\n 2\\r\\n3")]
    [(1, 0, b'1'), (3, 3, b' 2\\r'), (4, 7, b'3')]
    """
    view = memoryview(data)
    size = len(view)
    start = len(BOM) if not offset and bytes(view[: len(BOM)]) == BOM else 0
    line = number
    while start < size:
        end = _find_line_end(data, start, size)
        if end > start and (view[start] > 32 or bytes(view[start:end]).strip()):
            yield Source(line, offset + start, end - start), view[start:end]
            line, start = line + 1, end + 1
            continue
        # Skip blank lines together: there may be a million of them.
        solid = _SOLID.search(data, start)
        blank = bytes(view[start : size if solid is None else solid.start()])
        line += blank.count(b"\n")
        start = size if solid is None else start + blank.rfind(b"\n") + 1


def _find_line_end(data: Data, start: int, size: int) -> int:
    """Return the end of the line that begins at `start`; the last line ends with the data."""
    if isinstance(data, memoryview):
        match = _LINE_END.search(data, start)
        return size if match is None else match.start()
    # Three times as fast as a regular expression.
    end = data.find(b"\n", start)
    return size if end < 0 else end


def spread_list(data: Data) -> bytes:
    """Convert a JSON list to JSON Lines; each item keeps its offset.

    >>> spread_list(b'[\\n {"a": [1,\\n 2]},\\n {"b": "],"}]')
    b'   {"a": [1,  2]}\\n  {"b": "],"} '
    """
    spread = bytearray(data)
    depth = 0
    for piece in _PIECE.finditer(bytes(spread)):
        offset, sign = piece.start(), piece.group()
        if sign in (b"\n", b"\r"):
            spread[offset] = 32
        elif sign in (b"[", b"{"):
            depth += 1
            if depth == 1:
                spread[offset] = 32
        elif sign in (b"]", b"}"):
            if depth == 1:
                spread[offset] = 32
            depth -= 1
        elif sign == b"," and depth == 1:
            spread[offset] = 10
    return bytes(spread)


def decode(raw: bytes | memoryview) -> Any:
    """Decode one JSON value. Raises `ValueError` with a short reason.

    >>> decode(b'["\\\\ud83d", NaN]')
    ['\\ud83d', nan]
    """
    try:
        return _fast.decode(raw)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return decode_slowly(raw)


def decode_document(data: Data) -> Any:
    """Decode a whole file that is one JSON value. Raises `ValueError` with a short reason."""
    view = memoryview(data)
    return decode(view[len(BOM) :] if bytes(view[: len(BOM)]) == BOM else view)


def decode_slowly(raw: bytes | memoryview) -> Any:
    """Decode a value that the fast decoder refused, for instance because it is not strict JSON."""
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
    """Convert every object or array below `DEEPEST` levels of nesting to a string.

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
    """Parse an integer. One with too many digits for Python becomes a float."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)
