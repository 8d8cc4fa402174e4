"""Ids of commits: the words that may be one, and the lengths in which one is written.

Git shortens the 40 digits of an id to seven or more, and people to as many as they like. Two words are taken
for one commit when the longer begins with the shorter. That holds because ids are random: seven digits that
are equal by chance are one in 268 million. So an invented id does not count: digits that count up
(`abc1234`, `a1b2c3d`), as in examples and tests, begin alike for other reasons. Five of the first
seven digits have to: of the ids that Git gives that is one in some four thousand, which is then known only in
the length in which it is written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from .path_index import find_beginning

SHORTEST = 7
"""Digits to which Git shortens the id of a commit at the least."""
_ID = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
_DIGITS, _LETTERS = "0123456789", "abcdef"
_COUNTED = re.compile(
    "(?=("
    + "|".join(
        [
            *(digits[at : at + 3] for digits in (_DIGITS, _LETTERS) for at in range(len(digits) - 2)),
            *(single + a + two + b for single, two in pairwise(_LETTERS) for a, b in pairwise(_DIGITS)),
            *(a + c + b + d for c, d in pairwise(_LETTERS) for a, b in pairwise(_DIGITS)),
        ]
    )
    + "))"
)
"""Three digits or letters that count up, or two of both in turn, wherever they begin."""
_MOST = 4
"""The number of first digits that may count up by chance."""


def is_commit(word: str) -> bool:
    """Whether a word may be the id of a commit, whole or shortened.

    >>> is_commit("9f5a3c7"), is_commit("1034567"), is_commit("deadbeef"), is_commit("9f5a3c7-x")
    (True, False, False, False)
    >>> is_commit("a1b2c3d"), is_commit("abc1234"), is_commit("7f1234e")
    (False, False, True)
    """
    if _ID.fullmatch(word) is None:
        return False
    counted = {at for run in _COUNTED.finditer(word[:SHORTEST]) for at in range(*run.span(1))}
    return len(counted) <= _MOST


def sort_commits(words: Iterable[str]) -> dict[str, list[str]]:
    """The words that may be ids of commits, by the digits that every length of one begins with; each list in
    alphabetical order.

    >>> sort_commits(["9f5a3c761", "9f5a3c7", "seven"])
    {'9f5a3c7': ['9f5a3c7', '9f5a3c761']}
    """
    out: dict[str, list[str]] = {}
    for word in sorted(word for word in words if len(word) >= SHORTEST and is_commit(word)):
        out.setdefault(word[:SHORTEST], []).append(word)
    return out


def find_lengths(commits: Mapping[str, Sequence[str]], commit: str) -> Iterator[str]:
    """How a commit is named among those that `sort_commits` gave, the shortest first.

    >>> list(find_lengths(sort_commits(["9f5a3c7", "9f5a3c761", "9f5a3c799"]), "9f5a3c76"))
    ['9f5a3c7', '9f5a3c761']
    """
    ids = commits.get(commit[:SHORTEST], ())
    for size in range(SHORTEST, len(commit)):
        at = bisect_left(ids, commit[:size])
        if at < len(ids) and ids[at] == commit[:size]:
            yield ids[at]
    yield from sorted(ids[find_beginning(ids, commit)], key=len)
