"""Read mini-claude-code's message lists: a JSON list, or an object with `messages`.

Source: TIERED §1. Tool calls are in `toolUse`, their results in `result`.
"""

from __future__ import annotations

from typing import Any

from ...session.blocks import Text, ToolCall, ToolOutput
from ...session.session import Session
from ..json_document import (
    Fields,
    ParsedBlock,
    document_reader,
    find_blocks,
    make_parts,
    read_messages,
    refuse,
    unknown,
)
from ..requests.chat_messages import CALLS

NAME = "mini-claude-code"
ROLES = ("user", "assistant", "tool")


def _judge(value: Any) -> str | None:
    """Return None if a message contains `toolUse`, `result` or a tool's bare text; else the reason."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return "neither a list nor an object with a list `messages`"
    blocks = [block for message in messages for block in Fields(message).items("content") or ()]
    if any(isinstance(block, dict) and "toolCallId" in block for block in blocks):
        return "its parts are the AI SDK's"
    if any({"tool_call_id", *CALLS} & Fields(message).rest.keys() for message in messages):
        return "its messages have `tool_calls`, which are OpenAI's"
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


def _read(document: Any) -> Session:
    """Read the list; messages are named m1, m2, …. Raises `ReadError`, or `EmptySession` without messages."""
    fields = Fields(document)
    messages = document if isinstance(document, list) else fields.items("messages")
    if messages is None:
        raise refuse("neither a list nor an object with a list `messages`")
    return Session(
        id=fields.text("sessionId") or "",
        model=fields.text("model"),
        **read_messages(messages, _read_block, NAME),
        extra=fields.rest,
    )


def _read_block(raw: Any) -> ParsedBlock:
    """Convert a block. A result's `error` stays in the extra fields; it is the text if there is no other,
    because the model is sent it (TIERED §1, vector 088)."""
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
            status, error = inner.text("status"), inner.rest.get("error")
            if (
                isinstance(error, str)
                and error
                and all(part.kind == "text" and not part.text for part in parts)
            ):
                parts = (Text(text=error),)
            output = ToolOutput(
                call_id=call_id,
                parts=parts,
                is_error=status == "error",
                status=status,
                artifact=inner.text("artifactPath"),
            )
            return output, fields.rest | inner.rest | more
    return unknown(raw)


READER = document_reader(NAME, "mini-claude-code messages", _judge, _read)
