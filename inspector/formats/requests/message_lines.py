"""Read a conversation of bare messages, one per line, as scripts and small harnesses write it.

Sources: FORMATS §8, §9. A line is a message in OpenAI's or Anthropic's form, often with `timestamp`, `id`,
`model` or the `usage` of the reply, or an item of OpenAI's Responses API, several of which form a reply. Some
harnesses write the role as `type`, as LangChain does, and Cursor's agent puts the message into `message`. A
line may hold its message in any other field, the same in all lines. The first line may be a header. These
files carry no mark of their writer, so a file is recognised only if all examined lines are such messages and
none has a field of a known harness. Compactions are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...session.blocks import ToolCall, ToolOutput
from ...session.entries import Source
from ...session.session import Session
from ..file_kind import name_row
from ..json_document import Fields, gather, merge, only_outputs
from ..json_lines import Data
from ..recording import Json, Reading, first_rows, replayed_reader, take_time
from .chat_messages import (
    CALLS,
    INSTRUCTIONS,
    ChatMessage,
    read_chat_usage,
    read_langchain_usage,
    read_message,
)
from .open_calls import OpenCalls

NAME = "message-lines"
ROLES = ("system", "developer", "user", "assistant", "tool", "function", "human", "ai", "model")
LANGCHAIN = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
"""Values of `type` in LangChain's messages, and the role that they mean."""
SPEAKERS = {**LANGCHAIN, "user": "user", "assistant": "assistant", "tool_result": "tool"}
"""Values of `type` in rows with a `content`, and the role that they mean."""
ITEMS = ("reasoning", "function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "function_call_result", "custom_tool_call_output")
"""Items of OpenAI's Responses API between the messages: pieces of a reply, and results of tools."""
OTHERS = frozenset(
    ("parts", "parentId", "parent_id", "parentUuid", "monotonicTs", "message_type", "event", "kind")
)
"""Fields of rows of other systems, or of rows that form a tree."""
TREE = OTHERS - {"event", "kind"} | {"uuid", "message_id"}
"""Fields of rows of other systems that put the message into a field."""
NAMES_OF_TALKS = ("session_id", "sessionId", "conversation_id", "thread_id", "run_id")
"""Fields that name the conversation of a row."""
WHOLE = frozenset(["messages", "request", "response", "input", "prompt", "choices", "body", "params"])
"""Fields of whole requests."""
NAMED = frozenset(["uuid", "session_id", "sessionId", "id", "content"])
"""Fields next to a message that show that a harness wrote the row."""


def sniff(data: Data) -> str | None:
    """Return None for two or more lines that are messages (the first may be a header), else the reason."""
    rows = first_rows(data)
    if len(rows) < 2:
        return "it has no two lines that are JSON objects"
    if envelope := find_envelope(rows):
        return _judge_envelopes(rows, envelope)
    header = _shape(rows[0]) is None and "role" not in rows[0]
    if header and ("messages" in rows[0] or len(rows) < 3):
        return "its first line is not a message"
    for number, row in enumerate(rows[header:], 1 + header):
        if (reason := _fault(row)) is not None:
            return f"line {number} {reason}"
    if not any("role" in row or row.get("type") in SPEAKERS for row in rows[header:]):
        return "none of its lines is a message"
    if all(row.get("role", row.get("type")) in INSTRUCTIONS for row in rows[header:]):
        return "its first lines contain only system messages"
    kind = next((name for row in rows if not _is_wrapped(row) and (name := name_row(row))), "")
    return f"it is {kind}" if kind else None


def find_envelope(rows: Iterable[Json]) -> str:
    """Return the name of the field with the message of each row; "" without one, or with several.

    >>> talk = [{"n": 1, "payload": {"role": "user", "content": "Go"}}, {"n": 2, "payload": {"step": 1}}]
    >>> find_envelope(talk), find_envelope([{"role": "user", "content": "Go"}])
    ('payload', '')
    """
    names: set[str] = set()
    for row in rows:
        if _is_wrapped(row) or ("role" in row and _shape(row) is not None):
            return ""
        fields = [name for name, value in row.items() if _is_message(value)]
        names.update(fields)
        if len(fields) > 1 or len(names) > 1:
            return ""
    return names.pop() if names else ""


def _is_message(value: Any) -> bool:
    """Return whether a value is a message with a role or of LangChain's."""
    fields = Fields(value).rest
    if fields.get("lc") == 1:
        path = fields.get("id")
        named = isinstance(path, list) and bool(path) and "Message" in str(path[-1])
        return named and isinstance(fields.get("kwargs"), dict)
    if "role" in fields:
        return fields["role"] in ROLES and bool({"content", *CALLS} & fields.keys())
    has_speaker = str(fields.get("type")) in LANGCHAIN
    return has_speaker and ("content" in fields or isinstance(fields.get("data"), dict))


def _judge_envelopes(rows: list[Json], envelope: str) -> str | None:
    """Return why rows with a message in this field are not one conversation, or None."""
    messages = [row for row in rows if _is_message(row.get(envelope))]
    if foreign := min((TREE | WHOLE) & {name for row in messages for name in row}, default=""):
        return f"its lines have a field `{foreign}`, which is another system's"
    if rows[0].get("type") == "session":
        return "its first line is the header of a session of pi's"
    if len(messages) < 2 or len(messages) * 2 < len(rows):
        return "most of its lines hold no message"
    if kind := next((name for row in rows if (name := name_row(row))), ""):
        return f"it is {kind}"
    for key in NAMES_OF_TALKS:
        if len({str(row[key]) for row in messages if key in row}) > 1:
            return f"its lines are of several conversations: they differ in `{key}`"
    return None


def _shape(row: Json) -> Json | None:
    """Return the message, or the item of a message, in a row; None for other rows."""
    kind = row.get("type")
    if "role" not in row and _is_message(row) and "content" not in row:
        return _open_langchain(row)
    if _is_wrapped(row):
        rest = {key: value for key, value in row.items() if key not in ("type", "role", "message")}
        return {**rest, "role": row.get("role", kind), **row["message"]}
    if row.get("role") in ROLES:
        return row
    if "role" in row or not isinstance(kind, str):
        return None
    if kind in SPEAKERS and "content" in row:
        return {key: value for key, value in row.items() if key != "type"} | {"role": SPEAKERS[kind]}
    if kind in OUTPUTS:
        return row | {"type": "function_call_output"}
    return row if kind in ITEMS else None


def _open_langchain(row: Json) -> Json:
    """Return a message that LangChain stored with its content in `data` or `kwargs`, with its role."""
    stored = row.get("lc") != 1
    inner = row["data" if stored else "kwargs"]
    kind = str(row["type"] if stored else row["id"][-1]).removesuffix("Chunk")
    rest = {key: value for key, value in inner.items() if key != "type"}
    return rest | {"role": LANGCHAIN.get(kind.removesuffix("Message").lower(), kind)}


def _is_wrapped(row: Json) -> bool:
    """Return whether a row without other marks contains a message, as Cursor's agent writes it."""
    inner = row.get("message")
    has_speaker = row.get("role", row.get("type")) in ("user", "assistant")
    # Rows of Claude Code have a type, and even reduced ones have a time.
    claude = "role" not in row and isinstance(row.get("timestamp"), str)
    return (
        has_speaker and isinstance(inner, dict) and "content" in inner and not claude and not NAMED & set(row)
    )


def _call_by_line(message: Json, line: int) -> Json:
    """Add ids to the calls of a message: Cursor's agent writes none."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    parts = [
        {"id": f"call-{line}.{number}", **part} if Fields(part).rest.get("type") == "tool_use" else part
        for number, part in enumerate(content, 1)
    ]
    return {**message, "content": parts}


def _fault(row: Json) -> str | None:
    """Return why a row is not a message, or None."""
    foreign = (OTHERS | (frozenset() if _is_wrapped(row) else {"message"})) & set(row)
    if foreign:
        return f"has a field `{min(foreign)}`, which is another system's"
    message = _shape(row)
    if message is None:
        return f"has the role {row['role']!r:.40}" if "role" in row else "has no role"
    content = message.get("content")
    other_content = {"tool_calls", "function_call", "refusal", "reasoning_content"} & set(row)
    if content is None and "role" in message and not other_content:
        return "has no content"
    if content is not None and not isinstance(content, str | list):
        return "has a content that is neither text nor a list"
    return None


@dataclass
class _Pending:
    """A message with its rows: consecutive items form one reply."""

    message: ChatMessage
    sources: list[Source]
    fields: Fields
    item: bool


class _Conversation(Reading):
    """State while messages are read one by one.

    Attributes:
        open: Calls without output.
        replies: The entries of replies by id.
        shared: Ids that also occur in other messages: they name the conversation, not a reply.
        pending: The message to which the next row may belong.
        is_cursor: Whether all rows have the two fields that Cursor's agent writes.
        envelope: The field of each row with its message; "" if the row is the message.
    """

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.open = OpenCalls()
        self.replies: dict[str, str] = {}
        self.shared: set[str] = set()
        self.pending: _Pending | None = None
        self.is_cursor = True
        self.envelope: str | None = None
        self.about = {"system": (), "extra": {}}

    def take(self, source: Source, row: Json) -> None:
        self.is_cursor = self.is_cursor and row.keys() == {"role", "message"}
        if self.envelope is None and (_shape(row) is not None or find_envelope([row])):
            self.envelope = find_envelope([row])
        around: Json = {}
        whole = row
        if self.envelope and _is_message(row.get(self.envelope)):
            around = Fields(row, self.envelope).rest
            row = row[self.envelope]
        shaped = _shape(row)
        if shaped is None or (self.envelope and row is whole):
            header = source.line == 1 and "role" not in row
            if header:
                self.about["extra"]["header"] = row
            self.note("header" if header else _name(row), source, is_known=header)
            return
        if "role" in row and {"tool_call_id", *CALLS} & row.keys():
            self.about["extra"]["api"] = "openai"
        message, _ = read_message(_call_by_line(shaped, source.line), self.names)
        fields = Fields(merge(around, message.extra))
        begins = self.pending is None and not self.entries
        shown = all(block.kind in ("text", "image") for block, _ in message.parsed_blocks)
        if message.role in INSTRUCTIONS and begins and shown and not self.about["system"]:
            # The system prompt of the conversation.
            self.about["system"], rest = gather(message.parsed_blocks)
            self.about["extra"]["system"] = fields.rest | rest
            self.note("system prompt", source)
            return
        item, last = "role" not in shaped, self.pending
        # Reasoning begins a new reply, unless the current reply consists only of items so far.
        goes_on = last is not None and (last.item or (item and shaped["type"] != "reasoning"))
        if last is not None and goes_on and last.message.role == message.role == "assistant":
            last.message.parsed_blocks += message.parsed_blocks
            last.sources.append(source)
            last.fields = Fields(last.fields.rest | fields.rest)
            last.item = item
            return
        self._close()
        self.pending = _Pending(message, [source], fields, item)

    def _close(self) -> None:
        """Add the pending message."""
        last, self.pending = self.pending, None
        if last is None:
            return
        message, fields, role = last.message, last.fields, last.message.role
        more: Json = {}
        name = fields.text("id")
        langchain = Fields(fields.rest.get("response_metadata"))
        usage = read_chat_usage(fields.rest.get("usage"))
        usage = usage or read_langchain_usage(fields.rest.get("usage_metadata"))
        if role in INSTRUCTIONS:
            role, more = "user", {"meta": True}
        if role == "tool":
            message.parsed_blocks = [self.open.answer(pair) for pair in only_outputs(message.parsed_blocks)]
        if role == "assistant":
            self.open.name_calls(message.parsed_blocks, last.sources[0].line)
            model = fields.text("model") or fields.text("model_id")
            model = model or langchain.text("model_name") or langchain.text("model")
            more = {
                "model": model,
                "stop_reason": fields.text("stop_reason") or fields.text("finish_reason"),
            }
        entry = self.add(
            name or f"line-{last.sources[0].line}",
            role,
            message.parsed_blocks,
            fields.rest,
            source=last.sources[0],
            timestamp=take_time(fields),
            usage=usage,
            **more,
        )
        for source in last.sources[1:]:
            self.also(entry.id, source)
        self.open.add_all(entry.blocks)
        if name is not None and role != "assistant":
            self.shared.add(name)
        if usage is not None and name is not None and name not in self.shared:
            # A reply of several lines repeats its usage on each of them.
            before = self.replies.get(name)
            if before is not None:
                self.change(before, usage=None)
            self.replies[name] = entry.id

    def finish(self) -> Session:
        self._close()
        blocks = [block for entry in self.entries for block in entry.blocks]
        calls = sum(isinstance(block, ToolCall) for block in blocks)
        if calls and not any(isinstance(block, ToolOutput) for block in blocks):
            self.warn(calls, "the results of {} of tools are not in the file", "call")
        if self.is_cursor:
            self.about["extra"]["harness"] = "Cursor"
        return super().finish()


def _name(row: Json) -> str:
    for key in ("type", "role", "event", "kind"):
        if isinstance(label := row.get(key), str):
            return f"row of {key} {label}"[:60]
    return "row without a role"


READER = replayed_reader(NAME, "Messages, one a line", sniff, _Conversation)
