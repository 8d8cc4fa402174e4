"""Read the replacements of outputs that were too long to be sent.

If the new outputs of one message are too long together, Claude Code writes the longest to files and sends the
beginning of each with the file's path. The row of the message still has the whole output; a row of type
`content-replacement` has the text that was sent, by the id of the call. Every request contains the
replacement, also after a resumption. Source: public descriptions of versions 2.1, read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....session.blocks import Block, Text, ToolOutput, build
from .draft import Draft


def read_replacements(rows: Any) -> dict[str, str]:
    """Return the text that was sent instead of each output, by the id of the call.

    >>> read_replacements([{"toolUseId": "t1", "replacement": "its beginning"}, {"old": 1}])
    {'t1': 'its beginning'}
    """
    objects = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    pairs = ((row.get("toolUseId"), row.get("replacement")) for row in objects)
    return {call: sent for call, sent in pairs if isinstance(call, str) and isinstance(sent, str)}


def replace_outputs(drafts: Iterable[Draft], sent: Mapping[str, str]) -> None:
    """Replace the outputs of these calls by the text that was sent."""
    for draft in drafts if sent else ():
        if sent.keys().isdisjoint(draft.answers):
            continue
        for line in draft.lines:
            line.blocks = tuple(_replace(block, sent) for block in line.blocks)
        draft.cached_entry = None


def _replace(block: Block, sent: Mapping[str, str]) -> Block:
    if type(block) is not ToolOutput or block.call_id not in sent:
        return block
    return block.model_copy(update={"parts": (build(Text, text=sent[block.call_id]),)})
