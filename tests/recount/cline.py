"""The figures of a session of Cline's, from its messages: FORMATS §6.

`inputTokens` of a reply includes what was read from the cache and written to it. A compaction stands in a
file of its own beside the messages, which stay whole: one of its messages says so in `metadata.kind`. Nothing
is told of what it took. A third file only names the session. A person speaks in every message of the user's
that answers no tool.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .figures import Figures, Request, whole, write_bill

Message = dict[str, Any]


def recount(path: Path) -> Figures:
    """Every figure of the messages, and of the compaction where the file is one or one stands beside it."""
    messages = _load(path)
    if not messages:
        path = path.with_name(f"{path.stem}.messages.json")
        messages = _load(path)
    compactions = _count_compactions(messages)
    if compactions:
        own = path.with_name(path.name.removesuffix(".compaction.json") + ".messages.json")
        beside = [own] if own.exists() else sorted(path.parent.glob("*.messages.json"))
        messages = _load(beside[0]) if beside else messages
    else:
        sidecar = path.with_name(path.name.removesuffix(".messages.json") + ".compaction.json")
        compactions = _count_compactions(_load(sidecar)) if sidecar.exists() else 0
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


def _load(path: Path) -> list[Message]:
    messages = json.loads(path.read_bytes()).get("messages")
    return messages if isinstance(messages, list) else []


def _count_compactions(messages: list[Message]) -> int:
    kinds = (str((message.get("metadata") or {}).get("kind", "")) for message in messages)
    return sum(kind.startswith("compaction") for kind in kinds)


def _is_typed(message: Message) -> bool:
    content = message["content"]
    if message["role"] != "user" or _count_compactions([message]):
        return False
    return isinstance(content, str) or not any(part.get("type") == "tool_result" for part in content)
