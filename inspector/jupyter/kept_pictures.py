"""The first picture of a large session, kept, so that it is on the screen before the file is read again.

A picture is every trait of the document as it was opened. It belongs to the file as it was, by its size and
the time of its last change, to what was asked for, and to this version of the package. What the file then
turns out to hold takes its place, so that an old picture stands no longer than reading takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from os import stat_result
from typing import Any

import msgspec

from ..workbench.controller import Traits
from .kept_files import KeptFiles

LARGE = 8_000_000
"""Bytes of a file from which on reading it is waited for."""
KEPT = KeptFiles("pictures", ".msgpack", 8_000_000, most=100)


class Picture(msgspec.Struct, array_like=True):
    """What is kept, and what it is a picture of."""

    version: str
    size: int
    changed: int
    asked: dict[str, Any]
    traits: dict[str, Any]


def read_picture(path: str, status: stat_result, asked: Mapping[str, Any]) -> Traits:
    """The traits kept for the file at `path`, opened with these inputs; {} for none that fit."""
    kept = KEPT.read(path) if status.st_size >= LARGE else b""
    try:
        picture = msgspec.msgpack.decode(kept, type=Picture)
    except msgspec.MsgspecError:
        return {}
    now = (_version(), status.st_size, status.st_mtime_ns)
    fits = (picture.version, picture.size, picture.changed) == now and picture.asked == asked
    return picture.traits if fits else {}


def write_picture(path: str, status: stat_result, asked: Mapping[str, Any], traits: Traits) -> None:
    """Keep the traits of the file at `path` as it was opened with these inputs, where it is a large one."""
    if status.st_size >= LARGE:
        picture = Picture(_version(), status.st_size, status.st_mtime_ns, dict(asked), traits)
        KEPT.write(path, msgspec.msgpack.encode(picture))


def drop_picture(path: str) -> None:
    """Keep none of the file at `path` any more."""
    KEPT.write(path, b"")


@cache
def _version() -> str:
    return version("compaction-inspector")
