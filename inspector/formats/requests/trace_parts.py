"""What readers of traces share: the conversation of a span, its time, and the messages of its bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..json_document import Fields, iso_time
from ..json_lines import decode
from ..recording import Json
from .chat_messages import ChatMessage, Names, read_chat

CONVERSATIONS = (
    *("gen_ai.conversation.id", "session.id", "mlflow.trace.session", "langfuse.session.id", "thread_id"),
    *("session_id", "sessionId", "conversation_id"),
)
TRACE = ("trace_id", "traceId")


def open_value(value: Any) -> Any:
    """A value that may be written as JSON in a string."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return decode(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return value
    return value


def find_order(span: Json) -> str:
    """A text by which spans of one system sort in time."""
    for name in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_timestamp"):
        value = span.get(name)
        if isinstance(value, int | str) and str(value).isdigit():
            return str(value).rjust(24, "0")
        if isinstance(value, str):
            return value.replace("T", " ")
    return ""


def read_time(span: Json) -> str | None:
    order = find_order(span)
    if order.isdigit():
        return iso_time(int(order) / 1e6) if len(order.lstrip("0")) < 22 else None
    return order.replace(" ", "T") or None


def find_key(told: Json, span: Json, names: Sequence[str] = (*CONVERSATIONS, *TRACE)) -> str:
    """The conversation that a span names, or its trace."""
    keys = (holder.get(key) for key in names for holder in (told, span))
    return next((key for key in keys if isinstance(key, str) and key), "")


def is_loose(told: Json, span: Json) -> bool:
    """Whether nothing but its trace tells which conversation a span belongs to."""
    return not find_key(told, span, CONVERSATIONS)


def find_instructions(*bodies: Any) -> Any:
    """What a request, or the reply that repeats it, holds as instructions beside its messages."""
    held = (Fields(body).rest.get(name) for body in bodies for name in ("system", "instructions"))
    return next((value for value in held if value), None)


def read_system(given: Any, names: Names) -> list[ChatMessage]:
    if isinstance(given, list):
        return read_chat([{"role": "system", "parts": given}], names)
    return read_chat([{"role": "system", "content": given}], names) if isinstance(given, str) else []


def list_dicts(value: Any) -> list[Json]:
    """The objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_body(value: Any, names: Names, role: str = "assistant") -> list[ChatMessage]:
    """The messages of a request's or a reply's JSON, wherever they stand in it. Words that name no speaker
    are those of `role`."""
    if isinstance(value, list):
        return read_chat(value, names)
    if isinstance(value, str):
        return read_chat([{"role": role, "content": value}], names) if value else []
    if not isinstance(value, dict):
        return []
    for name in ("messages", "input"):
        if isinstance(value.get(name), list):
            return read_chat(value[name], names)
    if isinstance(prompts := value.get("prompts"), list):
        return read_chat([{"role": role, "content": each} for each in prompts[:1]], names)
    if isinstance(choices := value.get("choices"), list):
        told = [choice["message"] for choice in list_dicts(choices)[:1] if "message" in choice]
        return read_chat(told, names)
    if isinstance(generations := value.get("generations"), list):
        first = generations[0] if generations else None
        chosen = Fields(first[0] if isinstance(first, list) and first else first).rest
        if chosen.get("message") is not None:
            return read_chat([chosen["message"]], names)
        return read_body(chosen.get("text"), names, role)
    for name in ("message", "output"):
        inner = value.get(name)
        if isinstance(inner, dict | list):
            return read_chat(inner if isinstance(inner, list) else [inner], names)
    return read_chat([{"role": role, **value}], names) if "content" in value else []
