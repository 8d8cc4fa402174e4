"""Which tests take longest: `python -m tests.slow` measures them all and writes `slow.txt`.

A function is listed if its cases together take 0.4 s of the processor or more, processes that they start
included. These are nine tenths of the time and a sixth of the functions, so the loop of everyday work does
without them: `make test STEPS="unit front"`. `make test` runs all.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.quick_imports import lean_environment

LIST = Path(__file__).with_suffix(".txt")
LEAST = 0.4  # seconds of the processor
ROOM = "COMPACTION_INSPECTOR_TEST_SECONDS"  # the folder where each process that tests writes what it took


@cache
def read_slow() -> frozenset[str]:
    """The functions that are listed, as `tests/room/test_noun.py::test_sentence`."""
    return frozenset(LIST.read_text("utf-8").split())


def name_function(item: str) -> str:
    """A test's function, without the case.

    >>> name_function("tests/test_cli.py::test_help[a::b]")
    'tests/test_cli.py::test_help'
    """
    return item.partition("[")[0]


def _seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = _seconds()
    yield
    with (Path(os.environ[ROOM]) / f"{os.getpid()}.tsv").open("a", encoding="utf-8") as file:
        file.write(f"{_seconds() - before:.3f}\t{item.nodeid!r}\n")


def measure() -> dict[str, float]:
    """Run all tests but the browser's; what the cases of each function take together."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as path:
        command = (sys.executable, "-m", "pytest", "-q", "-p", "no:nbval", "-p", "tests.slow", "-n", "2")
        environment = lean_environment(Path(path)) | {ROOM: folder}
        subprocess.run(command, env=environment, check=True)
        taken: dict[str, float] = {}
        for path in Path(folder).iterdir():
            for line in path.read_text("utf-8").splitlines():
                seconds, item = line.split("\t")
                name = name_function(item.strip("'\""))
                taken[name] = taken.get(name, 0.0) + float(seconds)
    return taken


if __name__ == "__main__":
    slow = sorted(name for name, seconds in measure().items() if seconds >= LEAST)
    LIST.write_text("".join(f"{name}\n" for name in slow), "utf-8")
    print(f"{LIST.name}: {len(slow)} functions take {LEAST} s or more")
