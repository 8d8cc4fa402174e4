"""How long `import inspector` takes in a fresh interpreter. Gate: 200 ms."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

SCRIPT = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"


def time_import(module: str, runs: int = 7) -> float:
    """The median of `runs` fresh interpreters, in seconds, after one that warms the disk."""
    command = [sys.executable, "-c", SCRIPT.format(module)]
    seconds = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(runs + 1)
    ]
    return statistics.median(seconds[1:])


def run() -> Iterator[tuple[str, float]]:
    for module in ("numpy", "pydantic", "inspector"):
        yield f"import {module}", time_import(module)
