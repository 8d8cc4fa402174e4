"""A conversation as bare messages, one a line, as scripts and small harnesses write it.

In go the lines, out comes a `Session`. A line is a message of OpenAI's or of Anthropic's shape, often with a
`timestamp`, an `id`, a `model` or the `usage` of the reply, or an item of OpenAI's Responses, of which
several make a reply. Some write the role as the `type`, and Cursor's agent the message within a `message`. A
first line may be a header. No mark tells who wrote it, so the reader takes a file only where every line that
it looks at is such a message, and none carries a field that is known to be a harness's own. Nothing in it
tells of a compaction. Sources: FORMATS §8, §9.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...session.blocks import ToolCall, ToolOutput
from ...session.entries import Source
from ...session.session import Session
from ...text import plural
from ..json_document import Fields, Found, gather, only_outputs
from ..json_lines import Data, Reader, read_lines
from ..known_kinds import name_row
from ..recording import Json, JsonRows, Recording, first_rows, take_time
from .chat_messages import INSTRUCTIONS, ChatMessage, Names, read_chat_usage, read_message
from .open_calls import OpenCalls

NAME = "message-lines"
ROLES = ("system", "developer", "user", "assistant", "tool", "function", "human", "ai", "model")
SPEAKERS = {"system": "system", "user": "user", "assistant": "assistant", "tool_result": "tool"}
"""What some write as the `type` of a row with a `content`, and the role that it is."""
ITEMS = ("reasoning", "function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "function_call_result", "custom_tool_call_output")
"""Items of OpenAI's Responses, which stand among the messages: pieces of a reply, and what tools answered."""
OTHERS = frozenset(
    ("parts", "parentId", "parent_id", "parentUuid", "monotonicTs", "message_type", "event", "kind")
)
"""Fields of a row that say it is another system's, or that its rows make a tree."""
NAMED = frozenset(["uuid", "session_id", "sessionId", "id", "content"])
"""Fields of a row around a message that say that it is a harness's own."""


def sniff(data: Data) -> str | None:
    """None for two lines or more of which each is a message; the first one may be a header."""
    rows = first_rows(data)
    if len(rows) < 2:
        return "it has no two lines that are JSON objects"
    header = _shape(rows[0]) is None and "role" not in rows[0]
    if header and ("messages" in rows[0] or len(rows) < 3):
        return "its first line is no message"
    for number, row in enumerate(rows[header:], 1 + header):
        if (reason := _fault(row)) is not None:
            return f"line {number} {reason}"
    if not any("role" in row or row.get("type") in SPEAKERS for row in rows[header:]):
        return "none of its lines is a message"
    if all(row.get("role", row.get("type")) in INSTRUCTIONS for row in rows[header:]):
        return "nobody speaks in its first lines but the system"
    known = next((name for row in rows if not _is_wrapped(row) and (name := name_row(row))), "")
    return f"it is {known}" if known else None


def _shape(row: Json) -> Json | None:
    """The message, or the item of one, that a row is; None for another row."""
    kind = row.get("type")
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


def _is_wrapped(row: Json) -> bool:
    """Whether a message stands within its row, as Cursor's agent writes it, and nothing names the row."""
    inner = row.get("message")
    spoken = row.get("role", row.get("type")) in ("user", "assistant")
    # A row of Claude Code's has a type, and at least a time where it was cut down.
    claude = "role" not in row and isinstance(row.get("timestamp"), str)
    return spoken and isinstance(inner, dict) and "content" in inner and not claude and not NAMED & set(row)


