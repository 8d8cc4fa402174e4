"""DOOR: a session file that is still being written. At each look, only what is new in it is read.

Nothing watches the file: whoever follows it calls `poll`, about once a second.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from .disk import StrPath, find_place
from .errors import ReadError
from .formats.incremental import Growth
from .formats.json_document import HEAD
from .formats.json_lines import Reader
from .formats.readers import clear_usage, find_reader, named
from .session.session import Session

LINES = 64
"""So many records, and so many bytes (`HEAD`), settle the format: no reader looks further to tell its own."""
MARK = 4096
"""Bytes at the beginning, and before the place where reading goes on, by which the file is known again."""


class Stand(NamedTuple):
    """What the file system tells of a file."""

    device: int
    inode: int
    size: int
    modified: int


class Tail:
    """A session file that grows. `session` is what it held at the last look.

    After each look `session == open_session(path)`, whatever was written meanwhile: a line may be half
    written, the file may be cut short, replaced or written anew. Where a file of lines only grew, no more
    than its new bytes are read; everything else is read anew. A file that grew *and* was changed somewhere
    in the middle in the same moment, at equal length, is taken for one that only grew.

    >>> from tempfile import TemporaryDirectory
    >>> row = '{"type": "user", "uuid": "%s", "parentUuid": null, "message": {"content": "Hello"}}'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "growing.jsonl")
    ...     _ = path.write_text(row % "a" + chr(10))
    ...     tail = Tail(path)
    ...     with path.open("a") as file:
    ...         _ = file.write(row % "b" + chr(10))
    ...     len(tail.session.entries), len(tail.poll().entries), tail.poll()
    (1, 2, None)
    """

    def __init__(self, path: StrPath, format: str | None = None) -> None:
        """Open the file. Raises what `open_session` raises."""
        self.path: Path = find_place(path)
        self.format = format
        self.session: Session
        self._stand: Stand | None = None
        self._growth: Growth | None = None
        self._refused: tuple[Stand, ReadError] | None = None
        self._head = self._mark = b""
        self._read_anew()

    def poll(self) -> Session | None:
        """The session as it is now, or None when it is the same as at the last look.

        Raises `OSError` when the file is gone, and `ReadError` when what stands there now is no session;
        `session` then stays what it was; it is read again once the file has changed.
        """
        look = self._look()
        if look == self._stand:
            return None
        if self._refused is not None and look == self._refused[0]:
            # It was read whole once; as long as it stays as it is, it is no session.
            raise self._refused[1].with_traceback(None)
        grown = self._read_on()
        if grown is None:
            before = self.session
            try:
                self._read_anew()
            except ReadError as error:
                self._refused = look, error
                raise
            grown = self.session != before
        self._refused = None
        return self.session if grown else None

    def _look(self) -> Stand:
        return _stand(self.path.stat())

    def _read_on(self) -> bool | None:
        """Read what is new. Whether there is anything; None when all has to be read anew."""
        growth, known = self._growth, self._stand
        if growth is None or known is None:
            return None
        with self.path.open("rb") as file:
            now = _stand(os.fstat(file.fileno()))
            # A file that was written to and did not grow was not only added to.
            if now[:2] != known[:2] or now.size <= known.size:
                return None
            head = file.read(len(self._head))
            file.seek(growth.offset - len(self._mark))
            mark, data = file.read(len(self._mark)), file.read()
        if (head, mark) != (self._head, self._mark) or not growth.continues(data):
            return None
        start = growth.offset
        # Should it fail half-way, the next look reads anew.
        self._growth = self._stand = None
        changed = growth.feed(data)
        if changed:
            with named(growth.reader, str(self.path)):
                self.session = growth.make_session()
        self._mark = (mark + data[: growth.offset - start])[-MARK:]
        self._growth, self._stand = growth, now
        return changed

    def _read_anew(self) -> None:
        self._growth = self._stand = None
        with self.path.open("rb") as file:
            stand, data = _stand(os.fstat(file.fileno())), file.read()
        if not data:
            raise ReadError(str(self.path), detail="it is empty")
        reader = find_reader(data, str(self.path), self.format)
        with named(reader, str(self.path)):
            self.session, growth = self._read(reader, data)
        if growth is not None:
            self._head, self._mark = data[:MARK], data[: growth.offset][-MARK:]
        self._growth, self._stand = growth, stand

    def _read(self, reader: Reader, data: bytes) -> tuple[Session, Growth | None]:
        """The session, and what can go on with it where the format is one of lines, and certain."""
        if reader.start is None:
            return clear_usage(reader.read(data)), None
        growth = Growth(reader)
        growth.feed(data)
        session = growth.make_session()
        settled = self.format is not None or (len(data) > HEAD and session.records > LINES)
        return session, growth if settled else None


def _stand(told: os.stat_result) -> Stand:
    return Stand(told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns)
