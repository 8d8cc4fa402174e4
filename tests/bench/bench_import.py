"""How long a fresh interpreter takes: to import the package (gate: 200 ms), and for a command from its start
to its end, on a session of some dozen records that was never compacted (gate: 300 ms for the first three).

The first run of each is not counted: it leaves its compiled code behind, as installing a package does, in a
folder of its own and whatever the environment says of writing any. Beside a command's time on the clock
stands the processor's, which other work on the machine changes less.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from inspector.demo import read_demo

SCRIPT = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"


def time_import(module: str, compiled: str, runs: int = 7) -> float:
    """The median of `runs` fresh interpreters, in seconds, after one that warms the disk."""
    command = [sys.executable, "-c", SCRIPT.format(module)]
    seconds = [
        float(
            subprocess.run(
                command, capture_output=True, text=True, check=True, env=keep_compiled(compiled)
            ).stdout
        )
        for _ in range(runs + 1)
    ]
    return statistics.median(seconds[1:])


def time_command(compiled: str, *arguments: str, runs: int = 7) -> str:
    """The same of a whole command, the interpreter's own start with it, and the processor's time."""
    command = [sys.executable, "-m", "inspector.cli", *arguments]
    seconds, busy = [], []
    for _ in range(runs + 1):
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=False, env=keep_compiled(compiled))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(time.perf_counter() - begin)
        busy.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    clock, processor = statistics.median(seconds[1:]), statistics.median(busy[1:])
    return f"{clock * 1e3:.0f} ms, {processor * 1e3:.0f} ms of the processor"


def keep_compiled(folder: str) -> dict[str, str]:
    """The environment in which a process keeps its compiled code in a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": folder}


def run() -> Iterator[tuple[str, float | str]]:
    with TemporaryDirectory() as folder:
        compiled = str(Path(folder, "compiled"))
        for module in ("numpy", "pydantic", "inspector"):
            yield f"import {module}", time_import(module, compiled)
        whole, short = Path(folder, "whole.jsonl"), Path(folder, "short.jsonl")
        whole.write_bytes(read_demo())
        short.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
        commands = {
            "--help": ["--help"],
            "check, 40 records": ["check", str(short)],
            "show --estimate, 40 records": ["show", "--estimate", str(short)],
            "show, 40 records": ["show", str(short)],
            "check, the demo with a compaction": ["check", str(whole)],
        }
        for name, arguments in commands.items():
            yield f"compaction-inspector {name}", time_command(compiled, *arguments)
