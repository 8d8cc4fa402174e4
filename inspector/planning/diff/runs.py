"""Rows of any diff: how they are woven from aligned pairs, gathered in runs, folded and printed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeVar

from ...redaction.cut import cut_text

KINDS = ("keep", "change", "insert", "remove")
SIGNS = {"keep": " ", "change": "~", "insert": "+", "remove": "-"}
TABLE_LIMIT = 60
"""Lines of a printed diff; the rest is counted."""


class Kinded(Protocol):
    """Anything with a kind of KINDS."""

    @property
    def kind(self) -> str: ...


R = TypeVar("R", bound=Kinded)


@dataclass(frozen=True, slots=True)
class DiffRun(Generic[R]):
    """Adjacent rows of one kind: `rows`, of which the first is row `first` of the diff."""

    kind: str
    first: int
    rows: tuple[R, ...]

    def __len__(self) -> int:
        return len(self.rows)


def find_runs(rows: Iterable[R]) -> tuple[DiffRun[R], ...]:
    """Adjacent rows of one kind, together."""
    runs: list[DiffRun[R]] = []
    first = 0
    for kind, group in groupby(rows, key=lambda row: row.kind):
        run = DiffRun(kind, first, tuple(group))
        runs.append(run)
        first += len(run)
    return tuple(runs)


def fold_runs(rows: Sequence[R], around: int = 0) -> tuple[R | DiffRun[R], ...]:
    """The rows with unchanged runs folded, except for `around` unchanged rows next to each change."""
    folded: list[R | DiffRun[R]] = []
    for run in find_runs(rows):
        lead = around if run.first else 0
        stop = len(run) - (around if run.first + len(run) < len(rows) else 0)
        # To fold a single row would save nothing and hide something.
        if run.kind != "keep" or stop - lead < 2:
            folded += run.rows
        else:
            folded += run.rows[:lead]
            folded.append(DiffRun("keep", run.first + lead, run.rows[lead:stop]))
            folded += run.rows[stop:]
    return tuple(folded)


def weave_pairs(
    old: int, new: int, pairs: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int] | tuple[int, None] | tuple[None, int]]:
    """Every index of both sides once: (i, j) for a pair, (i, None) and (None, j) between pairs.

    `old` and `new` are lengths; `pairs` ascend on both sides.
    """
    i = j = 0
    for old_index, right in pairs:
        yield from ((at, None) for at in range(i, old_index))
        yield from ((None, at) for at in range(j, right))
        yield old_index, right
        i, j = old_index + 1, right + 1
    yield from ((at, None) for at in range(i, old))
    yield from ((None, at) for at in range(j, new))


def find_longest_ascent(values: Sequence[int]) -> list[int]:
    """Positions of a longest ascending subsequence of distinct values: patience sorting, O(n log n).

    >>> find_longest_ascent([3, 0, 1, 4, 2])
    [1, 2, 4]
    """
    tails: list[int] = []
    ends: list[int] = []
    links: list[int] = []
    for index, value in enumerate(values):
        rank = bisect_left(tails, value)
        links.append(ends[rank - 1] if rank else -1)
        tails[rank : rank + 1] = [value]
        ends[rank : rank + 1] = [index]
    ascent: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        ascent.append(index)
        index = links[index]
    return ascent[::-1]


def show_plain(text: str, width: int) -> str:
    """Text from a transcript for a terminal: one line, and nothing in it that a terminal would obey."""
    start = cut_text(text, width).replace("\n", "␊").replace("\t", " ")
    return start if len(text) <= width else start + "…"


def cut_lines(lines: Sequence[str]) -> list[str]:
    """The first TABLE_LIMIT lines and a count of the others."""
    more = len(lines) - TABLE_LIMIT
    return list(lines) if more <= 0 else [*lines[:TABLE_LIMIT], f"  … {more:,} lines more"]
