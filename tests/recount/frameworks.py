"""The figures of pydantic-ai's messages, of the AI SDK's saved chats and of LangGraph's threads: FORMATS §12.

pydantic-ai tells what a response took, with the cache's among what was sent. The AI SDK tells nothing of it;
a reply of the screen is as many replies as it has steps. A LangGraph state holds all messages of its moment,
so states are joined as whole requests are; a reply's `usage_metadata` is its own, once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .chat import Asked, join
from .figures import Figures
from .tally import (
    NotRecounted,
    Row,
    Tally,
    held,
    is_typed,
    listed,
    read_document,
    read_rows,
    say,
    split_inclusive,
    whole,
)


def recount_pydantic(path: Path) -> Figures:
    """Every figure of a list of requests and responses."""
    tally, turns = Tally(), 0
    for message in listed(read_document(path)):
        parts = [part for part in listed(held({"m": message}, "m").get("parts")) if isinstance(part, dict)]
        if held({"m": message}, "m").get("kind") == "request":
            turns += _count_prompts(parts)
            for part in parts:
                if part.get("part_kind") == "compaction":
                    tally.compact()
        elif held({"m": message}, "m").get("kind") == "response":
            _take_response(tally, message, parts)
    return tally.close(turns)


def _count_prompts(parts: list[Row]) -> int:
    """Prompts of a request: parts of the user's that follow each other are one."""
    count, before = 0, ""
    for part in parts:
        kind = str(part.get("part_kind"))
        if kind == "user-prompt" and before != kind:
            content = part.get("content")
            files = any(isinstance(each, dict) and each.get("kind") != "text" for each in listed(content))
            count += files or is_typed(_say(content))
        before = kind
    return count


def _say(content: Any) -> str:
    texts = [{"text": each.get("content")} if isinstance(each, dict) else each for each in listed(content)]
    return content if isinstance(content, str) else say(texts)


def _take_response(tally: Tally, message: Row, parts: list[Row]) -> None:
    """A response: a compaction in it parts it in two. Its figures are those of what it ends with."""
    used, model = held(message, "usage"), message.get("model_name")
    if {"request_tokens", "response_tokens"} & set(used):
        details = held(used, "details")
        cached = details.get("cached_tokens") or details.get("cache_read_input_tokens")
        written = details.get("cache_creation_input_tokens")
        tokens = split_inclusive(used.get("request_tokens"), used.get("response_tokens"), cached, written)
    else:
        names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        tokens = split_inclusive(*(used.get(name) for name in names))
    kinds: list[str] = []
    for part in parts:
        kind = "compaction" if part.get("part_kind") == "compaction" else "said"
        if kind == "compaction" or kinds[-1:] != ["said"]:
            kinds.append(kind)
    for at, kind in enumerate(kinds):
        told = tokens if at == len(kinds) - 1 and sum(tokens) else None
        if kind == "said":
            tally.reply(told, model)
        else:
            tally.compact(told, model)


def recount_sdk(path: Path) -> Figures:
    """Every figure of a saved chat."""
    try:
        document = read_document(path)
    except ValueError:
        document = list(read_rows(path))
    messages = listed(document.get("messages") if isinstance(document, dict) else document)
    tally, turns = Tally(), 0
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        parts = message.get("parts") if role else None
        if role == "user":
            said = [each for each in listed(parts or message.get("content")) if isinstance(each, dict)]
            files = any(each.get("type") in ("file", "image") for each in said)
            content = message.get("content")
            turns += files or is_typed(content if parts is None and isinstance(content, str) else say(said))
        elif role == "assistant":
            steps = _count_steps(message, parts)
            about = held(message, "metadata")
            used = held(about, "usage") or held(about, "totalUsage")
            tokens = _split_sdk(used) if steps == 1 and parts is not None else None
            tally.reply(tokens, about.get("model") if tokens else None, total=used.get("totalTokens"))
            for _ in range(steps - 1):
                tally.reply()
    return tally.close(turns)


def _split_sdk(used: Row) -> list[int] | None:
    """The SDK's figures of one request; None where some are missing or the cache's share is open."""
    cache = held(used, "inputTokenDetails")
    if (
        "inputTokens" not in used
        or "outputTokens" not in used
        or (used.get("cachedInputTokens") and not cache)
    ):
        return None
    read, written = cache.get("cacheReadTokens"), cache.get("cacheWriteTokens")
    return split_inclusive(used["inputTokens"], used["outputTokens"], read, written)


def _count_steps(message: Row, parts: Any) -> int:
    """The steps of a reply: one, and one more for each beginning of a step amid it."""
    calls = listed(message.get("toolInvocations"))
    if calls and not parts:
        # The model spoke after its calls, where it spoke.
        return 2 if message.get("content") else 1
    if not isinstance(parts, list):
        return 1
    steps, filled = 1, False
    for part in parts:
        starts = isinstance(part, dict) and part.get("type") == "step-start"
        steps, filled = (steps + filled, False) if starts else (steps, True)
    return steps


def recount_langgraph(path: Path) -> Figures:
    """Every figure of a thread's states, the oldest first."""
    if path.read_bytes().startswith(b"SQLite format 3"):
        raise NotRecounted("a database")
    document = read_document(path)
    if isinstance(document, dict) and "langgraph" in document:
        states = listed(document.get("checkpoints"))
    elif isinstance(document, list):
        states = document[::-1] if any(_messages(each) for each in document) else [{"messages": document}]
    else:
        states = [document]
    moments = [[_plain(each) for each in _messages(state)] for state in states]
    return join([Asked(each, [], None, None, "thread") for each in moments if each])


def _messages(state: Any) -> list[Any]:
    for name in ("values", "channel_values"):
        if isinstance(held(state, name).get("messages"), list):
            return list(held(state, name)["messages"])
    return listed(state.get("messages")) if isinstance(state, dict) else []


def _plain(message: Any) -> Row:
    """A message of LangChain's, in any of its three forms, with what it took under `took`."""
    told = message if isinstance(message, dict) else {}
    if told.get("lc") == 1:
        kind, told = str((told.get("id") or [""])[-1]), held(told, "kwargs")
    elif isinstance(told.get("data"), dict):
        kind, told = str(told.get("type")), told["data"]
    else:
        kind = str(told.get("type"))
    kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    role = {"human": "user", "ai": "assistant", "function": "tool"}.get(kind, kind)
    plain = {"role": role, "content": told.get("content"), "tool_call_id": told.get("tool_call_id")}
    calls = [
        {"name": call.get("name"), "arguments": call.get("args")} for call in listed(told.get("tool_calls"))
    ]
    used = told.get("usage_metadata")
    if isinstance(used, dict):
        details = held(used, "input_token_details")
        read, written = details.get("cache_read"), details.get("cache_creation")
        tokens = split_inclusive(used.get("input_tokens"), used.get("output_tokens"), read, written)
        about = held(told, "response_metadata")
        model = about.get("model_name") or about.get("model")
        plain["took"] = tokens, model, whole(used.get("total_tokens"))
    return {**plain, "tool_calls": calls}
