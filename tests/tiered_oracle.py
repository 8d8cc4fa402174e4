"""The published tiered compaction once more, straight from TIERED §2-4: what the engine is held against.

Messages in, messages out; nothing of the package is used.
"""

from __future__ import annotations

import json
import math
from copy import deepcopy
from typing import Any

Json = dict[str, Any]
Messages = list[Json]


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, first: int | None, last: int | None) -> str:
    """A slice as JavaScript takes it, by UTF-16 units."""
    data = text.encode("utf-16-le", "surrogatepass")
    return data[None if first is None else 2 * first : None if last is None else 2 * last].decode(
        "utf-16-le", "surrogatepass"
    )


def words(message: Json) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    texts = [
        block["text"] if block["type"] == "text" else block["result"]["content"]
        for block in content
        if block["type"] != "tool_use"
    ]
    return "\n".join(text for text in texts if text)


def estimate(messages: Messages) -> int:
    def tokens(text: str) -> int:
        return max(1, math.ceil(units(text) / 4))

    return sum(tokens(message["role"]) + tokens(words(message)) for message in messages)


def snip(text: str, most: int) -> str:
    if units(text) <= most:
        return text
    half = most // 2
    return f"{cut(text, 0, half)}\n[snip: {units(text) - most} chars omitted]\n{cut(text, -half, None)}"


def point(result: Json, calls: dict[str, Json]) -> str:
    name = "tool"
    if result["toolUseId"] in calls:
        call = calls[result["toolUseId"]]
        given = call["input"]
        label = next(
            (
                given[k]
                for k in ("path", "pattern", "command", "query")
                if isinstance(given.get(k), str) and given[k]
            ),
            None,
        )
        if label is None:
            label = json.dumps(given, separators=(",", ":"), ensure_ascii=False)
        name = f"{call['name']}({cut(label, 0, 80) + '...' if units(label) > 80 else label})"
    path = result.get("artifactPath")
    where = f" -> {path}" if path else " (re-run the tool to see full output)"
    return f"[archived {name} result: {units(result['content'])} chars omitted{where}]"


def shrink(message: Json, calls: dict[str, Json], pointer_over: int, most: int) -> Json:
    message = deepcopy(message)
    if isinstance(message["content"], str):
        message["content"] = snip(message["content"], most)
        return message
    for block in message["content"]:
        if block["type"] == "text":
            block["text"] = snip(block["text"], most)
        elif block["type"] == "tool_result" and units(block["result"]["content"]) > pointer_over:
            block["result"]["content"] = point(block["result"], calls)
    return message


def snip_message(message: Json, most: int) -> Json:
    message = deepcopy(message)
    if isinstance(message["content"], str):
        message["content"] = snip(message["content"], most)
        return message
    for block in message["content"]:
        if block["type"] == "text":
            block["text"] = snip(block["text"], most)
        elif block["type"] == "tool_result":
            block["result"]["content"] = snip(block["result"]["content"], most)
    return message


def drop_middle(
    messages: Messages, target: int = 8000, first: int = 1, last: int = 6, most: int = 2000
) -> tuple[Messages, Messages]:
    """What the legacy routine returns, and what it archives."""
    n = len(messages)
    snipped = [snip_message(message, most) for message in messages]
    if estimate(snipped) <= target or n <= first + last:
        return snipped, []
    gone = snipped[first : n - last] if last else []
    text = (
        f"[context compacted: {len(gone)} messages omitted, about {estimate(gone)} estimated tokens removed]"
    )
    notice = {"role": "assistant", "content": text}
    if last == 0:  # "the last 0" is everything, and nothing was counted as gone
        return [*snipped[:first], notice, *snipped], messages[first:]
    return [*snipped[:first], notice, *snipped[-last:]], messages[first : n - last]


def tiered(
    messages: Messages, target: int = 8000, root: int = 1, recent: int = 6, over: int = 600, most: int = 2000
) -> tuple[Messages, Messages]:
    """What the tiered routine returns, and what it archives."""
    root, recent, n = max(root, 0), max(recent, 0), len(messages)
    if estimate(messages) <= target:
        return list(messages), []
    if n <= root + recent:
        return drop_middle(messages, target, most=most)
    calls = {
        block["toolUse"]["id"]: block["toolUse"]
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_use"
    }
    stale = range(root, n - recent)
    shrunk = [
        shrink(message, calls, over, most) if i in stale else message for i, message in enumerate(messages)
    ]
    archived = messages[root : n - recent]
    if estimate(shrunk) <= target:
        return shrunk, archived
    return drop_middle(shrunk, target, root, recent, most)[0], archived
