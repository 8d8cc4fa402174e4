"""The figures of Claude Code's stream-json, from its rows: FORMATS §2.

A reply is the rows of one `message.id` that follow each other, with the usage of the last of them. Rows with
`parent_tool_use_id` are a sub-agent's, those named in a later `supersedes` or
`retracted_message_uuids` are void. What the result row sums up is not counted beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .chat import split_usage
from .figures import Figures
from .tally import Tally, held, is_typed, listed, read_document, read_rows, say


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    rows = list(read_rows(path))
    if path.read_bytes().lstrip()[:1] == b"[" and not any("type" in row for row in rows):
        rows = [row for row in read_document(path) if isinstance(row, dict)]
    void = {
        name
        for row in rows
        for names in ("supersedes", "retracted_message_uuids")
        for name in listed(row.get(names))
    }
    tally = Tally()
    turns, model = 0, None
    replies: list[list[Any]] = []  # agent, usage, model, on the way
    last: dict[Any, tuple[Any, int]] = {}
    summary_next = False
    for row in rows:
        kind, agent = row.get("type"), row.get("parent_tool_use_id")
        message = held(row, "message")
        gone = row.get("uuid") in void
        if kind == "system" and row.get("subtype") == "init":
            model = model or row.get("model")
        elif kind == "system" and row.get("subtype") == "compact_boundary":
            tally.compact()
            last.pop(None, None)
            summary_next = True
        elif kind == "assistant" and message:
            number = message.get("id")
            if not gone and number is not None and agent in last and last[agent][0] == number:
                replies[last[agent][1]][1] = message.get("usage") or replies[last[agent][1]][1]
                continue
            replies.append([agent, message.get("usage"), message.get("model"), not gone])
            if not gone:
                last[agent] = number, len(replies) - 1
        elif kind == "user" and message:
            words = say(message.get("content"))
            if agent is None and summary_next:
                summary_next = False
                if words.startswith("This session is being continued"):
                    continue
            if not gone:
                last.pop(agent, None)
            parts = listed(message.get("content"))
            own = [part for part in parts if held({"p": part}, "p").get("type") != "tool_result"]
            pictured = any(held({"p": part}, "p").get("type") in ("image", "document") for part in own)
            said = bool(own) or isinstance(message.get("content"), str)
            typed = said and (pictured or is_typed(words)) and row.get("isSynthetic") is not True
            turns += agent is None and not gone and typed
    for agent, usage, by, on_way in replies:
        if agent is None:
            tally.reply(split_usage(usage), by or model, on_way=on_way)
        else:
            tally.aside(split_usage(usage), by)
    return tally.close(turns)
