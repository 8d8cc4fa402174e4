"""Words of which some begin others: the ids of commits in several lengths, the ends of paths read backwards.

Takes words in alphabetical order, in which words with the same beginning are adjacent, and returns places.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

_LAST = chr(0x10FFFF)


def find_beginning(words: Sequence[str], beginning: str) -> slice:
    """Find the words with a beginning.

    >>> find_beginning(["ab", "abc", "abd", "b"], "ab")
    slice(0, 3, None)
    """
    first = bisect_left(words, beginning)
    return slice(first, bisect_left(words, beginning + _LAST, first))


def find_longest(words: Sequence[str], short: Sequence[bool] | None = None) -> dict[int, int]:
    """Map each word that begins others to the longest of them, if all of them are beginnings of that one.

    `short` (bool per word) marks those that may be another's beginning; None for all.

    >>> find_longest(["9f", "9f5", "9f5a", "a1", "a12", "a13"])
    {1: 2, 0: 2}
    >>> find_longest(["9f", "9f5", "9f5a"], [True, False, False])
    {}
    """
    last: dict[int, int] = {}
    for at in reversed(range(len(words))):
        end = find_beginning(words, words[at]).stop - 1
        between = end > at + 1 and short is not None and not short[at + 1]
        if end == at or (last.get(at + 1) == end and not between):
            last[at] = end
    return {at: end for at, end in last.items() if end > at and (short is None or short[at])}


def read_backwards(path: str) -> str:
    """Return a sort key that groups paths with the same end, in whole parts.

    >>> read_backwards("src/a.py"), read_backwards("/app/src/a.py").startswith(read_backwards("src/a.py"))
    ('yp.a/crs/', True)
    """
    return path.replace("\\", "/")[::-1] + "/"
