"""A sub-agent's session, of a file of its own -> entries that stand apart in the one that started it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from ..session.entries import Boundary, Entry
from ..session.session import Session


def set_apart(agent: Session, id: str, prefix: str = "", told: Collection[str] = ()) -> Iterator[Entry]:
    """The entries of a sub-agent's, each on a sidechain by its `id`, its own name behind a `prefix`.

    Their rows are in another file, so they name no place in the session's. Entries that are `told` already,
    by their names, are left out.
    """
    prefix, told = prefix or id, frozenset(told)
    entries = [entry for entry in agent.entries if told.isdisjoint((entry.id, *entry.aliases))]
    here = {each for entry in entries for each in (entry.id, *entry.aliases)}

    def rename(own: str | None) -> str | None:
        return f"{prefix}/{own}" if own is not None and own in here else None

    for entry in entries:
        yield entry.model_copy(
            update={
                "id": f"{prefix}/{entry.id}",
                "parent": rename(entry.parent),
                "aliases": tuple(_rename_all(entry.aliases, rename)),
                "sidechain": entry.sidechain or id,
                "boundary": entry.boundary and _move(entry.boundary, rename),
                "sources": (),
            }
        )


def _move(boundary: Boundary, rename: Callable[[str | None], str | None]) -> Boundary:
    kept = tuple(_rename_all(boundary.kept, rename))
    return boundary.model_copy(update={"kept": kept, "first_kept": rename(boundary.first_kept)})


def _rename_all(names: Iterable[str], rename: Callable[[str | None], str | None]) -> Iterator[str]:
    return (new for each in names if (new := rename(each)) is not None)
