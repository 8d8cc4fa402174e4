"""I/O: write files in one step. A reader sees the old file or the new one, each complete.

The content is written to a temporary file in the target's folder, which is then renamed to the target. A
temporary file is locked while its writer runs. A file without a lock was left by a killed writer; the next
write to the folder removes it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from operator import and_
from pathlib import Path

_TEMPORARY = re.compile(r"\.compaction-inspector-[0-9a-f]{8}\.tmp")


def write_whole(target: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file in one step. An existing file is replaced.

    `mode` are the permissions of the source of the content. If the target exists, the new file gets those
    that both grant; if neither is known, the default of the process. An `OSError` names the target.
    """
    with suppress(OSError):
        mode = strictest([mode, stat.S_IMODE(target.stat().st_mode)])
    with _write_beside(target, content, mode) as temporary:
        temporary.replace(target)


def write_new(target: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file that does not exist yet, with the permissions `mode`.

    Raises `FileExistsError` if there is anything at the target, else as `write_whole`.
    """
    with _write_beside(target, content, mode) as temporary:
        try:
            # Unlike a move, a second name never takes the place of a file.
            os.link(temporary, target)
        except FileExistsError:
            raise FileExistsError(f"{target} exists already, so it is not written over") from None
        except OSError:
            # Not every file system supports a second name. The empty file reserves the name.
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            temporary.replace(target)


def strictest(modes: Iterable[int | None]) -> int | None:
    """Return the permissions that all modes grant, plus read and write for the owner; None without a mode.

    >>> oct(strictest([0o644, None, 0o660])), strictest([None])
    ('0o640', None)
    """
    granted = [mode for mode in modes if mode is not None]
    return reduce(and_, granted) & 0o666 | 0o600 if granted else None


def mode_of(*paths: str | os.PathLike[str]) -> int | None:
    """Return the permissions that all files grant. Files that do not exist are ignored."""
    modes = []
    for path in paths:
        with suppress(OSError, ValueError):
            modes.append(stat.S_IMODE(Path(path).stat().st_mode))
    return strictest(modes)


def remove_stale(folder: Path) -> None:
    """Remove the temporary files that killed writers left in a folder."""
    with suppress(OSError):
        stale = [Path(file.path) for file in os.scandir(folder) if _TEMPORARY.fullmatch(file.name)]
        for file in stale:
            _remove_unlocked(file)


def _remove_unlocked(place: Path) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            place.unlink()  # refused while the writer has it open
            return
        handle = os.open(place, os.O_RDWR | os.O_NOFOLLOW)
        try:
            take_lock(handle)
            place.unlink()
        finally:
            os.close(handle)


def take_lock(handle: int) -> None:
    """Lock an open file until it is closed. Raises `OSError` if another process or handle has the lock."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _write_beside(target: Path, content: bytes, mode: int | None) -> Iterator[Path]:
    """Write the content to a temporary file in the target's folder. The file is removed at the end."""
    remove_stale(target.parent)
    temporary = None
    try:
        temporary, handle = _create_beside(target, 0o666 if mode is None else 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                temporary.chmod(mode)
            os.fsync(file.fileno())
            if sys.platform != "win32":  # there an open file cannot be renamed
                yield temporary
        if sys.platform == "win32":
            yield temporary
    except OSError as error:
        if temporary is None or str(error.filename) == str(temporary):
            # The user did not ask for a file of that name.
            error.filename, error.filename2 = str(target), None
        raise
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _create_beside(target: Path, mode: int) -> tuple[Path, int]:
    """Create and lock a temporary file with this mode. Return its path and its handle."""
    while True:
        temporary = target.with_name(f".compaction-inspector-{os.urandom(4).hex()}.tmp")
        try:
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            continue
        if sys.platform != "win32":
            with suppress(OSError):  # not every file system has locks
                take_lock(handle)
            if not os.fstat(handle).st_nlink:
                os.close(handle)  # another writer removed it as stale before it was locked
                continue
        return temporary, handle


def _sync_folder(folder: Path) -> None:
    """Flush the new name to the disk, if the system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
