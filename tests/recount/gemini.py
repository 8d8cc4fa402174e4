"""The figures of a chat of Gemini CLI's, from its document or its rows: FORMATS §5.

In rows a message with a known id replaces the earlier one, `$rewindTo` takes a message and its followers
off the way, `$set.messages` is a new history: a compression if one of its first messages holds a
`<state_snapshot>`. `tokens` are one request's: input with the cache's, output without the thoughts, and the
tokens of tool results. `info`, `error` and `warning` never reach the model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .figures import Figures
from .tally import Row, Tally, dig, is_typed, listed, read_document, read_rows, say, whole

_SNAPSHOT = "<state_snapshot>"


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    chat = _Chat()
    try:
        document = read_document(path)
    except ValueError:
        document = None
    if isinstance(document, dict) and "messages" in document:
        for message in listed(document["messages"]):
            chat.say(message)
    else:
        for row in read_rows(path):
            chat.take(row)
    return chat.close()


class _Chat:
    """Every message that was ever in the chat, in its last wording, and the current messages."""

    def __init__(self) -> None:
        self.history: list[Row] = []
        self.way: list[Row] = []  # {"message": …} or {"summary": …} or {"emptied": …}
        self.compactions = self.emptied = 0

    def take(self, row: Row) -> None:
        if "$rewindTo" in row:
            names = [dig(item, "message").get("id") for item in self.way]
            del self.way[names.index(row["$rewindTo"]) if row["$rewindTo"] in names else 0 :]
        elif gone := listed(dig(row, "$patch").get("removeIds")):
            self.way = [item for item in self.way if dig(item, "message").get("id") not in gone]
        elif isinstance(row.get("$set"), dict):
            if isinstance(row["$set"].get("messages"), list):
                self.replace([item for item in row["$set"]["messages"] if isinstance(item, dict)])
        elif "type" in row:
            self.say(row)

    def say(self, message: Any) -> None:
        if not isinstance(message, dict) or message.get("type") not in ("user", "gemini"):
            return
        name = message.get("id")
        for item in self.way:
            if isinstance(name, str) and "summary" not in item and dig(item, "message").get("id") == name:
                item["message"] = message
                return
        self._add({"message": message})

    def _add(self, item: Row) -> Row:
        self.history.append(item)
        self.way.append(item)
        return item

    def replace(self, rows: list[Row]) -> None:
        rows = [row for row in rows if row.get("type") in ("user", "gemini")]
        answered = [
            call.get("id")
            for row in rows
            for call in listed(row.get("toolCalls"))
            if isinstance(call, dict) and call.get("result") is not None
        ]
        standing = [dig(item, "message").get("id") for item in self.way]
        rows = [row for row in rows if row.get("id") in standing or not _repeats(row, answered)]
        by_id = {str(dig(item, "message").get("id")): item for item in self.way}
        at = next((n for n, row in enumerate(rows[:3]) if _SNAPSHOT in json.dumps(row.get("content"))), None)
        if at is not None and str(rows[at].get("id")) not in by_id:
            self.compactions += 1
            for row in rows:
                before = by_id.get(str(row.get("id")))
                if row is rows[at]:
                    self._add({"summary": row, "message": row})
                elif before is None or _words(before["message"]) != _words(row):
                    self._add_again(row)
                elif not before["message"].get("tokens"):
                    before["message"] = row  # its tokens are reported only now
            return
        ids = [row.get("id") for row in rows]
        standing = [item for item in self.way if dig(item, "message").get("id") in ids]
        if [dig(item, "message").get("id") for item in standing] == ids:
            shorter = [
                True
                for item, row in zip(standing, rows, strict=True)
                if _size(row) < _size(item.get("masked") or item["message"])
            ]
            for item, row in zip(standing, rows, strict=True):
                item["masked" if shorter or "masked" in item else "message"] = row
            self.emptied += bool(shorter)
            return
        stays = 0
        while stays < min(len(self.way), len(rows)) and (
            dig(self.way[stays], "message").get("id") == rows[stays].get("id")
        ):
            stays += 1
        del self.way[stays:]
        for row in rows[stays:]:
            self._add_again(row)

    def _add_again(self, row: Row) -> None:
        """A message that a new history holds: a reply's request was made once."""
        before = [dig(item, "message") for item in self.history]
        again = any(item.get("id") == row.get("id") and item.get("tokens") for item in before)
        self._add({"message": {**row, "tokens": None} if again else row})

    def close(self) -> Figures:
        tally = Tally()
        for item in self.history:
            message = item["message"]
            if "summary" in item:
                tally.compact()
            elif message["type"] == "gemini":
                tally.reply(
                    _split(message.get("tokens")),
                    message.get("model"),
                    total=dig(message, "tokens").get("total"),
                    on_way=any(item is current for current in self.way),
                )
        tally.figures.emptied = self.emptied
        return tally.close(sum("summary" not in item and _opens(item["message"]) for item in self.way))


