"""mini-claude-code's message lists: a JSON list, or an object with `messages`.

In go the bytes, out comes a `Session`. Tool calls stand in `toolUse`, their answers in `result`.
Source: TIERED §1.
"""

from __future__ import annotations

from typing import Any

from ..errors import EmptySession, ReadError
from ..session.blocks import Text, ToolCall, ToolOutput
from ..session.entries import Corrupt, Entry, Note
from ..session.session import Session
from .json_document import (
    FILE,
    Fields,
    Found,
    find_blocks,
    gather,
    load,
    make_parts,
    only_outputs,
    place,
    sniff_document,
    unknown,
)
from .json_lines import Data, Reader

NAME = "mini-claude-code"
ROLES = ("user", "assistant", "tool")


def sniff(data: Data) -> str | None:
    """None when a message holds a `toolUse` or a `result`, or a tool speaks without naming its call."""
    return sniff_document(data, _judge)


def _judge(value: Any) -> str | None:
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return "neither a list nor an object with a list `messages`"
    if any(_is_mini(message) for message in messages):
        return None
    return "no message holds a `toolUse` or a `result`"


def _is_mini(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        return False
    content = message.get("content")
    if message["role"] == "tool" and set(message) == {"role", "content"} and isinstance(content, str):
        return True
    return isinstance(content, list) and any(_is_tool_block(block) for block in content)


def _is_tool_block(block: Any) -> bool:
    return isinstance(block, dict) and (
        (block.get("type") == "tool_use" and isinstance(block.get("toolUse"), dict))
        or (block.get("type") == "tool_result" and isinstance(block.get("result"), dict))
    )


def read(data: Data) -> Session:
    """The whole list, its messages named m1, m2, …. Raises `ReadError`, or `EmptySession` without any."""
    document = load(data)
    fields = Fields(document)
    messages = document if isinstance(document, list) else fields.items("messages")
    if messages is None:
        raise ReadError(FILE, detail="neither a list nor an object with a list `messages`")
    entries: list[Entry] = []
    notes: list[Note] = []
    corrupt: list[Corrupt] = []
    for line, raw in enumerate(messages, 1):
        if not isinstance(raw, dict):
            corrupt.append(Corrupt(line=line, offset=-1, reason="a message that is not an object"))
        elif not isinstance(raw.get("role"), str):
            notes.append(Note(type="message without a role", known=False, source=place(line)))
        else:
            entries.append(_read_message(raw, line, entries[-1].id if entries else None))
    if not entries:
        raise EmptySession(FILE, [(NAME, "")])
    return Session(
        format=NAME,
        id=fields.text("sessionId") or "",
        model=fields.text("model"),
        entries=tuple(entries),
        leaf=entries[-1].id,
        notes=tuple(notes),
        corrupt=tuple(corrupt),
        extra=fields.rest,
    )


def _read_message(raw: dict[str, Any], line: int, parent: str | None) -> Entry:
    fields = Fields(raw)
    role = fields.text("role") or "user"
    found = find_blocks(fields.any("content"), _read_block)
    blocks, more = gather(only_outputs(found) if role == "tool" else found)
    return Entry(
        id=f"m{line}",
        parent=parent,
        role=role,
        blocks=blocks,
        sources=(place(line),),
        extra=fields.rest | more,
    )


def _read_block(raw: Any) -> Found:
    """One block. A result's `error` is kept beside it: nothing counts it, and no pointer replaces it."""
    fields = Fields(raw)
    kind = fields.text("type")
    if kind == "text" and (text := fields.text("text")) is not None:
        return Text(text=text), fields.rest
    if kind == "tool_use" and (inner := Fields(fields.object("toolUse"))).rest:
        call_id, name = inner.text("id"), inner.text("name")
        if call_id is not None and name is not None:
            return ToolCall(id=call_id, name=name, input=inner.any("input")), fields.rest | inner.rest
    if kind == "tool_result" and (inner := Fields(fields.object("result"))).rest:
        call_id = inner.text("toolUseId")
        if call_id is not None:
            parts, more = make_parts(find_blocks(inner.any("content"), unknown))
            status = inner.text("status")
            output = ToolOutput(
                call_id=call_id,
                parts=parts,
                is_error=status == "error",
                status=status,
                artifact=inner.text("artifactPath"),
            )
            return output, fields.rest | inner.rest | more
    return unknown(raw)


READER = Reader(NAME, "mini-claude-code messages", sniff, read)
