"""The figures of an opencode export, from its messages and parts: FORMATS §7.

A reply is a step: it ends with a part `step-finish`, which tells what its request took; every token counts in
one figure. A message without such a part is one reply, by its own figures. A compaction is a finished summary
whose parent holds a part `compaction`. Outputs cleared at one moment are one emptying.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .figures import Figures
from .tally import NotRecounted, Row, Tally, dig, is_typed, listed, load, read_document, whole


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    document = _open(path)
    tally = Tally()
    messages = [each for each in listed(document.get("messages")) if isinstance(each, dict)]
    marks = {
        dig(each, "info").get("id")
        for each in messages
        if any(part.get("type") == "compaction" for part in _parts(each))
    }
    hidden = dig(document, "info", "revert").get("messageID")
    turns, on_way = 0, True
    moments: list[tuple[float, float]] = []
    for each in messages:
        if "info" not in each:
            on_way = on_way and each.get("id") != hidden
            turns += on_way and each.get("type") == "user" and is_typed(str(each.get("text")))
            _add_next(tally, each, on_way)
            moments += [(when, dig(each, "time")["created"]) for when in _pruned(each)]
            continue
        info, parts = dig(each, "info"), _parts(each)
        on_way = on_way and info.get("id") != hidden
        if info.get("role") == "user":
            turns += on_way and info.get("id") not in marks and _opens(parts)
        elif info.get("role") == "assistant" and info.get("summary") is True:
            if info.get("parentID") in marks and info.get("finish") and not info.get("error"):
                tally.compact(_split(info.get("tokens")), info.get("modelID"), info.get("cost"))
        elif info.get("role") == "assistant":
            ends = [part for part in parts if part.get("type") == "step-finish"]
            for end in ends or [info]:
                total = dig(end, "tokens").get("total")
                tally.reply(
                    _split(end.get("tokens")),
                    info.get("modelID"),
                    end.get("cost"),
                    total=total,
                    on_way=on_way,
                )
            if ends and parts[-1].get("type") != "step-finish":
                tally.reply()
        for part in parts:
            cleared = dig(part, "state", "time").get("compacted")
            if isinstance(cleared, int | float):
                moments.append((cleared, whole(dig(info, "time").get("created"))))
    tally.figures.emptied = _count_emptied(moments, messages)
    return tally.close(turns)


def _open(path: Path) -> Row:
    """The export: in an answer's `data`, below a line that the program told, or as its messages alone."""
    if path.read_bytes().startswith(b"SQLite format 3\0"):
        raise NotRecounted("a database: its sessions are recounted from what opencode exports of them")
    try:
        document = read_document(path)
    except ValueError:
        document = load(path.read_bytes().partition(b"\n")[2])
    if isinstance(document, dict) and "messages" not in document:
        document = document.get("data")
    return document if isinstance(document, dict) else {"messages": listed(document)}


def _add_next(tally: Tally, message: Row, on_way: bool) -> None:
    """A message of the next form: it has a `type`, and neither `info` nor parts."""
    model, cost = dig(message, "model").get("id"), message.get("cost")
    if message.get("type") == "assistant":
        tally.reply(_split(message.get("tokens")), model, cost, on_way=on_way)
    elif message.get("type") == "compaction" and message.get("summary"):
        if message.get("status", "completed") == "completed":
            tally.compact(_split(message.get("tokens")), model, cost)


def _pruned(message: Row) -> list[float]:
    content = [part for part in listed(message.get("content")) if isinstance(part, dict)]
    return [part["time"]["pruned"] for part in content if "pruned" in dig(part, "time")]


def _parts(message: Row) -> list[Row]:
    return [part for part in listed(message.get("parts")) if isinstance(part, dict)]


def _opens(parts: list[Row]) -> bool:
    """Whether a person's words or files are among the parts: what is `synthetic` is the harness's."""
    own = [part for part in parts if part.get("synthetic") is not True and part.get("ignored") is not True]
    if any(part.get("type") == "file" for part in own):
        return True
    words = "\n".join(str(part.get("text") or "") for part in own if part.get("type") == "text")
    return is_typed(words)


def _count_emptied(moments: list[tuple[float, float]], messages: list[Row]) -> int:
    """How often outputs were cleared: moments between the same two messages are one."""
    times = [dig(each, "info", "time") if "info" in each else dig(each, "time") for each in messages]
    begins = [whole(time.get("created")) for time in times]
    seen = set()
    for cleared, told in moments:
        after = [at for at, begin in enumerate(begins) if begin >= cleared and begin > told]
        seen.add(after[0] if after else -1)
    return len(seen)


def _split(tokens: Any) -> list[int] | None:
    if not isinstance(tokens, dict):
        return None
    cache = dig(tokens, "cache")
    replied = whole(tokens.get("output")) + whole(tokens.get("reasoning"))
    return [whole(tokens.get("input")), whole(cache.get("read")), whole(cache.get("write")), 0, replied]
