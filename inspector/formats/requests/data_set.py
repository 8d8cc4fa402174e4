"""A row of a data set of conversations: what models are trained with, or what a benchmark wrote of a run.

In go the bytes of one row, out comes a `Session`; files of many rows are told apart by `document_lists`. The
turns are a list, or the JSON of one in a text, below one of the names that data sets give it. A turn says
`from` and `value` (ShareGPT, whose calls are the JSON of one and whose outputs name no call), or is a message
of OpenAI's, or has its words in `text` (SWE-agent's runs of Nebius). What the row tells besides is kept.
Sources: the page on data of LLaMA-Factory for ShareGPT; the data sets' own cards for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ...errors import ReadError
from ...session.blocks import Text, ToolCall
from ...session.garbage import paused_gc
from ...session.session import Session
from ..json_document import FILE, Fields, Found, load, only_outputs, place, sniff_document
from ..json_lines import Data, Reader, decode
from ..recording import Json, Recording, parse_given
from .chat_messages import INSTRUCTIONS, ChatMessage, Names, read_chat_tools, read_message, take_told
from .open_calls import OpenCalls

NAME = "data-set"
TURNS = (
    *("conversations", "conversation", "trajectory", "traj", "messages", "history", "chat", "turns"),
    *("dialog", "dialogue", "transcript", "chat_history"),
)
"""What data sets call the turns. A list of `messages` may be a request's, which is left to its readers."""
OWN = ("human", "gpt", "ai", "model", "chatgpt", "bing", "bard", "observation", "function_call")
"""The roles that no request's messages have."""
ASKED = ("system", "developer", "user", "assistant", "tool", "function")
"""Those that a request's messages have."""
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
"""Whose words a turn holds, by what ShareGPT's rows and others call it."""


def judge_row(value: Any) -> str | None:
    """None for an object with a list of turns, each with a role that data sets know."""
    if not isinstance(value, dict):
        return "not a JSON object"
    if _is_asked(value):
        return "it has the messages of a request"
    if {"sessionId", "uuid", "steps", "working_dir", "resourceSpans"} & set(value) or (
        {"trajectory", "history"} <= set(value)
    ):
        return "it is a harness's own file"
    turns = _find_turns(value)[1]
    if not turns:
        return "it has no list of turns under a name that data sets give it"
    looked = turns[:-1] or turns  # the last one seen may have been cut short
    return None if all(_name_role(turn) in ROLES for turn in looked) else "a turn has no role that is known"


def _is_asked(row: Json) -> bool:
    """Whether messages stand in it that its other readers know: lists beside them are not what was said."""
    messages = _list(row.get("messages"))
    looked = messages[:-1] or messages  # the last one seen may have been cut short
    return bool(looked) and all(Fields(each).rest.get("role") in ASKED for each in looked)


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
    told = fields.get("from", fields.get("role"))
    shaped = bool({"value", "content", "text", "tool_calls"} & fields.keys())
    return told.lower() if isinstance(told, str) and shaped else ""


@paused_gc()
def read(data: Data) -> Session:
    """The conversation of one row. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    row = load(data)
    name, turns = _find_turns(row) if isinstance(row, dict) else ("", [])
    if not turns:
        raise ReadError(FILE, detail=judge_row(row) or "it holds no turns")
    made = Recording(NAME)
    about = Fields(row, name)
    reading = _Turns(made)
    if prompt := about.text("system"):
        reading.system.append(Text(text=prompt))
    for number, turn in enumerate(turns, 1):
        reading.take(number, turn)
    known = next((k for key in ("id", "conversation_id", "instance_id") if (k := about.text(key))), "")
    told = about.rest.get("tools")
    tools = parse_given(told) if isinstance(told, str) else told
    return made.make_session(
        id=known,
        model=about.text("model"),
        system=tuple(reading.system),
        tools=read_chat_tools(tools if isinstance(tools, list) else []),
        extra=about.rest | ({"system": reading.rest} if reading.rest else {}),
    )


class _Turns:
    """Turn after turn. `open` are calls without an answer, `rest` what the system's turns told besides."""

    def __init__(self, made: Recording) -> None:
        self.made = made
        self.names: Names = {}
        self.open = OpenCalls()
        self.system: list[Text] = []
        self.rest: Json = {}

    def take(self, number: int, turn: Any) -> None:
        """One turn: a message, an instruction at the beginning, or what is none of ours."""
        source = place(number)
        if not isinstance(turn, dict):
            self.made.spoil(source, "a turn that is not an object")
            return
        role = ROLES.get(_name_role(turn))
        if role is None:
            self.made.note("turn of no known role", source, known=False)
            return
        message = self._read(role, turn)
        written = all(block.kind == "text" for block, _ in message.found)
        if role == "system" and written and not self.made.entries:
            # Nebius' runs have its words beside an empty text.
            fields = Fields(message.extra)
            words = message.text or fields.text("system_prompt")
            self.rest |= fields.rest
            self.system += [Text(text=words)] if words else []
            self.made.note("system prompt", source)
            return
        more: Json = ({"meta": True} if message.role in INSTRUCTIONS else {}) | take_told(message)
        said = "user" if message.role in INSTRUCTIONS else message.role
        entry = self.made.add(f"m{number}", said, message.found, source, message.extra, **more)
        for block in entry.blocks:
            if isinstance(block, ToolCall):
                self.open.add(block)

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
            message.found = [self.open.answer(pair) for pair in only_outputs(message.found)]
        return message

    def _read_calls(self, fields: Fields) -> Iterator[Found]:
        """A call that is told as the JSON of one, or of several."""
        key = "value" if "value" in fields.rest else "content"
        words = fields.any(key)
        told = parse_given(words)
        calls = told if isinstance(told, list) else [told]
        if not all(isinstance(Fields(call).rest.get("name"), str) for call in calls):
            yield Text(text=words if isinstance(words, str) else ""), {}
            return
        for call in calls:
            inner = Fields(call)
            name = inner.text("name") or ""
            number = inner.text("id") or f"call-{len(self.names) + 1}"
            self.names[number] = name
            yield ToolCall(id=number, name=name, input=parse_given(inner.any("arguments"))), inner.rest


READER = Reader(NAME, "Conversation of a data set", partial(sniff_document, judge=judge_row), read)
