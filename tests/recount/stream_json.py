"""The figures of Claude Code's stream-json, from its rows: FORMATS §2.

A reply is the rows of one `message.id` of an agent between two prompts or compactions, with the usage of the
last of them. It continues after other rows if its request has the same figures. Rows with
`parent_tool_use_id` belong to a sub-agent; rows named in a later `supersedes` or `retracted_message_uuids`
are void. The bill's total is the sum that the result rows state, each for its process so far.
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
    last: dict[Any, dict[Any, int]] = {}  # by agent, then by the number of a message
    newest: dict[Any, int | None] = {}  # the reply that the last row of an agent belongs to
    states: list[tuple[Any, float]] = []
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
            newest.pop(None, None)
            summary_next = True
        elif kind == "result" and isinstance(row.get("total_cost_usd"), float):
            if states and states[-1][0] == row.get("session_id") and states[-1][1] <= row["total_cost_usd"]:
                states.pop()
            states.append((row.get("session_id"), row["total_cost_usd"]))
            tally.silent = 0
        elif kind == "assistant" and message:
            number = message.get("id")
            at = last.get(agent, {}).get(number) if number is not None and not gone else None
            usage = message.get("usage")
            if at is not None and (newest.get(agent) == at or _sent(usage) == _sent(replies[at][1])):
                replies[at][1] = usage or replies[at][1]
                continue
            replies.append([agent, usage, message.get("model"), not gone])
            if not gone:
                last.setdefault(agent, {})[number] = newest[agent] = len(replies) - 1
        elif kind == "user" and message:
            words = say(message.get("content"))
            if agent is None and summary_next:
                summary_next = False
                if words.startswith("This session is being continued"):
                    continue
            if not gone:
                newest.pop(agent, None)
            parts = listed(message.get("content"))
            own = [part for part in parts if held({"p": part}, "p").get("type") != "tool_result"]
            pictured = any(held({"p": part}, "p").get("type") in ("image", "document") for part in own)
            said = bool(own) or isinstance(message.get("content"), str)
            typed = said and (pictured or is_typed(words)) and row.get("isSynthetic") is not True
            turns += agent is None and not gone and typed
            if typed:
                last.pop(agent, None)
    for agent, usage, by, on_way in replies:
        if agent is None:
            tally.reply(split_usage(usage), by or model, on_way=on_way)
        else:
            tally.aside(split_usage(usage), by)
    tally.stated = sum(money for _, money in states) if states else None
    tally.summed = tally.figures.replies if states else 0
    return tally.close(turns)


def _sent(usage: Any) -> list[Any]:
    names = "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
    return [held({"usage": usage}, "usage").get(name) for name in names]
