"""Turn a sub-agent's session, read from a file of its own, into sidechain entries of the parent session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from ..session.entries import Boundary, Entry
from ..session.session import Session


def set_apart(agent: Session, id: str, prefix: str = "", known_ids: Collection[str] = ()) -> Iterator[Entry]:
    """Yield the entries of a sub-agent's session, each on the sidechain `id`, with prefixed ids.

    Their sources are removed, because their rows are in another file.

    Args:
        agent: The sub-agent's session.
        id: The sidechain.
        prefix: The prefix of the entries' ids; without one, `id`.
        known_ids: Ids of entries that the parent session already contains. They are left out.
    """
    prefix, known_ids = prefix or id, frozenset(known_ids)
    entries = [entry for entry in agent.entries if known_ids.isdisjoint((entry.id, *entry.aliases))]
    here = {name for entry in entries for name in (entry.id, *entry.aliases)}

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
    kept_ids = tuple(_rename_all(boundary.kept, rename))
    return boundary.model_copy(update={"kept": kept_ids, "first_kept": rename(boundary.first_kept)})


def _rename_all(names: Iterable[str], rename: Callable[[str | None], str | None]) -> Iterator[str]:
    return (new for name in names if (new := rename(name)) is not None)
