"""Read parts of traces: a span's conversation and time, and the messages of its bodies. Shared by readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..json_document import Fields, iso_time, list_objects
from ..json_lines import decode
from ..recording import Json
from .chat_messages import ChatMessage, Names, read_chat

CONVERSATIONS = (
    *("gen_ai.conversation.id", "session.id", "mlflow.trace.session", "langfuse.session.id", "thread_id"),
    *("session_id", "sessionId", "conversation_id"),
)
TRACE = ("trace_id", "traceId")


def open_value(value: Any) -> Any:
    """Decode a value if it is JSON in a string; other values are returned unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return decode(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return value
    return value


def find_order(span: Json) -> str:
    """Return a text by which the spans of one system are sorted by time."""
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


def find_key(attributes: Json, span: Json, names: Sequence[str] = (*CONVERSATIONS, *TRACE)) -> str:
    """Return the conversation that a span names, or its trace."""
    keys = (holder.get(key) for key in names for holder in (attributes, span))
    return next((key for key in keys if isinstance(key, str) and key), "")


def is_loose(attributes: Json, span: Json) -> bool:
    """Return whether a span names only its trace, and not its conversation."""
    return not find_key(attributes, span, CONVERSATIONS)


def find_instructions(*bodies: Any) -> Any:
    """Return the instructions next to the messages of a request, or of the reply that repeats it."""
    values = (Fields(body).rest.get(name) for body in bodies for name in ("system", "instructions"))
    return next((value for value in values if value), None)


def read_system(content: Any, names: Names) -> list[ChatMessage]:
    if isinstance(content, list):
        return read_chat([{"role": "system", "parts": content}], names)
    return read_chat([{"role": "system", "content": content}], names) if isinstance(content, str) else []


def read_body(value: Any, names: Names, role: str = "assistant") -> list[ChatMessage]:
    """Read the messages in the JSON of a request or a reply. Text without a role gets the role `role`."""
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
        return read_chat([{"role": role, "content": prompt} for prompt in prompts[:1]], names)
    if isinstance(choices := value.get("choices"), list):
        messages = [choice["message"] for choice in list_objects(choices)[:1] if "message" in choice]
        return read_chat(messages, names)
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
