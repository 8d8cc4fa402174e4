"""Two texts -> their lines, aligned: for looking into a block that was shortened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ...mixins import Printable
from ...text import printed
from .runs import SIGNS, DiffRun, cut_lines, find_longest_ascent, fold_runs, show_plain, weave_pairs

WORK_LIMIT = 10_000_000
"""Steps that `diff_text` may spend on searching, at worst about a second."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a text without its end. `kind` is keep, remove or insert."""

    kind: str
    text: str


@dataclass(frozen=True, repr=False)
class TextDiff(Printable):
    """The lines of two texts. `exact` is False when they were too many to search them all."""

    rows: tuple[DiffLine, ...]
    exact: bool = True

    def summary_rows(self, around: int = 2) -> tuple[DiffLine | DiffRun[DiffLine], ...]:
        """Return the lines with folded unchanged runs, except `around` lines next to a change."""
        return fold_runs(self.rows, around)

    @printed
    def __repr__(self) -> str:
        lines = (
            []
            if self.exact
            else ["(too many equal lines to search them all: some are shown as removed and inserted)"]
        )
        for row in self.summary_rows():
            if isinstance(row, DiffRun):
                lines.append(f"  … {len(row):,} lines the same")
            else:
                lines.append(f"{SIGNS[row.kind]} {show_plain(row.text, 100)}")
        return "\n".join(cut_lines(lines))


def diff_text(before: str, after: str) -> TextDiff:
    r"""Align the lines of two texts. Only "\n" ends a line, so joining the lines restores the texts.

    First the common beginning and end are matched, then lines that occur once in each text; difflib searches
    the lines between them. If that search could exceed the remaining steps of WORK_LIMIT, the lines are
    removed and inserted as a whole, and `exact` is False.

    >>> [(line.kind, line.text) for line in diff_text("a\nb\nc", "a\nc").rows]
    [('keep', 'a'), ('remove', 'b'), ('keep', 'c')]
    """
    old, new = before.split("\n"), after.split("\n")
    head = count_common(old, new)
    tail = count_common(old[head:][::-1], new[head:][::-1])
    rows = [DiffLine("keep", line) for line in old[:head]]
    pairs, exact = _align(old[head : len(old) - tail], new[head : len(new) - tail])
    for i, j in weave_pairs(len(old) - head - tail, len(new) - head - tail, pairs):
        if i is not None:
            rows.append(DiffLine("remove" if j is None else "keep", old[head + i]))
        elif j is not None:
            rows.append(DiffLine("insert", new[head + j]))
    rows += [DiffLine("keep", line) for line in old[len(old) - tail :]]
    return TextDiff(tuple(rows), exact)


def _align(old: Sequence[str], new: Sequence[str]) -> tuple[list[tuple[int, int]], bool]:
    """Pairs of equal lines, ascending on both sides, and whether all stretches were searched."""
    pairs: list[tuple[int, int]] = []
    work_left = WORK_LIMIT
    exact = True
    i = j = 0
    for stop, its in [*_anchors(old, new), (len(old), len(new))]:
        work = _work(old[i:stop], new[j:its])
        if work > work_left:
            exact = False
        elif work:
            work_left -= work
            blocks = SequenceMatcher(None, old[i:stop], new[j:its], autojunk=False).get_matching_blocks()
            pairs += [(i + a + k, j + b + k) for a, b, size in blocks for k in range(size)]
        if stop < len(old):
            pairs.append((stop, its))
        i, j = stop + 1, its + 1
    return pairs, exact


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once in each text, as long as they are in the same order."""
    here, there = Counter(old), Counter(new)
    once = {line: j for j, line in enumerate(new) if here[line] == there[line] == 1}
    pairs = [(i, once[line]) for i, line in enumerate(old) if line in once]
    return [pairs[index] for index in find_longest_ascent([j for _, j in pairs])]


def _work(old: Sequence[str], new: Sequence[str]) -> int:
    """Most steps difflib may take: over all lines and equal pairs, once per block, at most one per line."""
    there = Counter(new)
    matches = sum(there[line] for line in old)
    return (len(old) + matches) * min(matches, len(old), len(new))


def count_common(first: Sequence[str], other: Sequence[str]) -> int:
    """How many lines, or words, both begin with."""
    for index, (item, its) in enumerate(zip(first, other, strict=False)):
        if item != its:
            return index
    return min(len(first), len(other))
