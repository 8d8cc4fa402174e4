"""The figures of Kimi Code's wire logs: FORMATS §14.

A step that says anything is a reply, and its `step.end` tells what it took; `usage.record` says so again. A
prompt is a user's message whose origin is the user. What was undone is no turn any more.
"""

from __future__ import annotations

from pathlib import Path

from .figures import Figures
from .tally import Row, Tally, held, is_typed, read_rows, say, whole


def recount(path: Path) -> Figures:
    """Every figure of the log."""
    tally, model = Tally(), None
    said: set[str] = set()
    way: list[str] = []  # "prompt", "reply" and what else stands in the context, in its order
    used: list[tuple[list[int], object, int]] = []
    for row in read_rows(path):
        kind, event, message = row.get("type"), held(row, "event"), held(row, "message")
        model = row.get("modelAlias") or (row.get("model") if kind == "llm.request" else None) or model
        if kind == "context.append_message":
            way.append("prompt" if _is_prompt(message) else "else")
        elif kind == "context.apply_compaction":
            tally.compact()
            way.append("floor")
        elif kind == "context.clear":
            way.clear()
        elif kind == "context.undo":
            _undo(way, whole(row.get("count")))
        elif event.get("type") in ("content.part", "tool.call") and _says(event):
            if event["stepUuid"] not in said:
                way.append("reply")
                said.add(event["stepUuid"])
                tally.figures.replies += 1
        elif event.get("type") == "step.end" and event["uuid"] in said and "usage" in event:
            names = ("inputOther", "inputCacheRead", "inputCacheCreation")
            fresh, read, written = (whole(event["usage"].get(name)) for name in names)
            tokens = [fresh, read, written, 0, whole(event["usage"].get("output"))]
            used.append((tokens, model, len(way)))
    for tokens, name, at in used:
        tally.charge(tokens, name, on_way=at <= len(way))
    return tally.close(way.count("prompt"))


def _is_prompt(message: Row) -> bool:
    mine = held(message, "origin").get("kind", "user") == "user" and message.get("role") == "user"
    return mine and is_typed(say(message.get("content")))


def _says(event: Row) -> bool:
    part = held(event, "part")
    return part.get("type") != "text" or bool(str(part.get("text")).strip())


def _undo(way: list[str], count: int) -> None:
    floor = max((at for at, each in enumerate(way) if each == "floor"), default=-1)
    prompts = [at for at, each in enumerate(way) if at > floor and each == "prompt"]
    if prompts and count:
        del way[prompts[-min(count, len(prompts))] :]
