"""A LangGraph thread: the states that a checkpoint saver stored, each with all messages of its moment.

In go the bytes of a JSON document as `databases.py` makes it of a thread, or as the server's interface gives
a state, a history of states (the newest first) or a checkpoint, or LangChain's messages alone; out comes a
`Session`. Source: FORMATS §12. Every state holds the whole list of messages, so it is read as `prefix.py`
tells: where a state begins otherwise than the one before, its messages were changed, which is how a
compaction is written. Usage is what the provider's reply says (`usage_metadata`), counted once for each
message; its input holds the cache's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...errors import ReadError
from ...session.entries import Usage
from ...session.garbage import paused_gc
from ...session.session import Session
from ...text import plural
from ..json_document import FILE, Fields, load, place, sniff_document
from ..json_lines import Data, Reader
from ..recording import Json, Recording, read_inclusive
from .chat_messages import read_chat
from .prefix import join_requests
from .threads import WholeRequest

NAME = "langgraph"
KINDS = ("human", "ai", "system", "tool", "function", "remove")


def _judge(value: Any) -> str | None:
    """None for a thread with its checkpoints."""
    thread = _find_thread(value)
    if thread is None:
        return "it has no `langgraph` and `checkpoints`, and holds no messages of LangChain's"
    return None if thread is value or _is_langchain(thread) else "its states hold no messages of LangChain's"


def _find_thread(value: Any) -> Json | None:
    """A thread of states, of whatever stands in a file; None for what has none."""
    if isinstance(value, dict) and isinstance(value.get("langgraph"), dict):
        return value if isinstance(value.get("checkpoints"), list) else None
    if isinstance(value, list) and value and all(_find_messages(each) is not None for each in value):
        states, about = value[::-1], Fields(Fields(value[0]).rest.get("checkpoint")).rest
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        states, about = [{"messages": value}], {}
    elif isinstance(value, dict) and _find_messages(value) is not None:
        states, about = [value], Fields(value.get("checkpoint")).rest
    else:
        return None
    listed = [
        {
            "messages": _find_messages(each),
            "ts": Fields(each).rest.get("created_at", Fields(each).rest.get("ts")),
        }
        for each in states
    ]
    thread = about.get("thread_id")
    return {"langgraph": {"thread_id": thread} if isinstance(thread, str) else {}, "checkpoints": listed}


def _find_messages(state: Any) -> list[Any] | None:
    """The messages of a state, of a checkpoint, or of an object that has nothing else to hold them."""
    fields = Fields(state).rest
    for name in ("values", "channel_values"):
        if isinstance(fields.get(name), dict):
            messages = fields[name].get("messages", [])
            return messages if isinstance(messages, list) else None
    messages = fields.get("messages")
    return messages if isinstance(messages, list) and not {"role", "type"} & set(fields) else None


def _is_langchain(thread: Json) -> bool:
    """Whether the messages of the fullest state are LangChain's."""
    messages = max((state["messages"] or [] for state in thread["checkpoints"]), key=len, default=[])
    shown = messages[:8]
    return bool(shown) and all(map(_is_message, shown))


def _is_message(raw: Any) -> bool:
    fields = Fields(_clear_kind(raw)).rest
    if fields.get("lc") == 1:
        return "kwargs" in fields
    held = "content" in fields or isinstance(fields.get("data"), dict)
    return "role" not in fields and fields.get("type") in KINDS and held


@paused_gc()
def read(data: Data) -> Session:
    """All states. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    document = _find_thread(load(data))
    states = document.get("checkpoints") if document is not None else None
    if document is None or not isinstance(states, list):
        raise ReadError(FILE, detail="it has no list `checkpoints`")
    made = Recording(NAME)
    names: dict[str, str] = {}
    requests: list[WholeRequest] = []
    silent = 0
    for line, raw in enumerate(states, 1):
        source, fields = place(line), Fields(raw)
        if not isinstance(raw, dict):
            made.spoil(source, "a state that is not an object")
            continue
        if (reason := fields.text("unreadable")) is not None:
            made.spoil(source, reason)
            continue
        messages = fields.items("messages")
        if not messages:
            silent += 1
            made.note("state without messages", source)
            continue
        chat = [_clear_kind(message) for message in messages]
        time = fields.text("ts")
        # All states are of one thread, however little a state shares with the one before.
        requests.append(WholeRequest(source, read_chat(chat, names), time=time, key=NAME))
    about = Fields(document.get("langgraph"))
    others = document.get("other_checkpoints")
    if isinstance(others, int) and not isinstance(others, bool) and others > 0:
        more = plural(others, "checkpoint", "checkpoints")
        made.warnings.append(f"{more} on other branches: not read")
    if states and silent == len(states):
        detail = "no checkpoint of it holds the messages; savers that store changes only are not read"
        raise ReadError(FILE, detail=detail)
    session = join_requests(NAME, requests, made, id=about.text("thread_id") or "", extra=about.rest)
    return _tell_usage(session)


def _clear_kind(message: Any) -> Any:
    """A message whose type is that of its chunks is one of the type."""
    if isinstance(message, dict) and str(message.get("type")).endswith("MessageChunk"):
        return {**message, "type": str(message["type"]).removesuffix("MessageChunk").lower()}
    return message


def _tell_usage(session: Session) -> Session:
    """Each reply with the usage that its message holds, and the model."""
    entries = list(session.entries)
    for at, entry in enumerate(entries):
        if entry.role != "assistant" or entry.kind != "message":
            continue
        about = Fields(entry.extra.get("response_metadata"))
        model = about.text("model_name") or about.text("model")
        usage = _read_usage(entry.extra.get("usage_metadata"))
        entries[at] = entry.model_copy(update={"usage": usage, "model": model})
    model = next((entry.model for entry in reversed(entries) if entry.model), session.model)
    return session.model_copy(update={"entries": tuple(entries), "model": model})


def _read_usage(raw: Any) -> Usage | None:
    details = Fields(Fields(raw).rest.get("input_token_details"))
    if not isinstance(raw, dict):
        return None
    told = {**raw, "read": details.rest.get("cache_read"), "written": details.rest.get("cache_creation")}
    return read_inclusive(told, "input_tokens", "output_tokens", "read", "written", "total_tokens")


READER = Reader(NAME, "LangGraph thread", partial(sniff_document, judge=_judge), read)
