"""Runs every bench_*.py beside it and prints one table: `make bench`, or `ARGS=import` for one of them.

Each module's `run()` gives rows of (label, value); a value is text, or a float in seconds.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def text(value: object) -> str:
    """A value for people: seconds as ms below one second."""
    if not isinstance(value, float):
        return str(value)
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def main(wanted: list[str]) -> None:
    here = Path(__file__).parent
    sys.path.insert(0, str(here))
    found = sorted(path.stem for path in here.glob("bench_*.py"))
    for name in found:
        if wanted and name.removeprefix("bench_") not in wanted:
            continue
        print(f"\n{name.removeprefix('bench_')}", flush=True)
        for label, value in importlib.import_module(name).run():
            print(f"  {label:<64} {text(value):>14}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
