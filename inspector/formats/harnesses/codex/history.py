"""What a compaction of Codex's says the history is from there on: items, whole or by name (FORMATS §1).

`replacement_history` lists items whole. Builds of September 2026 and later may write
`replacement_history_entries` in its place: an item whole (`inline`), or the name of one that was said before
(`reference`, `reference_v2`).
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

from ....session.json_text import stringify
from ...json_document import Fields


class Reference(NamedTuple):
    """The name of an item that was said before."""

    item: str


def take_history(fields: Fields) -> list[Any] | None:
    """The items of a compaction in their order, each whole or as a `Reference`; None where it lists none.

    >>> entries = [{"type": "reference", "item_id": "m1"}, {"type": "inline", "item": {"type": "message"}}]
    >>> take_history(Fields({"replacement_history_entries": entries}))
    [Reference(item='m1'), {'type': 'message'}]
    """
    whole = fields.items("replacement_history")
    if whole is not None:
        return whole
    listed = fields.items("replacement_history_entries")
    if listed is None:
        return None
    found: list[Any] = []
    for raw in listed:
        entry = Fields(raw)
        name = entry.text("item_id")
        found.append(entry.any("item") if name is None else Reference(name))
    return found


def print_entry(blocks: Any) -> bytes:
    """What a message's blocks are known by; empty for no blocks."""
    if not blocks:
        return b""
    told = stringify([block.model_dump() for block in blocks])
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()
