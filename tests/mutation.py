"""Which changes of the code no test notices: `python -m tests.mutation --seed 1 --sample 400 --minutes 60`.

Mutants are those of cosmic-ray, drawn at random from the rooms where decisions are made and tried in that
order against the tests that reach them, see `mutation_trial.py`. The last line says how many were killed, and
how many of those that survived are explained in `explained_mutants.toml`; others are printed with their diff.

Left out, because no run of the product can tell them from the original:

- annotations, which nobody evaluates, and what stands under `if TYPE_CHECKING`;
- a cache taken away or of another size, which changes the time alone;
- `strict=True` of `zip`, and `frozen` and `slots` of a data class, which forbid what correct code never does;
- another number of values that a `Memo` keeps at most, which changes the time alone, too;
- `>` in place of `!=` beside `VERBATIM`, and `<=` in place of `==`: it is 0, and fates are unsigned bytes;
- `*` in place of `&`, and `+` in place of `|`, between columns of bool, which numpy takes for the same
  (Python's own are joined by `and` and `or` in these rooms);
- `is` in place of `==` beside a literal, or the other way round: CPython keeps one object for each literal;
- changes that leave the same syntax tree, or no program.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = Path(__file__).with_name("explained_mutants.toml")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "browser", "shots")
"""What no test of a mutant needs. The built front end is needed: a page that is exported holds it."""
NEEDED = 0.85
"""The least share of mutants that the tests are to kill."""
SAME = ("_Eq_Is", "_NotEq_IsNot", "_Is_Eq", "_IsNot_NotEq")
"""How the operators end that swap equality and identity."""
UNSIGNED = ("_NotEq_Gt", "_Eq_LtE")
"""How the operators end that make no difference beside the least of all values."""
MASKED = ("_BitAnd_Mul", "_BitOr_Add")
"""How the operators end that make no difference between columns of bool."""

TYPES = {
    "BinaryOperator": ("operator",),
    "ComparisonOperator": ("comparison",),
    "UnaryOperator": ("factor", "not_test"),
    "NumberReplacer": ("number",),
}
"""The nodes at which the many operators of a kind look, so that each need not look at all."""


class Mutant(NamedTuple):
    """The `occurrence`-th place of a file at which an operator of cosmic-ray changes something."""

    file: str
    line: int
    column: int
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
        idle, literal = find_idle(source), find_literal_comparisons(source)
        least, masks = find_least_comparisons(source), find_masks(source)
        nodes = list(ast_nodes(get_ast(source)))
        for name, kind in kinds:
            operator = kind()
            types = next((types for word, types in TYPES.items() if word in name), None)
            left_out = [
                *idle,
                *(literal if name.endswith(SAME) else ()),
                *(least if name.endswith(UNSIGNED) else ()),
                *(masks if name.endswith(MASKED) else ()),
            ]
            places = (
                place
                for node in nodes
                if types is None or node.type in types
                for place in operator.mutation_positions(node)
            )
            for occurrence, (start, _) in enumerate(places):
                if not any(first <= start < end for first, end in left_out):
                    yield Mutant(file, start[0], start[1], name, occurrence)


def list_kept_mutants(files: Sequence[str], kept: Path) -> list[Mutant]:
    """The mutants of these files, found anew only where the files or this module have changed."""
    from tests.mutation_trial import digest_files

    path = kept / f"{digest_files([Path(__file__), *(ROOT / file for file in files)])}.list"
    if path.exists():
        return msgspec.msgpack.decode(path.read_bytes(), type=list[Mutant])
    mutants = list(list_mutants(ROOT, files))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.msgpack.encode(mutants))
    return mutants


Place = tuple[int, int]
Span = tuple[Place, Place]


def find_idle(source: str) -> list[Span]:
    """Where that of a module begins and ends which changes nothing that it does, as (line, column).

    >>> find_idle("def f(a: int | None) -> str: ...")
    [((1, 9), (1, 19)), ((1, 24), (1, 27))]
    >>> find_idle("@cache\\ndef f(a): return zip(a, a, strict=True)")
    [((1, 0), (1, 6)), ((2, 34), (2, 38))]
    """
    return sorted(span for node in ast.walk(ast.parse(source)) for span in _find_idle(node))


def _find_idle(node: ast.AST) -> Iterator[Span]:
    for name in ("annotation", "returns"):
        if isinstance(part := getattr(node, name, None), ast.expr):
            yield _span(part)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        yield _span(node)
    for part in getattr(node, "decorator_list", ()):
        if ast.unparse(part).partition("(")[0] in ("cache", "lru_cache"):
            (line, column), end = _span(part)
            yield (line, column - 1), end  # its sign is what cosmic-ray takes for its place
    if isinstance(node, ast.Call):
        idle = {"zip": ("strict",), "dataclass": ("frozen", "slots"), "lru_cache": ("maxsize",)}
        names = idle.get(ast.unparse(node.func), ())
        yield from (_span(word.value) for word in node.keywords if word.arg in names)
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        if ast.unparse(called) == "Memo":
            yield from (_span(size) for size in node.args)


def _span(node: ast.expr | ast.stmt) -> Span:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def find_literal_comparisons(source: str) -> list[Span]:
    """Where the signs stand that compare with a literal.

    >>> find_literal_comparisons("a == 'b' and a == c")
    [((1, 1), (1, 5))]
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for one, other in pairwise(operands):
                if isinstance(one, ast.Constant) or isinstance(other, ast.Constant):
                    found.append((_span(one)[1], _span(other)[0]))
    return sorted(found)


