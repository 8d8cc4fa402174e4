"""The list of slow tests names tests that there are, and each step of the suite runs its own part."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.slow import read_slow

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
