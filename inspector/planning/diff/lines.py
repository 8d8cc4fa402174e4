"""Two texts -> their lines, aligned: for looking into a block that was shortened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from .align import find_longest_ascent, weave_pairs

LineKind = Literal["same", "gone", "new"]
WORK_LIMIT = 10_000_000
"""Steps that `align_lines` may spend on searching, at worst about a second."""


def align_lines(before: str, after: str) -> Iterator[tuple[LineKind, str]]:
    r"""Yield the lines of two texts in order. Only "\n" ends a line, so joining the lines restores the texts.

    First the common beginning and end are matched, then lines that occur once in each text; difflib searches
    the lines between them. If that search could exceed the remaining steps of WORK_LIMIT, the lines are
    removed and inserted as a whole.

    >>> list(align_lines("a\nb\nc", "a\nc"))
    [('same', 'a'), ('gone', 'b'), ('same', 'c')]
    """
    old, new = before.split("\n"), after.split("\n")
    head = count_common(old, new)
    tail = count_common(old[head:][::-1], new[head:][::-1])
    yield from (("same", line) for line in old[:head])
    pairs = _align(old[head : len(old) - tail], new[head : len(new) - tail])
    for i, j in weave_pairs(len(old) - head - tail, len(new) - head - tail, pairs):
        if i is not None:
            yield "gone" if j is None else "same", old[head + i]
        elif j is not None:
            yield "new", new[head + j]
    yield from (("same", line) for line in old[len(old) - tail :])


def _align(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal lines, ascending on both sides."""
    work_left = WORK_LIMIT
    i = j = 0
    for stop, its in [*_anchors(old, new), (len(old), len(new))]:
        work = _work(old[i:stop], new[j:its])
        if 0 < work <= work_left:
            work_left -= work
            blocks = SequenceMatcher(None, old[i:stop], new[j:its], autojunk=False).get_matching_blocks()
            yield from ((i + a + k, j + b + k) for a, b, size in blocks for k in range(size))
        if stop < len(old):
            yield stop, its
        i, j = stop + 1, its + 1


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