def _repeats(row: Row, answered: list[Any]) -> bool:
    """Whether a user's message holds only answers that the calls of a reply contain."""
    parts = [part for part in listed(row.get("content")) if isinstance(part, dict)]
    names = [dig(part, "functionResponse").get("id") for part in parts]
    return row["type"] == "user" and bool(names) and all(name in answered for name in names)


def _words(message: Row) -> str:
    content = message.get("content")
    called = [dig({"": call}, "") for call in listed(message.get("toolCalls"))]
    calls = [[call.get("id"), call.get("result")] for call in called]
    parts = [content] if isinstance(content, str | dict) else listed(content)
    texts = [
        part.get("text", part) if isinstance(part, dict) else part
        for part in parts
        if not _is_aside(part, calls)
    ]
    return json.dumps([message.get("type"), [text for text in texts if text], calls])


def _is_aside(part: Any, calls: list[Any]) -> bool:
    return isinstance(part, dict) and bool(part.get("thought") or (calls and "functionCall" in part))


def _opens(message: Row) -> bool:
    content = message.get("content")
    parts = [content] if isinstance(content, dict | str) else listed(content)
    own = [part for part in parts if not (isinstance(part, dict) and "functionResponse" in part)]
    if message["type"] != "user" or not own:
        return False
    if any(isinstance(part, dict) and "text" not in part for part in own):
        return True
    return is_typed(say(own))


def _size(message: Row) -> int:
    return sum(len(json.dumps(call.get("result"))) for call in listed(message.get("toolCalls")))


def _split(tokens: Any) -> list[int] | None:
    if not isinstance(tokens, dict):
        return None
    sent, cached, tool = (whole(tokens.get(name)) for name in ("input", "cached", "tool"))
    return [
        max(sent - cached, 0) + tool,
        cached,
        0,
        0,
        whole(tokens.get("output")) + whole(tokens.get("thoughts")),
    ]


def recount_qwen(path: Path) -> Figures:
    """Every figure of a chat of Qwen Code's: rows linked by `parentUuid`, with Google's parts and figures.

    A row `chat_compression` is a compaction, unless it says that it failed. The last row is the leaf.
    """
    rows = list(read_rows(path))
    where = {str(row["uuid"]): at for at, row in enumerate(rows) if "uuid" in row}
    way: set[int] = set()
    apart = {at for at, row in enumerate(rows) if row.get("agentId") or row.get("isSidechain")}
    said_at = [at for at, row in enumerate(rows) if dig(row, "message")]
    apart = set() if all(at in apart for at in said_at) else apart
    at: int | None = len(rows) - 1
    while at is not None and at >= 0 and _is_under(rows, where, at, apart):
        at -= 1
    while at is not None and at >= 0 and at not in way:
        way.add(at)
        above = rows[at].get("parentUuid")
        at = where.get(above) if isinstance(above, str) else None
    tally = Tally()
    turns = 0
    all_parts = [dig(row, "message").get("parts") for row in rows]
    for at, row in enumerate(rows):
        message = dig(row, "message")
        status = dig(row, "systemPayload", "info").get("compressionStatus", 1)
        if row.get("subtype") == "chat_compression":
            if status in (1, "completed", "compressed", "COMPRESSED") or dig(row, "systemPayload").get(
                "compressedHistory"
            ):
                tally.compact()
            # Messages that only the compressed history has: the model's acknowledgement of the summary.
            for item in listed(dig(row, "systemPayload").get("compressedHistory"))[1:]:
                if item.get("role") == "model" and item.get("parts") not in all_parts:
                    tally.reply()
        elif row.get("type") == "assistant" and message:
            usage = dig(row, "usageMetadata")
            names = ("promptTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount")
            sent, cached, tool = (whole(usage.get(name)) for name in names)
            replied = whole(usage.get("candidatesTokenCount")) + whole(usage.get("thoughtsTokenCount"))
            tokens = [max(sent - cached, 0) + tool, cached, 0, 0, replied] if usage else None
            total = usage.get("totalTokenCount")
            if at in apart:
                tally.aside(tokens, row.get("model"))
                continue
            tally.reply(tokens, row.get("model"), total=total, on_way=at in way)
        elif row.get("type") == "user" and message and at in way and not _is_reported(row):
            turns += _opens({"type": "user", "content": message.get("parts")})
    return tally.close(turns)


def _is_under(rows: list[Row], where: dict[str, int], at: int, apart: set[int]) -> bool:
    """Whether a row is a sub-agent's or about its message: no message of the chat is nearer."""
    visited: set[int] = set()
    here: int | None = at
    while here is not None and here not in visited and here not in apart and not dig(rows[here], "message"):
        visited.add(here)
        above = rows[here].get("parentUuid")
        here = where.get(above) if isinstance(above, str) else None
    return here in apart


def _is_reported(row: Row) -> bool:
    """Whether a user's line says that no person typed it."""
    kinds = ("notification", "cron", "goal_runtime", "background_task_completed", "agent_launch_prompt")
    return (
        row.get("subtype") in (*kinds, "realtime_message")
        or row.get("provenance", "real_user") != "real_user"
    )
