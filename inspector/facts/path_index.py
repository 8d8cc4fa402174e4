"""Paths by their last part: of many of one name those that a path may be.

In go paths and the pattern of a file, out come the few that may be that file, that folder, or an end of it.
Words of which some begin others (ids of commits, paths read backwards) are adjacent in alphabetical order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence

_FEW = 8
"""Paths of one name that are looked at one by one sooner than they are put in order."""


class PathIndex:
    """Paths by their last part, which stay in their order.

    >>> paths = [f"pkg{number}/src/a.py" for number in range(9)] + ["src/a.py", "a.py"]
    >>> PathIndex({"a.py": paths}).find(("pkg4/src/a.py",), ("pkg4", "src", "a.py"))
    ['pkg4/src/a.py', 'src/a.py', 'a.py']
    """

    def __init__(self, named: Mapping[str, Collection[str]]) -> None:
        self._named = named
        self._ends: dict[str, _Ends] = {}

    def find(self, wordings: Sequence[str], parts: Sequence[str]) -> list[str]:
        """Find the paths that equal a wording, end in the path of these parts, or are its end; of a rare name
        also others."""
        name = parts[-1]
        paths = self._named.get(name, ())
        if len(paths) <= _FEW:
            return list(paths)
        if name not in self._ends:
            self._ends[name] = _Ends(paths)
        return self._ends[name].find(wordings, parts)


class _Ends:
    """Paths of one name, in order as they are read backwards."""

    def __init__(self, paths: Collection[str]) -> None:
        self._order = {path: at for at, path in enumerate(paths)}
        self._paths = sorted(paths, key=read_backwards)
        self._backwards = list(map(read_backwards, self._paths))

    def find(self, wordings: Sequence[str], parts: Sequence[str]) -> list[str]:
        """See `PathIndex.find`."""
        shorter = ["/".join(parts[at:]) for at in range(1, len(parts))]
        # Users point a model at a file by "@src/a.py".
        runs = {run for path in (*wordings, *shorter) for run in (path, f"@{path}") if run in self._order}
        longer = read_backwards("/".join(parts).lstrip("/"))
        runs.update(self._paths[find_beginning(self._backwards, longer)])
        return sorted(runs, key=self._order.__getitem__)


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
