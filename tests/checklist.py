"""Which statements of the published descriptions no test carries yet: `python -m tests.checklist`.

The statements are `checklist.toml`. A test proves one by carrying its id in its name: `test_S0_12_…` in
Python, `S0-12` in a front-end test's words. The exit code is 1 while a row that is for code to prove has no
test, or a test names a row that does not exist.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROWS = Path(__file__).with_suffix(".toml")
STATUSES = ("code", "documentary", "later")
_ID = re.compile(r"(?<![A-Za-z0-9])S(\d)[_-](\d+)(?![A-Za-z0-9])")
_RANGE = re.compile(r"S(\d)-(\d+)(?:\.\.(\d+))?")
_FRONT = re.compile(r"""\b(?:test|it)(?:\.(?!skip|todo)\w+)*\(\s*(["'`])(.*?)\1""")
_IDLE = re.compile(r"mark\.(?:skip|xfail)\b")

Carriers = dict[str, list[str]]
"""The id of a row to the tests that carry it, as "file: name"."""


class Row(NamedTuple):
    """A statement. `same` are the rows that prove it; `why` tells what a row of status later waits for."""

    id: str
    kind: str
    gist: str
    status: str = "code"
    why: str = ""
    same: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"  {self.id:<7} {self.kind:<10} {self.gist}"


class Report(NamedTuple):
    """Every row in one place, and the ids that tests carry but no row has."""

    proved: list[Row]
    open: list[Row]
    later: list[Row]
    documentary: list[Row]
    strangers: list[str]

    @property
    def passes(self) -> bool:
        return not self.open and not self.strangers


def read_rows(text: str) -> dict[str, Row]:
    """The rows of the data file by id, in order. Raises ValueError for a status or a `same` that is none."""
    rows: dict[str, Row] = {}
    for name, fields in tomllib.loads(text).items():
        same = list(expand(fields.get("same", "")))
        if unknown := [other for other in same if other not in rows]:
            raise ValueError(f"{name}: {', '.join(unknown)} is no row before it")
        leaves = dict.fromkeys(leaf for other in same for leaf in rows[other].same or (other,))
        rows[name] = Row(name, **fields | {"same": tuple(leaves)})
        if rows[name].status not in STATUSES:
            raise ValueError(f"{name}: {rows[name].status!r} is not one of {', '.join(STATUSES)}")
    return rows


def expand(ids: str) -> Iterator[str]:
    """The ids in a list with ranges.

    >>> list(expand("S0-20, S0-29..31"))
    ['S0-20', 'S0-29', 'S0-30', 'S0-31']
    """
    for seed, first, last in _RANGE.findall(ids):
        yield from (f"S{seed}-{number}" for number in range(int(first), int(last or first) + 1))


def find_ids(name: str) -> list[str]:
    """The rows that a test's name carries.

    >>> find_ids("test_S0_12_S0_13_the_share_decides"), find_ids("S2-40 a mark per state")
    (['S0-12', 'S0-13'], ['S2-40'])
    """
    return [f"S{seed}-{number}" for seed, number in _ID.findall(name)]


def name_tests(path: Path) -> Iterator[str]:
    """The names of the tests in a Python or TypeScript file, but of those that are always skipped."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text, str(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                if not any(_IDLE.search(ast.unparse(mark)) for mark in node.decorator_list):
                    yield node.name
    else:
        yield from (match[2] for match in _FRONT.finditer(text))


def find_carriers(files: Iterable[Path]) -> Carriers:
    """Every id that a test in these files carries."""
    found: Carriers = {}
    for path in files:
        for name in name_tests(path):
            for row in find_ids(name):
                found.setdefault(row, []).append(f"{path.name}: {name}")
    return found


def list_files() -> list[Path]:
    """Every file of tests, Python's and the front end's."""
    return [*sorted((ROOT / "tests").rglob("test_*.py")), *sorted((ROOT / "js/test").rglob("*.test.ts"))]


def judge(rows: Mapping[str, Row], carriers: Carriers) -> Report:
    """Sort the rows. One that is the same as others is proved by its own test or by theirs."""
    report = Report([], [], [], [], sorted(set(carriers) - set(rows)))
    for row in rows.values():
        missing = [rows[name] for name in row.same or (row.id,) if name not in carriers]
        if row.id in carriers or not missing:
            report.proved.append(row)
        elif row.status == "documentary":
            report.documentary.append(row)
        elif all(one.status == "later" for one in missing):
            report.later.append(row)
        else:
            report.open.append(row)
    return report


def describe(report: Report, rows: Mapping[str, Row], carriers: Carriers) -> Iterator[str]:
    """The report in lines: what waits, what is open, and the counts last."""
    if report.later:
        yield f"put off ({len(report.later)}):"
        for row in report.later:
            yield f"{row}\n{'':<21}{row.why or 'as ' + ', '.join(row.same)}"
    if report.open:
        yield f"without a test ({len(report.open)}):"
        for row in report.open:
            missing = [name for name in row.same if name not in carriers]
            yield f"{row}{': ' + ', '.join(missing) if missing else ''}"
    for name in report.strangers:
        yield f"{name} is no row, but a test carries it: {', '.join(carriers[name])}"
    counts = {"proved": report.proved, "without a test": report.open}
    counts |= {"put off": report.later, "documentary": report.documentary}
    yield f"{len(rows)} rows: " + ", ".join(f"{len(found)} {what}" for what, found in counts.items())


def main() -> int:
    rows = read_rows(ROWS.read_text("utf-8"))
    carriers = find_carriers(list_files())
    report = judge(rows, carriers)
    print("\n".join(describe(report, rows, carriers)))
    return 0 if report.passes else 1


if __name__ == "__main__":
    sys.exit(main())
