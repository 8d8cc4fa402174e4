"""Resolve parents in a file of entries in which some links of the parent chain are not entries.

The input is ids and parents in file order; the output is parents, aliases and first kept entries.
"""

from __future__ import annotations

from ..text import plural


class Chain:
    """The parent chain of a file.

    Bookkeeping records and records of unknown type are also links of the chain. An entry's parent is the
    nearest entry above it. The ids of the links between them become aliases of that entry, so that every id
    of the file resolves to an entry. If an id occurs twice, the last record counts (FLUE §1.1).
    """

    def __init__(self) -> None:
        self._parent: dict[str, str | None] = {}
        self._links: set[str] = set()
        self._entries: dict[str, str | None] = {}
        self.repeated = 0

    def add(self, id: str, parent: str | None, *, is_entry: bool) -> None:
        self.repeated += id in self._parent
        self._parent[id] = parent
        self._entries.clear()
        (self._links.discard if is_entry else self._links.add)(id)

    def find_entry(self, id: str | None) -> str | None:
        """Return the entry with this id, or the nearest one above it. An unknown id is returned unchanged."""
        links: set[str] = set()
        current = id
        while current is not None and current in self._links:
            if current in self._entries:
                current = self._entries[current]
                break
            if current in links:
                current = None
                break
            links.add(current)
            current = self._parent[current]
        self._entries.update((link, current) for link in links)
        return current

    def find_first_kept(self, id: str | None, compaction: str) -> str | None:
        """Return the first entry at or below `id` down to the compaction, or None."""
        if id is None or id not in self._links:
            return id
        below: str | None = None
        visited: set[str] = set()
        link = self._parent.get(compaction)
        while link is not None and link not in visited and link in self._parent:
            visited.add(link)
            if link not in self._links:
                below = link
            if link == id:
                return below
            link = self._parent[link]
        return None

    def find_aliases(self) -> dict[str, tuple[str, ...]]:
        """Return the ids of the links that resolve to each entry, by entry id."""
        by_entry: dict[str, list[str]] = {}
        for link in self._parent:
            if link in self._links and (entry := self.find_entry(link)) is not None:
                by_entry.setdefault(entry, []).append(link)
        return {entry: tuple(links) for entry, links in by_entry.items()}

    def warnings(self) -> tuple[str, ...]:
        """Return a warning if ids are not unique."""
        return warn_of_repeated(self.repeated)


def warn_of_repeated(count: int) -> tuple[str, ...]:
    """Return a warning if ids are not unique: `count` entries have one that was used before."""
    repeated = plural(count, "entry has", "entries have")
    return (f"{repeated} an id that was used before; the last one counts",) if count else ()
