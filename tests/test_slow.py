"""The list of slow tests names tests that there are, and each step of the suite runs its own part."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.slow import name_function, read_slow
from tests.suite import STEPS

ROOT = Path(__file__).parents[1]


def test_every_test_that_is_listed_is_there() -> None:
    names = read_slow()
    assert len(names) > 100
    for path in {name.partition("::")[0] for name in names}:
        there = {
            f"{path}::{node.name}"
            for node in ast.parse((ROOT / path).read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef)
        }
        gone = {name for name in names if name.startswith(f"{path}::")} - there
        assert not gone, f"no such test: {sorted(gone)}; python -m tests.slow writes the list anew"


def test_what_one_step_leaves_out_the_other_runs() -> None:
    """Asked of pytest itself, for a file that has both."""
    left_out, run = (_marked(group) for group in ("unit", "slow"))
    assert left_out == ["-m", "not slow"] and run == ["-m", "slow"]
    file = "tests/test_determinism.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:nbval", "--collect-only", *run, file]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    collected = {name_function(line) for line in out.splitlines() if line.startswith(f"{file}::")}
    assert collected == {name for name in read_slow() if name.startswith(f"{file}::")} != set()


def _marked(group: str) -> list[str]:
    (step,) = (step for step in STEPS if step.group == group)
    return [*step.command[step.command.index("-m", 2) :]]
