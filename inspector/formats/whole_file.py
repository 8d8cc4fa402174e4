"""DOOR: files written in one step. A path and bytes in, and the file is the old one or the new one, whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(target: Path, content: bytes) -> None:
    """Write a file in one step: it is either the old one or the new one, whole. `OSError` names the file."""
    with _write_beside(target, content) as beside:
        if target.exists():
            from shutil import copymode

            copymode(target, beside)
        beside.replace(target)


def write_new(target: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole. Raises `FileExistsError` where anything stands already."""
    with _write_beside(target, content) as beside:
        try:
            # Unlike a move, a second name never takes the place of a file.
            os.link(beside, target)
        except FileExistsError:
            raise FileExistsError(f"{target} stands there already, and is not written over") from None
        except OSError:
            # Not every system gives a file two names.
            with target.open("xb") as file:
                file.write(content)


@contextmanager
def _write_beside(target: Path, content: bytes) -> Iterator[Path]:
    """A file beside the one that is meant, its content on the disk; gone in the end, whatever happens."""
    beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield beside
    except OSError as error:
        if str(error.filename) == str(beside):
            # Nobody asked for a file of that name.
            error.filename, error.filename2 = str(target), None
        raise
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the move itself last. Not every system lets a folder be opened; then it must do without."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
