"""Who follows whom in a file of entries, where some links of the chain are no entries.

In go ids and parents in file order, out come parents, aliases and first kept entries among entries only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..text import plural


class Chain:
    """The parents of a file.

    Bookkeeping records and records of unknown type stand in the chain of parents too. An entry's parent
    is the nearest entry above it; the ids of what lies between become aliases of that entry, so that
    any id of the file leads to where the chain stood. The last of two equal ids wins (FLUE §1.1).
    """

    def __init__(self) -> None:
        self._parent: dict[str, str | None] = {}
        self._links: set[str] = set()
        self._found: dict[str, str | None] = {}
        self.repeated: list[str] = []

    def add(self, id: str, parent: str | None, *, is_entry: bool) -> None:
        if id in self._parent:
            self.repeated.append(id)
        self._parent[id] = parent
        self._found.clear()
        (self._links.discard if is_entry else self._links.add)(id)

    def find_entry(self, id: str | None) -> str | None:
        """The entry `id` is, or the nearest one above it. An id the file does not hold stays as it is."""
        seen: set[str] = set()
        at = id
        while at is not None and at in self._links:
            if at in self._found:
                at = self._found[at]
                break
            if at in seen:
                at = None
                break
            seen.add(at)
            at = self._parent[at]
        self._found.update((link, at) for link in seen)
        return at

    def find_first_kept(self, id: str | None, compaction: str) -> str | None:
        """The first entry at or below `id` on the way down to the compaction, None when there is none."""
        if id is None or id not in self._links:
            return id
        below: str | None = None
        seen: set[str] = set()
        at = self._parent.get(compaction)
        while at is not None and at not in seen and at in self._parent:
            seen.add(at)
            if at not in self._links:
                below = at
            if at == id:
                return below
            at = self._parent[at]
        return None

    def find_aliases(self) -> dict[str, tuple[str, ...]]:
        """Entry id to the ids of the links that hang on it."""
        found: dict[str, list[str]] = {}
        for link in self._parent:
            if link in self._links and (entry := self.find_entry(link)) is not None:
                found.setdefault(entry, []).append(link)
        return {entry: tuple(links) for entry, links in found.items()}

    def warnings(self) -> tuple[str, ...]:
        """A sentence when ids are not unique."""
        return _say_repeated(len(self.repeated))


def warn_of_repeated(ids: Iterable[str]) -> tuple[str, ...]:
    """A sentence when ids are not unique."""
    names = list(ids)
    return _say_repeated(len(names) - len(set(names)))


def _say_repeated(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{plural(count, 'entry has', 'entries have')} an id that was used before; the last one counts",)
