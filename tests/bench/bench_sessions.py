"""How long `sessions()` takes over 10,000 files: the first time, and once the index knows them. Gate: 1 s."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from inspector import sessions

FILES = 10_000
PROJECTS = 50


def fill(home: Path, count: int = FILES) -> None:
    """A home with so many small sessions of Claude Code's, in projects."""
    for number in range(count):
        folder = home / ".claude" / "projects" / f"-p{number % PROJECTS}"
        if number < PROJECTS:
            folder.mkdir(parents=True)
        row = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": f"tide {number}"}}
        (folder / f"{number:05}.jsonl").write_text(json.dumps(row) + "\n")


def time_listings(home: Path, index: Path) -> tuple[float, float]:
    """Seconds of the first listing and of the second; the second reads no file."""
    took = []
    for seconds in (600, 0):
        start = time.perf_counter()
        found = sessions(home=home, index=index, seconds=seconds)
        took.append(time.perf_counter() - start)
        assert not any(one.problem for one in found)
    return took[0], took[1]


def run() -> Iterator[tuple[str, float]]:
    with TemporaryDirectory() as folder:
        fill(Path(folder, "home"))
        first, second = time_listings(Path(folder, "home"), Path(folder, "index"))
        yield f"sessions(), {FILES:,} files, the first time", first
        yield "sessions(), again", second
