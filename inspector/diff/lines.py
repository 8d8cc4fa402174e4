"""Two texts -> their lines, aligned: for looking into a block that was shortened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .runs import SIGNS, Run, cut_lines, find_longest_ascent, fold_runs, show_plain, weave_pairs

WORK_LIMIT = 10_000_000
"""Steps that `diff_text` may spend on a search, at worst about a second; beyond, it takes the quick way."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text without its end. `kind` is keep, remove or insert."""

    kind: str
    text: str


@dataclass(frozen=True, repr=False)
class TextDiff:
    """The lines of two texts. `exact` is False when they were too many for a full search."""

    rows: tuple[Line, ...]
    exact: bool = True

    def summary_rows(self, around: int = 2) -> tuple[Line | Run[Line], ...]:
        """The lines, unchanged runs folded, but for `around` lines next to a change."""
        return fold_runs(self.rows, around)

    def __repr__(self) -> str:
        lines = [] if self.exact else ["(too many lines: aligned only by those that stand once in each text)"]
        for row in self.summary_rows():
            if isinstance(row, Run):
                lines.append(f"  … {len(row):,} lines the same")
            else:
                lines.append(f"{SIGNS[row.kind]} {show_plain(row.text, 100)}")
        return "\n".join(cut_lines(lines))


def diff_text(before: str, after: str) -> TextDiff:
    r"""The lines of two texts, aligned. A line ends at "\n" alone, so joining the lines gives the texts back.

    What both texts begin and end with is set aside first. Where a full search of the rest could take more
    than WORK_LIMIT steps, only lines that stand once in each text are aligned, and `exact` is False.

    >>> [(line.kind, line.text) for line in diff_text("a\nb\nc", "a\nc").rows]
    [('keep', 'a'), ('remove', 'b'), ('keep', 'c')]
    """
    old, new = before.split("\n"), after.split("\n")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    rows = [Line("keep", line) for line in old[:head]]
    pairs, exact = _align(old[head : len(old) - tail], new[head : len(new) - tail])
    for i, j in weave_pairs(len(old) - head - tail, len(new) - head - tail, pairs):
        if i is not None:
            rows.append(Line("remove" if j is None else "keep", old[head + i]))
        elif j is not None:
            rows.append(Line("insert", new[head + j]))
    rows += [Line("keep", line) for line in old[len(old) - tail :]]
    return TextDiff(tuple(rows), exact)


def _align(old: Sequence[str], new: Sequence[str]) -> tuple[list[tuple[int, int]], bool]:
    """Pairs of equal lines, ascending on both sides, and whether they were fully searched for."""
    there, here = Counter(new), Counter(old)
    matches = sum(there[line] for line in old)
    # difflib looks over all lines and all their matches once per block it finds, and finds at most this many.
    if (len(old) + matches) * min(matches, len(old), len(new)) <= WORK_LIMIT:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        return [(i + k, j + k) for i, j, size in blocks for k in range(size)], True
    once = {line: j for j, line in enumerate(new) if there[line] == here[line] == 1}
    pairs = [(i, once[line]) for i, line in enumerate(old) if line in once]
    return [pairs[at] for at in find_longest_ascent([j for _, j in pairs])], False


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    for at, (line, its) in enumerate(zip(one, other, strict=False)):
        if line != its:
            return at
    return min(len(one), len(other))
