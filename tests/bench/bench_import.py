"""How long a fresh interpreter takes: to import the package (gate: 200 ms), and for a command from its start
to its end, on a session of some dozen records that was never compacted (gate: 300 ms for the first three)."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from inspector.demo import read_demo

SCRIPT = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"


def time_import(module: str, runs: int = 7) -> float:
    """The median of `runs` fresh interpreters, in seconds, after one that warms the disk."""
    command = [sys.executable, "-c", SCRIPT.format(module)]
    seconds = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(runs + 1)
    ]
    return statistics.median(seconds[1:])


def time_command(*arguments: str, runs: int = 7) -> float:
    """The same of a whole command, the interpreter's own start with it."""
    command = [sys.executable, "-m", "inspector.cli", *arguments]
    seconds = []
    for _ in range(runs + 1):
        begin = time.perf_counter()
        subprocess.run(command, capture_output=True, check=False)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])


def run() -> Iterator[tuple[str, float]]:
    for module in ("numpy", "pydantic", "inspector"):
        yield f"import {module}", time_import(module)
    with TemporaryDirectory() as folder:
        whole, short = Path(folder, "whole.jsonl"), Path(folder, "short.jsonl")
        whole.write_bytes(read_demo())
        short.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
        yield "compaction-inspector --help", time_command("--help")
        yield "compaction-inspector check, 40 records", time_command("check", str(short))
        yield (
            "compaction-inspector show --estimate, 40 records",
            time_command("show", "--estimate", str(short)),
        )
        yield "compaction-inspector show, 40 records", time_command("show", str(short))
        yield "compaction-inspector check, the demo with a compaction", time_command("check", str(whole))
