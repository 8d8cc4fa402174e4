"""Read a row of a data set of conversations, such as training data or the results of a benchmark.

The input is one row; `document_lists` splits files of many rows. The turns are a list, or the JSON of a list
in a string, under one of several field names. A turn has `from` and `value` (ShareGPT: calls are JSON text,
and outputs name no call), or is a message of OpenAI's, or has its text in `text` (Nebius' runs of SWE-agent).
Other fields of the row are stored. Sources: LLaMA-Factory's documentation of data for ShareGPT; the cards of
the other data sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...session.blocks import Text
from ...session.entries import Source
from ...session.session import Session
from ..json_document import (
    Fields,
    ParsedBlock,
    document_reader,
    only_outputs,
    placed,
    refuse,
)
from ..json_lines import decode
from ..recording import Json, Reading, make_call, parse_arguments
from .chat_messages import INSTRUCTIONS, ChatMessage, read_chat_tools, read_message, take_entry_fields
from .open_calls import OpenCalls

NAME = "data-set"
TURNS = (
    *("conversations", "conversation", "trajectory", "traj", "messages", "history", "chat", "turns"),
    *("dialog", "dialogue", "transcript", "chat_history"),
)
"""Names of the field with the turns. A list of `messages` may be a request's, which other readers read."""
OWN = ("human", "gpt", "ai", "model", "chatgpt", "bing", "bard", "observation", "function_call")
"""Roles that do not occur in messages of requests."""
REQUEST_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
"""Roles of messages of requests."""
ROLES = {
    name: role
    for role, names in {
        "user": ("human", "user"),
        "assistant": ("gpt", "assistant", "ai", "model", "chatgpt", "bing", "bard"),
        "system": ("system", "developer"),
        "call": ("function_call", "function-call", "tool_call"),
        "tool": (
            *("observation", "tool", "function"),
            *("tool_response", "function_response", "function-response"),
        ),
    }.items()
    for name in names
}
"""The role of a turn by its name in ShareGPT and other data sets."""


def judge_row(value: Any) -> str | None:
    """Return None for an object with a list of turns with known roles, else the reason."""
    if not isinstance(value, dict):
        return "not a JSON object"
    if _has_request_messages(value):
        return "it has the messages of a request"
    if {"sessionId", "uuid", "steps", "working_dir", "resourceSpans"} & set(value) or (
        {"trajectory", "history"} <= set(value)
    ):
        return "it is a harness's own file"
    turns = _find_turns(value)[1]
    if not turns:
        return "it has no list of turns under one of the usual names"
    examined = turns[:-1] or turns  # the last turn may be incomplete
    return None if all(_name_role(turn) in ROLES for turn in examined) else "the role of a turn is unknown"


def _has_request_messages(row: Json) -> bool:
    """Return whether a row has messages that other readers know; then other lists are ignored."""
    messages = _list(row.get("messages"))
    examined = messages[:-1] or messages  # the last message may be incomplete
    return bool(examined) and all(Fields(message).rest.get("role") in REQUEST_ROLES for message in examined)


def _find_turns(row: Json) -> tuple[str, list[Any]]:
    for name in TURNS:
        value = row.get(name)
        if isinstance(value, str) and value.lstrip()[:1] == "[":
            try:
                value = decode(value.encode("utf-8", "surrogatepass"))
            except ValueError:
                continue
        elif name == "messages" and not any(_name_role(turn) in OWN for turn in _list(value)):
            continue
        if isinstance(value, list) and value:
            return name, value
    return "", []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _name_role(turn: Any) -> str:
    fields = Fields(turn).rest
    label = fields.get("from", fields.get("role"))
    shaped = bool({"value", "content", "text", "tool_calls"} & fields.keys())
    return label.lower() if isinstance(label, str) and shaped else ""


def _read(row: Any) -> Session:
    """Read the conversation of one row. Raises `ReadError`, or `EmptySession` if there are no messages."""
    name, turns = _find_turns(row) if isinstance(row, dict) else ("", [])
    if not turns:
        raise refuse(judge_row(row) or "it holds no turns")
    reading = _Turns(Fields(row, name))
    return reading.read(placed(turns))


class _Turns(Reading):
    """State while a row is read turn by turn. `open` are calls without output, `rest` unread fields."""

    format = NAME

    def __init__(self, row: Fields) -> None:
        super().__init__()
        self.row = row
        self.open = OpenCalls()
        self.rest: Json = {}
        if prompt := row.text("system"):
            self.system.append(Text(text=prompt))

    def take(self, source: Source, turn: Any) -> None:
        if not isinstance(turn, dict):
            self.spoil("a turn that is not an object")
            return
        role = ROLES.get(_name_role(turn))
        if role is None:
            self.note("turn of no known role", is_known=False)
            return
        message = self._read(role, turn)
        written = all(block.kind == "text" for block, _ in message.parsed_blocks)
        if role == "system" and written and not self.entries:
            # Nebius' runs store its text next to an empty text.
            fields = Fields(message.extra)
            words = message.text or fields.text("system_prompt")
            self.rest |= fields.rest
            self.system += [Text(text=words)] if words else []
            self.note("system prompt")
            return
        more: Json = ({"meta": True} if message.role in INSTRUCTIONS else {}) | take_entry_fields(message)
        entry_role = "user" if message.role in INSTRUCTIONS else message.role
        self.open.name_calls(message.parsed_blocks, source.line)
        entry = self.add(f"m{source.line}", entry_role, message.parsed_blocks, message.extra, **more)
        self.open.add_all(entry.blocks)

    def finish(self) -> Session:
        row = self.row
        row_id = next((k for key in ("id", "conversation_id", "instance_id") if (k := row.text(key))), "")
        tools = row.rest.get("tools")
        tools = parse_arguments(tools) if isinstance(tools, str) else tools
        return self.make_session(
            id=row_id,
            model=row.text("model"),
            tools=read_chat_tools(tools),
            extra=row.rest | ({"system": self.rest} if self.rest else {}),
        )

    def _read(self, role: str, turn: Json) -> ChatMessage:
        fields = Fields(turn)
        if role == "call":
            return ChatMessage("assistant", list(self._read_calls(fields)), fields.rest)
        if "from" in turn or ("text" in turn and "content" not in turn):
            key = next((key for key in ("value", "text", "content") if key in fields.rest), "")
            fields.any("from" if "from" in turn else "role")
            fields.rest |= {"role": role, "content": fields.any(key)}
        else:
            fields.rest["role"] = role
        message, _ = read_message(fields.rest, self.names)
        if message.role == "tool":
            message.parsed_blocks = [self.open.answer(pair) for pair in only_outputs(message.parsed_blocks)]
        return message

    def _read_calls(self, fields: Fields) -> Iterator[ParsedBlock]:
        """Yield the calls of a turn, which are written as JSON."""
        key = "value" if "value" in fields.rest else "content"
        words = fields.any(key)
        value = parse_arguments(words)
        calls = value if isinstance(value, list) else [value]
        if not all(isinstance(Fields(call).rest.get("name"), str) for call in calls):
            yield Text(text=words if isinstance(words, str) else ""), {}
            return
        for call in calls:
            inner = Fields(call)
            name = inner.text("name") or ""
            number = inner.text("id") or f"call-{len(self.names) + 1}"
            yield make_call(self.names, number, name, inner.any("arguments")), inner.rest


READER = document_reader(NAME, "Conversation of a data set", judge_row, _read)
