"""Whether the tests of a statement notice its opposite: `python -m tests.checklist --mutants [ROW ...]`.

`tests/mutants` keeps, row by row, changes of the product that violate the statement: a file, a text that it
holds once, and what stands there instead. For each, the tests that carry the row run against the changed
product, and at least one has to fail. A change that fits nowhere any more, or after which nothing can run, is
no proof and is listed as broken.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.checklist import ROOT, Carriers, Row, name_tests
from tests.mutated_import import replace_once

FOLDER = ROOT / "tests" / "mutants"
LIMIT = 240  # seconds for the tests of one row
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"


class Mutant(NamedTuple):
    """A change that violates a row: `new` in place of the one `old` in `file`."""

    row: str
    file: str
    old: str
    new: str
    why: str

    def __str__(self) -> str:
        return f"{self.row:<7} {self.file}: {self.why}"


class Verdict(NamedTuple):
    mutant: Mutant
    outcome: str
    detail: str = ""


def read_mutants(rows: Mapping[str, Row], folder: Path = FOLDER) -> list[Mutant]:
    """The changes kept for the rows, in the rows' order. Raises ValueError for one that does not fit."""
    kept: dict[str, list[Mutant]] = {name: [] for name in rows}
    for path in sorted(folder.glob("*.toml")):
        for name, tables in tomllib.loads(path.read_text("utf-8")).items():
            if name not in kept:
                raise ValueError(f"{path.name}: {name} is no row")
            kept[name] += [Mutant(row=name, **table) for table in tables]
    return [mutant for of_row in kept.values() for mutant in of_row]


def fits(mutant: Mutant) -> str:
    """Why the change cannot be made, or an empty text."""
    try:
        changed = replace_once((ROOT / mutant.file).read_text("utf-8"), mutant.old, mutant.new)
        if mutant.file.endswith(".py"):
            ast.parse(changed)
    except (OSError, ValueError, SyntaxError) as error:
        return str(error)
    return ""


def find_files(row: Row, carriers: Carriers, files: Iterable[Path], suffix: str) -> list[Path]:
    """The test files with this ending that carry the row, or the rows that prove it in its place.

    Where the bare Python tests carry it, those that need a browser are left out: they are slow.
    """
    names = {name for one in (row.id, *row.same) for name in carriers.get(one, ())}
    likely = {name.partition(": ")[0] for name in names}
    carrying = [
        path
        for path in files
        if path.suffix == suffix
        and path.name in likely
        and any(f"{path.name}: {name}" in names for name in name_tests(path))
    ]
    return [path for path in carrying if "browser" not in path.parts] or carrying


def run_tests(mutant: Mutant, rows: Sequence[str], files: Sequence[Path]) -> tuple[int, str]:
    """Run the rows' tests with the change; the exit code and the last lines."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HYPOTHESIS_STORAGE_DIRECTORY=folder, NO_COLOR="1")
        environment["MUTANT"] = json.dumps(mutant._asdict() | {"row": " ".join(rows)})
        places = [str(path) for path in files]
        if files[0].suffix == ".ts":
            names = "|".join(f"{name}(?![0-9])" for name in rows)
            config = str(ROOT / "js/test/mutated.config.mjs")
            command = ["npx", "vitest", "run", "--config", config, "--bail=1", "-t", names, *places]
        else:
            plugins = ["-p", "no:nbval", "-p", "no:cacheprovider", "-p", "tests.mutated_import"]
            command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=line", *plugins, *places]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT / ("js" if files[0].suffix == ".ts" else "."),
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return 1, f"the tests did not end in {LIMIT} s"
    return done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[-12:])


def try_mutant(mutant: Mutant, row: Row, carriers: Carriers, files: Sequence[Path]) -> Verdict:
    """Run the tests of the row against the change."""
    if reason := fits(mutant):
        return Verdict(mutant, BROKEN, reason)
    carrying = find_files(row, carriers, files, ".ts" if mutant.file.startswith("js/") else ".py")
    if not carrying:
        return Verdict(mutant, BROKEN, "no test of its language carries the row")
    code, output = run_tests(mutant, (row.id, *row.same), carrying)
    if code == 1:
        return Verdict(mutant, KILLED)
    return Verdict(mutant, SURVIVED) if code == 0 else Verdict(mutant, BROKEN, output)


def try_all(
    mutants: Sequence[Mutant], rows: Mapping[str, Row], carriers: Carriers, files: Sequence[Path]
) -> Iterator[Verdict]:
    """Try the changes, as many side by side as there are cores."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield from pool.map(lambda mutant: try_mutant(mutant, rows[mutant.row], carriers, files), mutants)


def main(rows: Mapping[str, Row], carriers: Carriers, files: Sequence[Path], only: Sequence[str] = ()) -> int:
    """Print a line for each change, and the counts last. The exit code is 1 unless all were killed."""
    if strangers := [name for name in only if name not in rows]:
        print(f"no such row: {', '.join(strangers)}")
        return 2
    mutants = [mutant for mutant in read_mutants(rows) if not only or mutant.row in only]
    verdicts = []
    for verdict in try_all(mutants, rows, carriers, files):
        verdicts.append(verdict)
        print(f"{verdict.outcome:<8} {verdict.mutant}", flush=True)
        if verdict.detail:
            print("         " + verdict.detail.replace("\n", "\n         "), flush=True)
    outcomes = [verdict.outcome for verdict in verdicts]
    for verdict in verdicts:
        if verdict.outcome != KILLED:
            print(f"{verdict.outcome}: {verdict.mutant}")
    counts = ", ".join(f"{outcomes.count(what)} {what}" for what in (KILLED, SURVIVED, BROKEN))
    print(f"{len({mutant.row for mutant in mutants})} rows, {len(mutants)} mutants: {counts}")
    return int(not mutants or outcomes.count(KILLED) < len(outcomes))
