"""Outputs of tools that are too long to be sent, and what the model is given instead.

Where the new outputs of one message are too long together, Claude Code keeps the longest in files and sends a
beginning of each with the file's path. The row of the message holds the whole output all the same; a row of
type `content-replacement` tells what was sent, by the id of the call. It is sent so from the first request on
and after a resumption, so no request ever held the whole one. Source: public descriptions of versions 2.1,
read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....session.blocks import Block, Text, ToolOutput, build
from .draft import Draft


def read_replacements(rows: Any) -> dict[str, str]:
    """What was sent instead of an output, by the id of the call.

    >>> read_replacements([{"toolUseId": "t1", "replacement": "its beginning"}, {"old": 1}])
    {'t1': 'its beginning'}
    """
    told = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    pairs = ((row.get("toolUseId"), row.get("replacement")) for row in told)
    return {call: sent for call, sent in pairs if isinstance(call, str) and isinstance(sent, str)}


def replace_outputs(drafts: Iterable[Draft], sent: Mapping[str, str]) -> None:
    """Give the drafts what was sent of the outputs of these calls."""
    for draft in drafts if sent else ():
        if sent.keys().isdisjoint(draft.answers):
            continue
        for line in draft.lines:
            line.blocks = tuple(_replace(block, sent) for block in line.blocks)
        draft.made = None


def _replace(block: Block, sent: Mapping[str, str]) -> Block:
    if type(block) is not ToolOutput or block.call_id not in sent:
        return block
    return block.model_copy(update={"parts": (build(Text, text=sent[block.call_id]),)})
