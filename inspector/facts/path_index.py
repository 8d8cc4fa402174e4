"""Paths by their last part: of many of one name those that a path may be.

In go paths and the pattern of a file, out come the few that may be that file, that folder, or an end of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .beginnings import find_beginning, read_backwards

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
