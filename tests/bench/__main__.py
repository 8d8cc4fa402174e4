"""Runs every bench_*.py beside it and prints one table: `make bench`, or `ARGS=import` for one of them.

Each module's `run()` gives rows of (label, value); a value is text, or a float in seconds. A run of
all of them, on a machine with nothing else to do, also writes the table of the guide.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import speed_table

PACKAGES = "compaction-inspector numpy pydantic msgspec toktok-rs tiktoken langchain-core".split()


def text(value: object) -> str:
    """A value for people: seconds as ms below one second."""
    if not isinstance(value, float):
        return str(value)
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def machine() -> str:
    """Where the numbers come from: a busy machine or another version gives others."""
    busy = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{_processor()}, {os.cpu_count()} cores{busy}, {platform.system()}\n"
        f"Python {platform.python_version()}, " + ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is not installed"


def main(wanted: list[str]) -> None:
    here = Path(__file__).parent
    sys.path.insert(0, str(here))
    where, load = machine(), os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(where)
    rows: list[speed_table.Row] = []
    begin = time.perf_counter()
    for name in sorted(path.stem for path in here.glob("bench_*.py")):
        if wanted and name.removeprefix("bench_") not in wanted:
            continue
        print(f"\n{name.removeprefix('bench_')}", flush=True)
        for label, value in importlib.import_module(name).run():
            print(f"  {label:<66} {text(value):>24}", flush=True)
            rows.append((name.removeprefix("bench_"), label, text(value)))
    print(f"\n{time.perf_counter() - begin:.0f} s")
    if wanted:
        return
    if load > speed_table.BUSY * (os.cpu_count() or 1):
        print(f"The guide is left as it is: the machine was busy (load {load:.1f}) when this began")
        return
    page = here.parents[1] / "notebooks" / "guide" / "speed.md"
    today, commit = time.strftime("%Y-%m-%d"), speed_table.find_commit(here.parents[1])
    table = speed_table.write_table(rows, today, commit, where.replace("\n", "; "))
    page.write_text(speed_table.put_between(page.read_text("utf-8"), table), "utf-8")
    print(f"notebooks/guide/speed.md has the table of {today} at {commit}")


if __name__ == "__main__":
    main(sys.argv[1:])
