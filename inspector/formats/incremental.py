"""Read a `Session` from a file of lines in pieces: while it is being written, or because it is large.

At any time, the session equals the result of reading the whole file again. Only new data is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import BinaryIO

from ..errors import ReadError
from ..session.entries import Corrupt
from ..session.garbage import paused_gc
from ..session.session import Session
from .json_document import HEAD
from .json_lines import Data, Reader, iter_lines, take_lines
from .parts import list_parts
from .readers import clear_usage, find_reader

LINES = 64
"""Number of records after which, with `HEAD` bytes, the format is certain: no reader looks further."""
FIRST, PIECE = 1 << 22, 1 << 19
"""Bytes of a large file that are read at first, and then at a time. Small pieces reuse memory."""
LARGE = 1 << 25
"""Minimum size in bytes for reading a file in pieces."""


def find_lines_reader(head: bytes, name: str, format: str | None = None) -> Reader | None:
    """Return the reader of a file of lines from its beginning; None if that requires the whole file."""
    lines = head[: head.rfind(b"\n") + 1]
    settled = len(lines) > HEAD and len(list(islice(iter_lines(lines), LINES + 1))) > LINES
    try:
        if settled and lines.startswith(b"{") and list_parts(lines) is None:
            reader = find_reader(lines, name, format)
            return reader if reader.start is not None else None
    except ReadError:
        pass  # the caller reports the error after reading the whole file
    return None


def read_pieces(file: BinaryIO, head: bytes) -> Iterator[bytes]:
    """Yield the lines of a file whose `head` was read, in pieces, and then the part after the last line end.

    >>> from io import BytesIO
    >>> list(read_pieces(BytesIO(b"3\\n4"), b"1\\n2"))
    [b'1\\n', b'23\\n', b'4']
    """
    pieces = [head]
    while True:
        last = pieces.pop()
        if end := last.rfind(b"\n") + 1:
            yield b"".join((*pieces, memoryview(last)[:end]))
            pieces.clear()
        pieces.append(last[end:])
        if not (more := file.read(PIECE)):
            break
        pieces.append(more)
    if rest := b"".join(pieces):
        yield rest


class IncrementalReader:
    """Read a growing file in pieces. `offset` is the position of the next bytes to read.

    It is the end of the last line that could be read. A last line without a line end is read if it is
    complete. Otherwise it is a corrupt record until more data arrives, and then it is read again. The same
    holds for a record whose string may continue in the next line.
    """

    def __init__(self, reader: Reader, other_files: Mapping[str, Data] | None = None) -> None:
        """Start with the other files of the folder. Raises `ValueError` if the format is not of lines."""
        if reader.start is None:
            raise ValueError(f"{reader.name} is not a format of lines")
        self.reader = reader
        self.offset = 0
        self._line = 1
        self._lines = reader.start_all(other_files) if reader.start_all and other_files else reader.start()
        self._rest = b""
        self._unended = False
        self._unfinished: Corrupt | None = None

    def continues(self, data: bytes) -> bool:
        """Whether these bytes, from `offset` to the end of the file, can follow the lines read so far."""
        return not (self._unended and data) or data.startswith(b"\n")

    def feed(self, data: bytes) -> bool:
        """Read the bytes from `offset` to the end of the file. Return whether the session changed."""
        if not data:
            return False
        unfinished = self._unfinished
        if self._unended:
            # The line end of a line that was read without it.
            data = data[1:]
            self.offset, self._line = self.offset + 1, self._line + 1
        last = take_lines(self._lines, data, self._line, self.offset)
        self.offset, self._line = self.offset + last.end, self._line + data.count(b"\n", 0, last.end)
        self._unfinished, self._unended = last.unfinished, last.unended
        return last.has_lines or self._unfinished != unfinished

    def feed_piece(self, piece: bytes) -> None:
        """Read the next piece of a file whose pieces are read once, in order."""
        data, start = self._rest + piece, self.offset
        self.feed(data)
        self._rest = data[self.offset - start :]  # part of a record that continues in the next piece

    def make_session(self, *, last: bool = False) -> Session:
        """Build the session of the data so far. Raises `EmptySession` if it contains no message yet.

        With `last`, less memory is used, and no more data can be read afterwards.
        """
        self._lines.goes_on = not last
        corrupt = self._lines.corrupt
        if self._unfinished is not None:
            corrupt.append(self._unfinished)
        try:
            with paused_gc():
                return clear_usage(self._lines.make_session())
        finally:
            if self._unfinished is not None:
                corrupt.pop()
