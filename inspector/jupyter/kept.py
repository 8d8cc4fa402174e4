"""Stored first pictures of large sessions, and stored summaries that were written in a document.

A picture contains all traits of a document when it was opened, and is shown before the file is read again. It
is valid for the same file (by size and time of its last change), the same inputs and the same version of the
package. It is replaced as soon as the file has been read. Summaries survive a restart of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from os import stat_result
from typing import Any

import msgspec

from ..kept_files import KeptFiles
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..session.session import Session
from ..workbench.controller import Traits
from ..workbench.written_summaries import WrittenSummary, load_written, update_written

LARGE = 8_000_000
"""Minimum size in bytes of files whose pictures are stored."""
PICTURES = KeptFiles("pictures", ".msgpack", 8_000_000, most=100)
SUMMARIES = KeptFiles("written", ".json", 32_000_000)
"""Large enough for the longest text that may be pasted, with every character escaped."""


_StoredTraits = tuple[str, int, int, dict[str, Any], dict[str, Any]]
"""Version of the package, size and time of change of the file, the inputs, and the traits."""


def read_picture(path: str, status: stat_result, inputs: Mapping[str, Any]) -> Traits:
    """Return the traits stored for the file at `path`, opened with these inputs; {} if none are valid."""
    packed = PICTURES.read(path) if status.st_size >= LARGE else b""
    try:
        *origin, traits = msgspec.msgpack.decode(packed, type=_StoredTraits)
    except msgspec.MsgspecError:
        return {}
    return traits if origin == [_version(), status.st_size, status.st_mtime_ns, dict(inputs)] else {}


def write_picture(path: str, status: stat_result, inputs: Mapping[str, Any], traits: Traits) -> None:
    """Store the traits of the file at `path`, opened with these inputs, if the file is large."""
    if status.st_size >= LARGE:
        stored = (_version(), status.st_size, status.st_mtime_ns, dict(inputs), traits)
        PICTURES.write(path, msgspec.msgpack.encode(stored))


def drop_picture(path: str) -> None:
    """Remove the stored picture of the file at `path`."""
    PICTURES.write(path, b"")


@cache
def _version() -> str:
    return version("compaction-inspector")


def read_kept(path: str, session: Session) -> tuple[WrittenSummary, ...]:
    """Return the stored summaries of the session in the file at `path` whose entries are unchanged."""
    content = SUMMARIES.read(path)
    return load_written(content, session) if content else ()


def keep_summary(path: str, plan: Plan, checkpoint: Checkpoint | None) -> None:
    """Store the summary written for a plan of the session in the file at `path`; None removes it.

    The same session may be open in several documents, so summaries stored by others are preserved.
    """

    def change(content: bytes) -> bytes:
        return update_written(content, plan, checkpoint, SUMMARIES.most_bytes).encode("ascii")

    SUMMARIES.update(path, change)
