"""Validation of paths from users and from files: expanded, regular files, not hidden."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from .errors import ArgumentError, ReadError


def spell_out(path: object, call: str, argument: str = "path") -> Path:
    """Return a path with "~" expanded. Raises `ArgumentError` in the name of the function `call`."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    expected = "the path of a file"
    if call == "open_session" and isinstance(text, list | dict | bytes):
        expected += "; read_session takes what is in memory"
    if isinstance(text, str) and text and "\0" not in text:
        try:
            os.fsencode(text)  # raises for a lone surrogate that no byte of a name decodes to
            return Path(text).expanduser()
        except (UnicodeEncodeError, RuntimeError) as error:
            if isinstance(error, RuntimeError):
                name = Path(text).parts[0][1:]
                expected += f"; there is no user {name} here" if name else "; this user has no home"
    raise ArgumentError(call, argument, text, expected)


_OTHER_FILES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe, which may never end: save what it gives to a file first"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def find_status(place: Path) -> os.stat_result:
    """Return the status of a file. Raises `ReadError` for a symbolic link to itself, else `OSError`."""
    try:
        return place.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ReadError(str(place), detail="it is a symbolic link that leads back to itself") from None
        raise


def check_regular(place: Path, status: os.stat_result) -> None:
    """Raise `ReadError` unless a file is regular: reading a pipe may block, and a device may never end."""
    for is_other, kind in _OTHER_FILES:
        if is_other(status.st_mode):
            raise ReadError(str(place), detail=f"it is {kind}")


def open_regular(place: Path) -> BinaryIO:
    """Open a regular file to read it.

    Never waits for the writer of a named pipe, even of one that took the place of a file after a check.

    Raises:
        ReadError: It is not a regular file.
        OSError: It cannot be opened.
    """
    file = open(place, "rb", opener=_open_at_once)  # noqa: SIM115
    try:
        check_regular(place, os.fstat(file.fileno()))
    except BaseException:
        file.close()
        raise
    return file


def _open_at_once(path: str, flags: int) -> int:
    with suppress(BlockingIOError):  # another program has a lease, which only a regular file can have
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    return os.open(path, flags)


def is_shown(place: Path, home: Path) -> bool:
    """Whether a path below `home` is a regular file that is not hidden and does not leave it through a link.

    Checked for names that a file contains, since the file is untrusted.
    """
    relative = place.relative_to(home)
    inside = place.resolve().parent == home.resolve() / relative.parent
    return inside and not any(part[0] == "." for part in relative.parts) and place.is_file()


def read_texts(paths: Iterable[str]) -> dict[str, str]:
    """The texts of small files, by their paths."""
    return {path: Path(path).read_text("utf-8") for path in paths}


def find_cache_folder() -> Path | None:
    """Return this package's folder in the user's cache folder, or None if the user has no home."""
    from platformdirs import user_cache_path

    with suppress(RuntimeError):
        folder = user_cache_path("compaction-inspector")
        return folder if folder.is_absolute() else None
    return None
