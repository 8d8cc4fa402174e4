"""I/O: data stored about sessions: a file in the user's cache folder for each session's path.

The files quote the session, so only the user may read them. Errors of reading and writing are ignored.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from .formats.whole_file import write_whole
from .paths import find_cache_folder
from .session.labels import FindingJudgement
from .session.session import Session

_UPDATING = threading.Lock()


class KeptFiles(NamedTuple):
    """A folder of stored files. Files above `most_bytes` are ignored; the newest `most` are kept."""

    folder: str
    suffix: str
    most_bytes: int
    most: int = 1000

    def read(self, path: str) -> bytes:
        """Read what is stored for the session in the file at `path`; b"" if nothing is."""
        place = self._find_place(path)
        with suppress(OSError):
            if place is not None and place.stat().st_size <= self.most_bytes:
                return place.read_bytes()
        return b""

    def write(self, path: str, content: bytes) -> None:
        """Store data for the session in the file at `path`; b"" removes it."""
        place = self._find_place(path)
        if place is None:
            return
        with suppress(OSError):
            if not content or len(content) > self.most_bytes:
                place.unlink(missing_ok=True)
                return
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(place, content, 0o600)
            self._make_room(place.parent)

    def update(self, path: str, change: Callable[[bytes], bytes]) -> None:
        """Replace the data stored for the session in the file at `path` by `change` of it.

        Updates of several threads and servers run one after another, so that none is lost.
        """
        with _UPDATING, self._lock():
            self.write(path, change(self.read(path)))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Lock the folder against other processes, if the system and the folder permit it."""
        cache = find_cache_folder()
        if cache is None:  # a user without a home: nothing is stored
            yield
            return
        with ExitStack() as stack:
            with suppress(ImportError, OSError):
                from fcntl import LOCK_EX, flock

                folder = cache / self.folder
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = os.open(folder / ".lock", os.O_WRONLY | os.O_CREAT, 0o600)
                stack.callback(os.close, lock)
                flock(lock, LOCK_EX)
            yield

    def _make_room(self, folder: Path) -> None:
        files = sorted(folder.glob(f"*{self.suffix}"), key=lambda file: file.stat().st_mtime_ns)
        for old in files[: -self.most]:
            old.unlink(missing_ok=True)

    def _find_place(self, path: str) -> Path | None:
        name = sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()
        folder = find_cache_folder()
        return None if folder is None else folder / self.folder / f"{name}{self.suffix}"


JUDGEMENTS = KeptFiles("judgements", ".json", 4_000_000)
_LIST = TypeAdapter(tuple[FindingJudgement, ...])


def recall_judgements(session: Session, path: str | os.PathLike[str]) -> Session:
    """Return the session with the judgements stored for its file."""
    content = JUDGEMENTS.read(os.fspath(path))
    if not content:
        return session
    try:
        return session.with_judgements(_LIST.validate_json(content))
    except ValidationError:
        return session


def keep_judgement(path: str | os.PathLike[str], session: Session, judgement: FindingJudgement) -> None:
    """Store a judgement of the session in the file at `path`; those stored before stay."""

    def change(content: bytes) -> bytes:
        try:
            earlier = _LIST.validate_json(content) if content else ()
        except ValidationError:
            earlier = ()
        judgements = session.with_judgements((*earlier, judgement)).judgements
        return _LIST.dump_json(judgements) if judgements else b""

    JUDGEMENTS.update(os.fspath(path), change)
