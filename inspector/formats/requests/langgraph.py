"""Read a LangGraph thread: the states that a checkpoint saver stored, each with all messages at that time.

Source: FORMATS §12. The input is a thread as JSON from `databases.py`; a state, a history of states (the
newest first) or a checkpoint as the server's API returns it; or LangChain's messages alone. Every state
contains all messages, so states are joined by `prefix.py`: if a state does not begin with the previous one,
its messages were changed, which is how a compaction is stored. The usage is the provider's
(`usage_metadata`), counted once per message; the input includes cached tokens.
"""

from __future__ import annotations

from typing import Any

from ...session.session import Session
from ...text import plural
from ..json_document import Fields, document_reader, placed, refuse
from ..recording import Json, Reading
from .chat_messages import read_chat, read_langchain_usage
from .prefix import WholeRequest, join_requests

NAME = "langgraph"
KINDS = ("human", "ai", "system", "tool", "function", "remove")


def _judge(value: Any) -> str | None:
    """Return None for a thread with its checkpoints, else the reason."""
    thread = _find_thread(value)
    if thread is None:
        return "it has no `langgraph` and `checkpoints`, and no messages of LangChain"
    return None if thread is value or _is_langchain(thread) else "its states contain no messages of LangChain"


def _find_thread(value: Any) -> Json | None:
    """Return the thread of states in a document, or None."""
    if isinstance(value, dict) and isinstance(value.get("langgraph"), dict):
        return value if isinstance(value.get("checkpoints"), list) else None
    if isinstance(value, list) and value and all(_find_messages(state) is not None for state in value):
        states, about = value[::-1], Fields(Fields(value[0]).rest.get("checkpoint")).rest
    elif isinstance(value, list) and any(isinstance(state, dict) for state in value):
        states, about = [{"messages": value}], {}
    elif isinstance(value, dict) and _find_messages(value) is not None:
        states, about = [value], Fields(value.get("checkpoint")).rest
    else:
        return None
    listed = [
        {
            "messages": _find_messages(state),
            "ts": Fields(state).rest.get("created_at", Fields(state).rest.get("ts")),
        }
        for state in states
    ]
    thread = about.get("thread_id")
    return {"langgraph": {"thread_id": thread} if isinstance(thread, str) else {}, "checkpoints": listed}


def _find_messages(state: Any) -> list[Any] | None:
    """Return the messages of a state, of a checkpoint, or of an object with only a list of messages."""
    fields = Fields(state).rest
    for name in ("values", "channel_values"):
        if isinstance(fields.get(name), dict):
            messages = fields[name].get("messages", [])
            return messages if isinstance(messages, list) else None
    messages = fields.get("messages")
    return messages if isinstance(messages, list) and not {"role", "type"} & set(fields) else None


def _is_langchain(thread: Json) -> bool:
    """Return whether the messages of the longest state are LangChain's."""
    messages = max((state["messages"] or [] for state in thread["checkpoints"]), key=len, default=[])
    shown = messages[:8]
    return bool(shown) and all(map(_is_message, shown))


def _is_message(raw: Any) -> bool:
    fields = Fields(_clear_kind(raw)).rest
    if fields.get("lc") == 1:
        return "kwargs" in fields
    has_content = "content" in fields or isinstance(fields.get("data"), dict)
    return "role" not in fields and fields.get("type") in KINDS and has_content


def _read(value: Any) -> Session:
    """Read all states. Raises `ReadError`, or `EmptySession` if there are no messages."""
    document = _find_thread(value)
    states = document.get("checkpoints") if document is not None else None
    if document is None or not isinstance(states, list):
        raise refuse("it has no list `checkpoints`")
    recording = Reading(NAME)
    names: dict[str, str] = {}
    requests: list[WholeRequest] = []
    silent = 0
    for source, raw in placed(states):
        fields = Fields(raw)
        if not isinstance(raw, dict):
            recording.spoil("a state that is not an object", source)
            continue
        if (reason := fields.text("unreadable")) is not None:
            recording.spoil(reason, source)
            continue
        messages = fields.items("messages")
        if not messages:
            silent += 1
            recording.note("state without messages", source)
            continue
        chat = [_clear_kind(message) for message in messages]
        time = fields.text("ts")
        # All states belong to one thread, even if they have few messages in common.
        requests.append(WholeRequest(source, read_chat(chat, names), time=time, key=NAME))
    about = Fields(document.get("langgraph"))
    others = document.get("other_checkpoints")
    if isinstance(others, int) and not isinstance(others, bool) and others > 0:
        more = plural(others, "checkpoint", "checkpoints")
        recording.warnings.append(f"{more} on other branches: not read")
    if states and silent == len(states):
        detail = "none of its checkpoints has messages; savers that store only changes are not supported"
        raise refuse(detail)
    session = join_requests(NAME, requests, recording, id=about.text("thread_id") or "", extra=about.rest)
    return _add_usage(session)


def _clear_kind(message: Any) -> Any:
    """Return the message with the type of whole messages, if its type is for chunks."""
    if isinstance(message, dict) and str(message.get("type")).endswith("MessageChunk"):
        return {**message, "type": str(message["type"]).removesuffix("MessageChunk").lower()}
    return message


def _add_usage(session: Session) -> Session:
    """Set usage and model of each reply from its message."""
    entries = list(session.entries)
    for index, entry in enumerate(entries):
        if entry.role != "assistant" or entry.kind != "message":
            continue
        about = Fields(entry.extra.get("response_metadata"))
        model = about.text("model_name") or about.text("model")
        usage = read_langchain_usage(entry.extra.get("usage_metadata"))
        entries[index] = entry.model_copy(update={"usage": usage, "model": model})
    model = next((entry.model for entry in reversed(entries) if entry.model), session.model)
    return session.model_copy(update={"entries": tuple(entries), "model": model})


READER = document_reader(NAME, "LangGraph thread", _judge, _read)
