"""The figures of a session of Cline's, from its messages: FORMATS §6.

`inputTokens` of a reply includes what was read from the cache and written to it. A compaction stands in a
file of its own beside the messages, which stay whole: one of its messages says so in `metadata.kind`. Nothing
is told of what it took. A person speaks in every message of the user's that answers no tool.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .figures import Figures, Request, whole, write_bill

Message = dict[str, Any]


def recount(path: Path) -> Figures:
    """Every figure of the messages, and of the compaction where the file is one."""
    document = json.loads(path.read_bytes())
    compactions = sum(
        str((message.get("metadata") or {}).get("kind", "")).startswith("compaction")
        for message in document["messages"]
    )
    messages: list[Message] = document["messages"]
    if compactions:
        (beside,) = path.parent.glob("*.messages.json")
        messages = json.loads(beside.read_bytes())["messages"]
    figures = Figures(turns=sum(_is_typed(message) for message in messages), compactions=min(compactions, 1))
    replies: list[list[Request]] = []
    for message in messages:
        if message["role"] != "assistant":
            continue
        figures.replies += 1
        told = message.get("metrics")
        if not isinstance(told, dict):
            continue
        sent, reply = whole(told.get("inputTokens")), whole(told.get("outputTokens"))
        read, written = whole(told.get("cacheReadTokens")), whole(told.get("cacheWriteTokens"))
        cost = dict.fromkeys(("input", "cacheRead", "cacheWrite", "output"), 0.0)
        tokens = [sent - read - written, read, written, 0, reply]
        model = (message.get("modelInfo") or {}).get("id")
        replies.append([Request(model, tokens, {**cost, "total": float(told.get("cost") or 0)})])
        figures.largest_request = max(figures.largest_request, sent)
        figures.largest_context = max(figures.largest_context, sent + reply)
    write_bill(figures, replies, {}, {"compactions": figures.compactions})
    return figures


def _is_typed(message: Message) -> bool:
    content = message["content"]
    if message["role"] != "user":
        return False
    return isinstance(content, str) or not any(part.get("type") == "tool_result" for part in content)
