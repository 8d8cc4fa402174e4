"""Bytes that arrive in pieces -> `Session`: a file of lines, read while it is being written.

At any time the session is the one that reading all of the file anew would give. Only what is new is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..session.entries import Corrupt, Source
from ..session.garbage import paused_gc
from ..session.session import Session
from .json_lines import Data, Reader, iter_lines
from .readers import clear_usage


class IncrementalReader:
    """What was read of a growing file. `offset` is where the next bytes are wanted from.

    That is behind the last line that could be taken. A last line without a line end is taken when it is
    whole; else it is a corrupt record for now, and read again with what follows.
    """

    def __init__(self, reader: Reader, beside: Mapping[str, Data] | None = None) -> None:
        """Nothing yet, with what lies `beside` it. Raises `ValueError` for a format that is none of lines."""
        if reader.start is None:
            raise ValueError(f"{reader.name} is no format of lines")
        self.reader = reader
        self.offset = 0
        self._line = 1
        self._lines = reader.start_all(beside) if reader.start_all and beside else reader.start()
        self._unended = False
        self._unfinished: Corrupt | None = None

    def continues(self, data: bytes) -> bool:
        """Whether these bytes, from `offset` to the end of the file, can follow what was taken."""
        return not (self._unended and data) or data.startswith(b"\n")

    def feed(self, data: bytes) -> bool:
        """Take the bytes from `offset` to the end of the file. Whether the session is another by them."""
        taken, unfinished = False, self._unfinished
        if self._unended and data:
            # The line end of a line that was taken without it.
            data, self._unended = data[1:], False
            self.offset, self._line = self.offset + 1, self._line + 1
        first, end = self.offset, data.rfind(b"\n") + 1
        behind, last = 0, None
        for source, line in iter_lines(data, self._line, first):
            if source.offset - first >= end:
                last = source, line
                break
            self._lines.take(source, line)
            taken = True
            self._line, behind = source.line, source.offset - first + source.size
        self.offset, self._line = first + end, self._line + data.count(b"\n", behind, end)
        self._unfinished = None
        if last is not None:
            taken = self._take_last(*last) or taken
        return taken or self._unfinished != unfinished

    def _take_last(self, source: Source, line: memoryview) -> bool:
        """Take a line without a line end, if it is whole. Whether it is."""
        corrupt = self._lines.corrupt
        before = len(corrupt)
        self._lines.take(source, line)
        self._lines.check_last(source)
        if len(corrupt) > before:
            self._unfinished = corrupt.pop()
            return False
        self.offset, self._unended = source.offset + source.size, True
        return True

    def make_session(self) -> Session:
        """The session of all that was fed. Raises `EmptySession` when nobody says anything in it yet."""
        corrupt = self._lines.corrupt
        if self._unfinished is not None:
            corrupt.append(self._unfinished)
        try:
            with paused_gc():
                return clear_usage(self._lines.make_session())
        finally:
            if self._unfinished is not None:
                corrupt.pop()
