"""Which changes of the code no test notices: `python -m tests.mutation --seed 1 --sample 400 --minutes 60`.

Mutants are those of cosmic-ray, drawn at random from the rooms where decisions are made; annotations are left
out, which nobody runs. Each is written into a copy of the tree and tried against the tests of its own room,
the one that mirrors its file first, then against the laws and the replays, up to the first failure. Tests are
first run without any mutation. Whoever survives is printed with its place and its diff. Every mutant runs in
a fork of one process that has imported what does not change, so this needs a POSIX system.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("policies", "planning", "replays", "wire", "summaries")
"""Rooms of which every line may change what is planned, replayed, sent or stored."""
AFTER = ("tests/test_laws.py", "tests/replays")
"""Who looks at a mutant that its own room does not notice."""
LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "node_modules", "static", "labextension", "browser", "bench"
)
UNCHANGED = ("numpy", "pydantic", "msgspec", "hypothesis.strategies", "jsonschema", "tiktoken", "traitlets")
"""What is imported once for all."""
SLOWER, SECONDS = 4, 30
"""A mutant whose tests take so many times as long, and so many seconds more, is taken to run for ever."""
LONGEST = 1800
"""Seconds that tests may take without a mutation."""
NOTHING_RAN = 5
"""pytest's exit code when all that it collected was left out."""


class Mutant(NamedTuple):
    """The `occurrence`-th place of a file at which an operator of cosmic-ray changes something."""

    file: str
    line: int
    operator: str
    occurrence: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.operator.rpartition('/')[2]}"


def list_mutants(root: Path, files: Sequence[str]) -> Iterator[Mutant]:
    """Every mutant of these files, in order."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    # Those that take arguments are made for a project's own names.
    kinds = [
        (name, kind) for name in sorted(operator_names()) if not (kind := get_operator(name)).arguments()
    ]
    for file in files:
        source = (root / file).read_text("utf-8")
        idle = find_annotations(source)
        nodes = list(ast_nodes(get_ast(source)))
        for name, kind in kinds:
            operator = kind()
            places = (place for node in nodes for place in operator.mutation_positions(node))
            for occurrence, (start, _) in enumerate(places):
                if not any(first <= start < end for first, end in idle):
                    yield Mutant(file, start[0], name, occurrence)


Place = tuple[int, int]


def find_annotations(source: str) -> list[tuple[Place, Place]]:
    """Where the annotations of a module begin and end, as (line, column).

    >>> find_annotations("def f(a: int | None) -> str: ...")
    [((1, 9), (1, 19)), ((1, 24), (1, 27))]
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.expr):
                end = (part.end_lineno or 0, part.end_col_offset or 0)
                found.append(((part.lineno, part.col_offset), end))
    return sorted(found)


def draw_sample(mutants: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """So many of them in random order, the same for a seed."""
    return random.Random(seed).sample(mutants, min(size, len(mutants)))


def mutate(source: str, mutant: Mutant) -> str | None:
    """The source with the mutation; None where that is no Python, or no change."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    changed = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
    try:
        same = changed is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source))
    except SyntaxError:
        return None
    return None if same else changed


def choose_tests(root: Path, file: str) -> list[list[str]]:
    """The tests to try one after another: the room's, with the file's own in front, then the others."""
    room = Path(file).parts[1]
    own = sorted((root / "tests" / room).rglob("test_*.py"))
    mirror = f"test_{Path(file).stem}.py"
    first = [path for path in own if path.name == mirror]
    rest = [str(path) for path in own if path not in first]
    after = [str(root / name) for name in AFTER if name != f"tests/{room}"]
    return [tests for tests in (list(map(str, first)), rest, after) if tests]


def run_tests(root: Path, tests: Sequence[str], seconds: float) -> int | None:
    """pytest's exit code over a fork of this process; None when it took too long."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            os.chdir(root)
            sys.path[:0] = [str(root)]
            import pytest

            import inspector

            assert Path(inspector.__file__).is_relative_to(root), "the copy is tried, and nothing else"
            code = int(
                pytest.main(["-q", "-x", "--tb=no", "-p", "no:nbval", "-p", "no:cacheprovider", *tests])
            )
        finally:
            os._exit(code)
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


class Trial:
    """Mutants tried in a copy of the tree at `root`. `took` are the seconds of tests without any mutation."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.took: dict[tuple[str, ...], float] = {}

    def check(self, file: str) -> None:
        """Run the tests of a file once as it is. Raises SystemExit where they fail: they would kill all."""
        for tests in choose_tests(self.root, file):
            if tuple(tests) in self.took:
                continue
            began = time.monotonic()
            if run_tests(self.root, tests, LONGEST) not in (0, NOTHING_RAN):
                raise SystemExit(f"without any mutation these fail or take too long: {' '.join(tests)}")
            self.took[tuple(tests)] = time.monotonic() - began

    def try_mutant(self, mutant: Mutant, changed: str) -> str:
        """Whether it was killed, killed by time or survived."""
        self.check(mutant.file)
        path = self.root / mutant.file
        source = path.read_text("utf-8")
        path.write_text(changed, "utf-8")
        try:
            for tests in choose_tests(self.root, mutant.file):
                code = run_tests(self.root, tests, SLOWER * self.took[tuple(tests)] + SECONDS)
                if code is None:
                    return "killed by time"
                if code not in (0, NOTHING_RAN):
                    return "killed"
            return "survived"
        finally:
            path.write_text(source, "utf-8")


def write_diff(mutant: Mutant, source: str, changed: str) -> str:
    """The mutation as the lines that it changes."""
    lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm="")
    return "\n".join(f"    {line}" for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=400, help="mutants to try")
    parser.add_argument("--minutes", type=float, default=60, help="no mutant is begun after that")
    parser.add_argument("--only", default="", help="of files whose name holds this alone")
    given = parser.parse_args(arguments)
    files = [
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in sorted((ROOT / "inspector" / room).rglob("*.py"))
        if given.only in str(path.relative_to(ROOT))
    ]
    every = list(list_mutants(ROOT, files))
    sample = draw_sample(every, given.sample, given.seed)
    print(f"{len(sample):,} of {len(every):,} mutants of {len(files)} files, seed {given.seed}", flush=True)
    for name in UNCHANGED:
        importlib.import_module(name)
    until = time.monotonic() + 60 * given.minutes
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        shutil.copytree(ROOT, root, ignore=LEFT_OUT, symlinks=True)
        trial = Trial(root)
        for mutant in sample:
            if time.monotonic() > until:
                break
            source = (root / mutant.file).read_text("utf-8")
            changed = mutate(source, mutant)
            outcome = "not made: no other program" if changed is None else trial.try_mutant(mutant, changed)
            counts[outcome] += 1
            if changed is not None and outcome == "survived":
                print(f"survived: {mutant}\n{write_diff(mutant, source, changed)}", flush=True)
    counts["not tried for want of time"] = len(sample) - counts.total()
    print(", ".join(f"{number} {outcome}" for outcome, number in counts.most_common() if number))
    return 0


if __name__ == "__main__":
    sys.exit(main())
