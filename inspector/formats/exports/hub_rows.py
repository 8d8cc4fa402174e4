"""Read two forms in which sessions are published: session traces of the Hugging Face Hub, and DataClaw's.

Sources: huggingface/hub-docs at 9d148464; dataclaw 0.4.2, run on a Claude Code session. Neither has a word
for a compaction: a summary is a user message among the others, and all older messages are there. So sizes are
upper bounds, and a warning says so. DataClaw gives no ids: a call is matched with the output next to it.
"""

from __future__ import annotations

from typing import Any

from ...session.blocks import Reasoning, Text, ToolCall
from ...session.entries import Source
from ...session.session import Session
from ..json_document import Fields, ParsedBlock, document_reader, iso_time, place
from ..json_lines import Data
from ..recording import Json, Reading, first_rows, parse_arguments, replayed_reader
from ..requests.chat_messages import read_answer, read_part

STS, DATACLAW = "hf-sts", "dataclaw"
UPPER = "this format records no compactions: a summary is a user message, and sizes are upper bounds"


def sniff_traces(data: Data) -> str | None:
    """Return None if the first row names a session's harness and has no version, which pi's own rows have."""
    rows = first_rows(data)
    header = rows[0] if rows else {}
    if header.get("type") == "session" and isinstance(header.get("harness"), str) and "version" not in header:
        return None
    return "its first row is not a session with a harness"


class SessionTraces(Reading):
    """State while a file is read: the session, then its messages."""

    format = STS
    header = Fields({})

    def take(self, source: Source, row: Json) -> None:
        fields = Fields(row)
        kind = fields.text("type") or "row without a type"
        if kind == "message" and isinstance(row.get("message"), dict):
            self._add_trace(source, Fields(fields.object("message")), fields.rest)
            return
        self.header = fields if kind == "session" else self.header
        self.note(kind, is_known=kind == "session")

    def _add_trace(self, source: Source, message: Fields, extra: Json) -> None:
        role, content = message.text("role") or "user", message.any("content")
        blocks: list[ParsedBlock] = []
        call = message.text("toolCallId")
        if thought := message.text("reasoningContent"):
            blocks.append((Reasoning(text=thought), {}))
        if role == "tool":
            blocks.append(read_answer(call or "", content, self.names))
        elif content:
            blocks.append(
                (Text(text=content), {}) if isinstance(content, str) else read_part(content, self.names)
            )
        for raw in message.items("toolCalls") or ():
            item = Fields(raw)
            function, number = Fields(item.object("function")), item.text("id") or ""
            name = function.text("name") or ""
            self.names[number] = name
            blocks.append(
                (ToolCall(id=number, name=name, input=_read_input(function.any("arguments"))), item.rest)
            )
        more: Json = {"timestamp": iso_time(message.number("timestamp")), "model": message.text("model")}
        role = role if role in ("user", "assistant", "tool", "system") else "other"
        self.add(f"line-{source.line}", role, blocks, extra | message.rest, **more)

    def finish(self) -> Session:
        self.warnings.append(UPPER)
        name, title = self.header.text("id") or "", self.header.text("name")
        return self.make_session(id=name, title=title, extra=self.header.rest)


def _read_input(arguments: Any) -> Any:
    """The arguments as JSON; other text stays text."""
    value = parse_arguments(arguments)
    return arguments if value == {"input": arguments} else value


def judge_dataclaw(value: Any) -> str | None:
    """Return None for a row of DataClaw's: messages, with its own fields of calls, thinking or statistics."""
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or "session_id" not in value:
        return "it has no messages of a session"
    own = any(isinstance(item, dict) and ({"tool_uses", "thinking"} & item.keys()) for item in messages)
    stats = value.get("stats")
    if own or (isinstance(stats, dict) and "user_messages" in stats):
        return None
    return "its messages have no tool_uses and no thinking"


def _read_dataclaw(value: Any) -> Session:
    """Read one row. Raises `EmptySession` if there are no messages."""
    about = Fields(value)
    recording = Reading(DATACLAW)
    for number, raw in enumerate(about.items("messages") or (), 1):
        message = Fields(raw)
        role, blocks = message.text("role") or "user", list[ParsedBlock]()
        outputs: list[ParsedBlock] = []
        if thought := message.text("thinking"):
            blocks.append((Reasoning(text=thought), {}))
        if content := message.text("content"):
            blocks.append((Text(text=content), {}))
        for at, use in enumerate(message.items("tool_uses") or (), 1):
            item, call = Fields(use), f"call-{number}.{at}"
            name, output = item.text("tool") or "", item.any("output")
            blocks.append((ToolCall(id=call, name=name, input=item.any("input")), {}))
            text = Fields(output).text("text") if isinstance(output, dict) else output
            if output is not None:
                failed = item.rest.get("status") == "error"
                shown = text if text is not None else output
                outputs.append(read_answer(call, shown, {}, name, failed=failed))
        more: Json = {"timestamp": message.text("timestamp")}
        role = role if role in ("user", "assistant", "system") else "other"
        recording.add(f"m{number}", role, blocks, message.rest, source=place(number), **more)
        if outputs:
            recording.add(f"m{number}-outputs", "tool", outputs, {}, **more)
    recording.warnings.append(UPPER)
    name, model = about.text("session_id") or "", about.text("model")
    return recording.make_session(id=name, model=model, cwd=about.text("project"), extra=about.rest)


STS_READER = replayed_reader(STS, "Session traces of the Hugging Face Hub", sniff_traces, SessionTraces)
DATACLAW_READER = document_reader(DATACLAW, "DataClaw conversation", judge_dataclaw, _read_dataclaw)