def _call_by_line(message: Json, line: int) -> Json:
    """A message whose calls have names of their own: Cursor's agent gives them none."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    parts = [
        {"id": f"call-{line}.{number}", **part} if Fields(part).rest.get("type") == "tool_use" else part
        for number, part in enumerate(content, 1)
    ]
    return {**message, "content": parts}


def _fault(row: Json) -> str | None:
    """Why a row is no message, or None."""
    foreign = (OTHERS | (frozenset() if _is_wrapped(row) else {"message"})) & set(row)
    if foreign:
        return f"has a field `{min(foreign)}`, which is another system's"
    message = _shape(row)
    if message is None:
        return f"has the role {row['role']!r:.40}" if "role" in row else "has no role"
    content = message.get("content")
    told = {"tool_calls", "function_call", "refusal", "reasoning_content"} & set(row)
    if content is None and "role" in message and not told:
        return "has no content"
    if content is not None and not isinstance(content, str | list):
        return "has a content that is neither text nor a list"
    return None


class MessageLines(JsonRows):
    """The rows as they come; the session is made of all of them, and made again when more follow."""

    def make_session(self) -> Session:
        """The session of these rows. Raises `EmptySession` when nobody says anything in them."""
        made = Recording(NAME)
        made.corrupt = list(self.corrupt)
        conversation = _Conversation(made)
        for source, row in self.rows:
            conversation.take(source, row)
        conversation.close()
        conversation.tell_silent()
        if all(row.keys() == {"role", "message"} for _, row in self.rows):
            conversation.about["extra"]["harness"] = "Cursor"
        return made.make_session(**conversation.about)


@dataclass
class _Taken:
    """A message with the rows that it stands in: items that follow each other are one reply."""

    message: ChatMessage
    sources: list[Source]
    fields: Fields
    item: bool


class _Conversation:
    """Message after message. `open` are calls without an answer, `told` the replies by their id.

    `shared` are ids that others than replies have too: they name the conversation, and no reply.
    """

    def __init__(self, made: Recording) -> None:
        self.made = made
        self.names: Names = {}
        self.open = OpenCalls()
        self.told: dict[str, str] = {}
        self.shared: set[str] = set()
        self.last: _Taken | None = None
        self.about: Json = {"system": (), "extra": {}}

    def take(self, source: Source, row: Json) -> None:
        """One row: a message, an item of one, the header, or a row that nobody knows."""
        shaped = _shape(row)
        if shaped is None:
            header = source.line == 1 and "role" not in row
            if header:
                self.about["extra"]["header"] = row
            self.made.note("header" if header else _name(row), source, known=header)
            return
        message, _ = read_message(_call_by_line(shaped, source.line), self.names)
        fields = Fields(message.extra)
        begins = self.last is None and not self.made.entries
        shown = all(block.kind in ("text", "image") for block, _ in message.found)
        if message.role in INSTRUCTIONS and begins and shown and not self.about["system"]:
            # The prompt that the conversation begins with.
            self.about["system"], rest = gather(message.found)
            self.about["extra"]["system"] = fields.rest | rest
            self.made.note("system prompt", source)
            return
        item, last = "role" not in shaped, self.last
        # What was thought begins a reply, unless the one before is nothing but items so far.
        goes_on = last is not None and (last.item or (item and shaped["type"] != "reasoning"))
        if last is not None and goes_on and last.message.role == message.role == "assistant":
            last.message.found += message.found
            last.sources.append(source)
            last.fields = Fields(last.fields.rest | fields.rest)
            last.item = item
            return
        self.close()
        self.last = _Taken(message, [source], fields, item)

    def close(self) -> None:
        """Add the message that was taken last."""
        last, self.last = self.last, None
        if last is None:
            return
        message, fields, role = last.message, last.fields, last.message.role
        more: Json = {}
        name = fields.text("id")
        usage = read_chat_usage(fields.rest.get("usage"))
        if role in INSTRUCTIONS:
            role, more = "user", {"meta": True}
        if role == "tool":
            message.found = [self.open.answer(pair) for pair in only_outputs(message.found)]
        if role == "assistant":
            message.found = [self._name_itself(pair, last.sources[0]) for pair in message.found]
            model = fields.text("model") or fields.text("model_id")
            more = {"model": model, "stop_reason": _take_reason(fields)}
        entry = self.made.add(
            name or f"line-{last.sources[0].line}",
            role,
            message.found,
            last.sources[0],
            fields.rest,
            timestamp=take_time(fields),
            usage=usage,
            **more,
        )
        for source in last.sources[1:]:
            self.made.also(entry.id, source)
        for block in entry.blocks:
            if isinstance(block, ToolCall):
                self.open.add(block)
        if name is not None and role != "assistant":
            self.shared.add(name)
        if usage is not None and name is not None and name not in self.shared:
            # A reply in several lines tells on each of them what it took.
            before = self.told.get(name)
            if before is not None:
                self.made.change(before, usage=None)
            self.told[name] = entry.id

    def tell_silent(self) -> None:
        """Say so where the file holds calls and no output at all."""
        blocks = [block for entry in self.made.entries for block in entry.blocks]
        calls = sum(isinstance(block, ToolCall) for block in blocks)
        if calls and not any(isinstance(block, ToolOutput) for block in blocks):
            count = plural(calls, "call", "calls")
            self.made.warnings.append(f"what {count} of tools gave back is not in the file")

    def _name_itself(self, pair: Found, source: Source) -> Found:
        """A call that has no name of its own is called by its line."""
        block, rest = pair
        if not isinstance(block, ToolCall) or block.id:
            return pair
        call = f"call-{source.line}"
        self.names[call] = block.name
        return block.model_copy(update={"id": call}), rest


def _name(row: Json) -> str:
    for key in ("type", "role"):
        if isinstance(told := row.get(key), str):
            return f"row of {key} {told}"[:60]
    return "row without a role"


def _take_reason(fields: Fields) -> str | None:
    return fields.text("stop_reason") or fields.text("finish_reason")


READER = Reader(
    NAME, "Messages, one a line", sniff, lambda data: read_lines(MessageLines(), data), MessageLines
)