def find_least_comparisons(source: str) -> list[Span]:
    """Where the signs stand between a column of fates and `VERBATIM`, the least of them.

    >>> find_least_comparisons("plan.fate != VERBATIM and one != VERBATIM")
    [((1, 9), (1, 13))]
    """
    return sorted(
        (_span(node.left)[1], _span(node.comparators[0])[0])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Compare)
        and ast.unparse(node.comparators[0]) == "VERBATIM"
        and re.search(r"(^|\.)fate(\[\w+\])?$", ast.unparse(node.left))
    )


def find_masks(source: str) -> list[Span]:
    """Where the signs stand that join two columns of bool: comparisons, `~`, what is annotated as `Bools`.

    >>> find_masks("rows: Bools = a\\nrows & (b == 1)\\nb & 3")
    [((2, 4), (2, 8))]
    """
    tree = ast.parse(source)
    known = {
        name
        for node in ast.walk(tree)
        for name, told in (
            (getattr(node, "arg", None), getattr(node, "annotation", None)),
            (getattr(node, "name", None), getattr(node, "returns", None)),
            (ast.unparse(node.target), node.annotation) if isinstance(node, ast.AnnAssign) else ("", None),
        )
        if isinstance(told, ast.expr) and ast.unparse(told).partition(" |")[0] == "Bools"
    }

    def is_section(node: ast.expr) -> bool:
        return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd)

    def is_mask(node: ast.expr) -> bool:
        match node:
            case ast.Compare():
                return True
            case ast.UnaryOp(op=ast.Invert(), operand=inner) | ast.Subscript(value=inner):
                return is_mask(inner)
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                return is_mask(left) and is_mask(right)
            case ast.Call(func=called):
                return ast.unparse(called) in {"np.isin", *known}
        return ast.unparse(node) in known

    return sorted(
        (_span(node.left)[1], _span(node.right)[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and is_mask(node.left) and is_mask(node.right)
        # A sum binds more tightly than a section beside it, which a union does not.
        if not (isinstance(node.op, ast.BitOr) and (is_section(node.left) or is_section(node.right)))
    )


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


def list_changes(source: str, changed: str) -> tuple[str, str]:
    """The lines that a mutation takes away and those that it puts there, without their indentation."""
    lines = [
        line
        for line in difflib.unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm="")
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    return tuple(  # type: ignore[return-value]
        "\n".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+"
    )


def read_explained(path: Path = EXPLAINED) -> dict[tuple[str, str, str], str]:
    """Why no test can notice a change: by file, the lines it takes away and those that it puts there."""
    tables = tomllib.loads(path.read_text("utf-8")).get("mutant", [])
    return {(table["file"], table["old"], table["new"]): table["why"] for table in tables}


def in_copy(arguments: Sequence[str]) -> int:
    """The exit code of this command in a copy of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        shutil.copytree(ROOT, root, ignore=LEFT_OUT, symlinks=True)
        if (shared := ROOT.parent / "shared").exists():
            (root.parent / "shared").symlink_to(shared.resolve())
        command = [sys.executable, "-m", "tests.mutation", "--original", str(ROOT), *arguments]
        environment = dict(os.environ, PYTHONPATH=str(root), TMPDIR=folder)
        return subprocess.run(command, cwd=root, env=environment).returncode


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=400, help="mutants to try")
    parser.add_argument("--minutes", type=float, default=60, help="no mutant is begun after that")
    parser.add_argument("--only", default="", help="of files whose name holds this alone")
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests for one mutant")
    parser.add_argument("--skip", type=int, default=0, help="mutants of the sample that were tried before")
    parser.add_argument("--number", default="", help="of the sample these alone, as in 12,33")
    parser.add_argument("--original", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.original is None:
        return in_copy(sys.argv[1:] if arguments is None else arguments)
    until = time.monotonic() + 60 * given.minutes
    kept = given.original / ".pytest_cache" / "mutants"
    from tests.mutation_trial import Trial, list_sources

    files = [name for path in list_sources(ROOT) if given.only in (name := str(path.relative_to(ROOT)))]
    every = list_kept_mutants(files, kept)
    print(f"{len(every):,} mutants of {len(files)} files, seed {given.seed}", flush=True)
    explained = read_explained()
    counts: Counter[str] = Counter()
    numbers = {int(word) for word in given.number.split(",") if word}
    trial = Trial(ROOT, ROOT.parent / "tests", kept, given.budget)
    number = 0
    for mutant in draw_sample(every, len(every), given.seed):
        source = (ROOT / mutant.file).read_text("utf-8")
        if (changed := mutate(source, mutant)) is None:
            continue
        if number >= given.sample or time.monotonic() > until:
            break
        number += 1
        if number <= given.skip or (numbers and number not in numbers):
            continue
        began = time.monotonic()
        outcome, by = trial.try_mutant(mutant.file, mutant.line, mutant.column, changed)
        old, new = list_changes(source, changed)
        if outcome == "survived" and (why := explained.get((mutant.file, old, new))):
            outcome, by = "explained", why
        counts[outcome] += 1
        print(f"{number} {outcome}: {mutant} ({time.monotonic() - began:.1f} s, {by})", flush=True)
        if outcome == "survived":
            print(*(f"    - {line}" for line in old.splitlines()), sep="\n")
            print(*(f"    + {line}" for line in new.splitlines()), sep="\n", flush=True)
    trial.close()
    tried = counts.total()
    killed = counts["killed"] + counts["killed by time"]
    print(
        f"{tried} of {given.sample} tried: {killed} killed ({counts['killed by time']} by time), "
        f"{counts['explained']} explained, {counts['survived']} survived; "
        f"{killed / max(tried, 1):.1%} killed"
    )
    return int(killed < NEEDED * tried)


if __name__ == "__main__":
    sys.exit(main())
