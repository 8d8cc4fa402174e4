"""Read the history that a Codex compaction leaves: items in full, or references to them (FORMATS §1).

`replacement_history` lists items in full. Builds of September 2026 and later may write
`replacement_history_entries` instead: each element is an item (`inline`) or the id of an earlier item
(`reference`, `reference_v2`).
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

from ....session.json_text import stringify
from ...json_document import Fields


class Reference(NamedTuple):
    """The id of an earlier item."""

    item: str


def take_history(fields: Fields) -> list[Any] | None:
    """Return the items of a compaction in order, in full or as a `Reference`; None if it lists none.

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
    items: list[Any] = []
    for raw in listed:
        entry = Fields(raw)
        name = entry.text("item_id")
        items.append(entry.any("item") if name is None else Reference(name))
    return items


def print_entry(blocks: Any) -> bytes:
    """Return a digest of a message's blocks; empty if there are no blocks."""
    if not blocks:
        return b""
    text = stringify([block.model_dump() for block in blocks])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
