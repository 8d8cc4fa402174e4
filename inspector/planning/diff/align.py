"""The alignment behind both diffs: rows woven from aligned pairs, and the longest ordered run of pairs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence


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
