"""DOOR: session files. A path in, a `Session` out, and back as a session manifest.

A transcript is only ever read. A manifest is written beside its place and then moved there, so that the
file is either the old one or the new one, whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import ReadError
from .formats.manifest import READER, dump_manifest
from .formats.readers import read_session
from .session.session import Session

StrPath = str | os.PathLike[str]


def open_session(path: StrPath, format: str | None = None) -> Session:
    """The session in a file, in the named format or in whichever is recognised.

    Raises `ReadError` with every reader's reason when it is none, `EmptySession` when nobody says
    anything in it, and `OSError` when the file is not there or may not be read.
    """
    place = find_place(path)
    # Not mapped into memory: a mapped file that someone cuts short ends the whole process.
    data = place.read_bytes()
    if not data:
        raise ReadError(str(place), detail="it is empty")
    return read_session(data, str(place), format)


def find_place(path: StrPath) -> Path:
    """Where a path leads that is to be read. Raises `ReadError` for a folder."""
    place = Path(path).expanduser()
    if place.is_dir():
        raise ReadError(str(place), detail="it is a folder")
    return place


def save_session(session: Session, path: StrPath) -> None:
    """Write the session manifest, without loss, in one step.

    Raises `FileExistsError` rather than write over a file that is no session manifest, and `OSError`
    when the place cannot be written; whatever stood there then still does.
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder")
    if target.exists() and not _is_replaceable(target):
        raise FileExistsError(f"{target} is not a session manifest, so it is not written over")
    write_whole(target, dump_manifest(session).encode("ascii"))


def write_whole(target: Path, content: bytes) -> None:
    """Write a file in one step: it is either the old one or the new one, whole. `OSError` names the file."""
    with _write_beside(target, content) as beside:
        if target.exists():
            shutil.copymode(target, beside)
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
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
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


def session_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the session manifest."""
    schema = Session.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _is_replaceable(target: Path) -> bool:
    content = target.read_bytes()
    return not content or READER.sniff(content) is None


def _sync_folder(folder: Path) -> None:
    """Make the move itself last. Not every system lets a folder be opened; then it must do without."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
