"""I/O: find the files for a scan: all in a folder, this machine's sessions, or addresses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..errors import expect_items
from ..library import FoundSession, HolderSearch, sessions
from ..paths import spell_out

SUFFIXES = frozenset(
    {".jsonl", ".json", ".eval", ".zip", ".db", ".sqlite", ".vscdb", ".trajectory", ".traj", ".parquet"}
)
PACKED = frozenset({".gz", ".zst", ".xz", ".bz2"})
"""Suffixes of files in a folder that are tried as sessions."""

Sources = str | os.PathLike[str] | FoundSession | Iterable[str | os.PathLike[str] | FoundSession]


def list_files(sources: Sources | None) -> list[tuple[str, int]]:
    """Return every file with its size, the largest first, so that long tasks do not start last."""
    if sources is None:
        # A file that is not in the index yet may belong to a sub-agent.
        return _sort(_leave_out_held({str(file.path): file.size for file in sessions(seconds=0)}))
    if isinstance(sources, str | os.PathLike | FoundSession):
        sources = [sources]
    sizes: dict[str, int] = {}
    for source in expect_items("scan", "sources", sources, str, os.PathLike, FoundSession):
        if isinstance(source, FoundSession):
            sizes[str(source.path)] = source.size
        elif isinstance(source, str) and "://" in source:
            sizes[source] = 0
        else:
            sizes |= _list_path(spell_out(source, "scan", "sources"))
    return _sort(sizes)


def _sort(sizes: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))


def _list_path(path: Path) -> dict[str, int]:
    """Find the files below a folder, or return the file itself, with their sizes.

    Files that hold no session are included; their rows report the error.
    """
    if not path.is_dir():
        return {str(path): path.stat().st_size}
    sizes = {}
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            place = Path(folder, name)
            suffixes = [suffix.lower() for suffix in place.suffixes[-2:]]
            if suffixes and suffixes[-1] in PACKED:
                suffixes.pop()
            if name[0] != "." and suffixes and suffixes[-1] in SUFFIXES and not place.is_symlink():
                sizes[str(place)] = 0
                with suppress(OSError):  # gone since the folder was read
                    sizes[str(place)] = place.stat().st_size
    return _leave_out_held(sizes)


def _leave_out_held(sizes: dict[str, int]) -> dict[str, int]:
    """Remove files of sub-agents that are read with another of these files."""
    search, paths = HolderSearch(), set(map(os.path.realpath, sizes))
    return {
        name: size
        for name, size in sizes.items()
        if (holder := search.find(Path(name))) is None or str(holder) not in paths
    }
