"""Vectors of today's agent harnesses, held to our policies: what fired, what stays, what was rewritten
and how, and where the summary stands. A folder is a function or a program that was run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from .compare import Found, Outcome
from .harness_checks import CHECKS

NO_POLICY = "no policy for this folder"


def run(path: Path) -> Iterator[Outcome]:
    """Every vector under `path`, as ("folder/number", mismatches)."""
    # A single folder of them will do too.
    for file in sorted({*path.glob("*/[0-9]*.json"), *path.glob("[0-9]*.json")}):
        if file.parent.name != "cases":
            yield f"{file.parent.name}/{file.stem}", check_file(file)


def check_file(file: Path) -> Found:
    """One vector. A check that breaks on it is a mismatch of this vector and of no other."""
    check = CHECKS.get(file.parent.name)
    if check is None:
        return [NO_POLICY]
    try:
        return list(check(json.loads(file.read_text("utf-8"))))
    except Exception as error:
        return [f"the check broke: {type(error).__name__}: {error}"]


def format_table(folders: Mapping[str, Counter[str]]) -> str:
    """Passed and failed by folder. A folder without a policy failed as a whole, and the table says so."""
    lines = [f"{'folder':<28}{'passed':>8}{'failed':>8}"]
    for name, counts in folders.items():
        said = f"  {NO_POLICY}" if counts["no policy"] else ""
        lines.append(f"{name:<28}{counts['passed']:>8}{counts['failed']:>8}{said}")
    return "\n".join(lines)
