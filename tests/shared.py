"""The transcripts and vectors that lie beside this checkout on some machines, and never in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from inspector.files import open_session
from inspector.session.session import Session

SHARED = Path(__file__).parents[2] / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.exists(), reason="the shared transcripts are not beside this checkout"
)


@cache
def open_shared(path: Path) -> Session:
    """One of these sessions, opened once in a process, so that its facts are found once too."""
    return open_session(path)


def list_few() -> list[Path]:
    """The smallest session of each folder and the one in the middle, for what is alike in the others."""
    folders: dict[Path, list[Path]] = {}
    for path in (SHARED / "sessions").rglob("*.json*"):
        folders.setdefault(path.parent, []).append(path)
    for files in folders.values():
        files.sort(key=lambda path: (path.stat().st_size, path))
    return sorted({files[at] for files in folders.values() for at in (0, len(files) // 2)})
