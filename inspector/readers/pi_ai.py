"""The messages that Flue and pi share: both store what the pi-ai library speaks.

In go a message's JSON and what its entry said about it, out comes an `Entry`. Source: FLUE §1.
"""

from __future__ import annotations

from typing import Any

from ..session.blocks import Image, Reasoning, Text, ToolCall, ToolOutput, Unknown
from ..session.session import Boundary, Entry, Source, Usage
from .images import measure
from .shapes import Fields, Found, find_blocks, gather, make_parts, make_usage, merge, only_outputs, unknown

USAGE = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
ROLES = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


def read_block(raw: Any) -> Found:
    """One content block: text, thinking, toolCall or image; anything else is unknown."""
    fields = Fields(raw)
    kind = fields.text("type")
    if kind == "text" and (text := fields.text("text")) is not None:
        return Text(text=text), fields.rest
    if kind == "thinking" and (text := fields.text("thinking")) is not None:
        signature = fields.text("thinkingSignature")
        if fields.flag("redacted"):
            return Reasoning(text=text, encrypted=signature), fields.rest
        return Reasoning(text=text, signature=signature), fields.rest
    if kind == "toolCall":
        call_id, name = fields.text("id"), fields.text("name")
        if call_id is not None and name is not None:
            return ToolCall(id=call_id, name=name, input=fields.any("arguments")), fields.rest
    if kind == "image" and (data := fields.text("data")) is not None:
        width, height = measure(data) or (None, None)
        return Image(media_type=fields.text("mimeType"), width=width, height=height, data=data), fields.rest
    return unknown(raw)


def read_message(
    message: dict[str, Any],
    rest: dict[str, Any],
    *,
    id: str,
    parent: str | None,
    source: Source,
    **known: Any,
) -> Entry:
    """A message as an entry. `rest` is what its entry held besides; `known` goes into the entry as it is.

    A role that is not user, assistant or toolResult keeps its name, and what it holds in place of
    content becomes an unknown block.
    """
    fields = Fields(message)
    told = fields.text("role") or ""
    role = ROLES.get(told, told or "unknown")
    if told == "toolResult":
        found = [read_output(fields)]
    elif told in ROLES or "content" in message:
        found = find_blocks(fields.any("content"), read_block)
    else:
        moment = fields.rest.pop("timestamp", None)
        found = [(Unknown(type=told, raw=fields.rest), {})]
        fields = Fields({"timestamp": moment})
    blocks, more = gather(only_outputs(found) if role == "tool" else found)
    usage = make_usage(fields, "usage", USAGE)
    return Entry(
        **{
            "role": role,
            "model": fields.text("model"),
            "provider": fields.text("provider"),
            "stop_reason": fields.text("stopReason"),
            "error": fields.text("errorMessage"),
        }
        | known,
        id=id,
        parent=parent,
        blocks=blocks,
        usage=usage,
        sources=(source,),
        extra=merge(rest, fields.rest | more),
    )


def read_output(fields: Fields) -> Found:
    """What a toolResult message answers."""
    call_id, name, is_error = fields.text("toolCallId"), fields.text("toolName"), fields.flag("isError")
    parts, more = make_parts(find_blocks(fields.any("content"), read_block))
    return ToolOutput(call_id=call_id or "", name=name, parts=parts, is_error=bool(is_error)), more


def read_boundary(
    fields: Fields, first_kept: str | None, extra: dict[str, Any], *, carried: bool = True
) -> Boundary:
    """Take what a compaction entry records. `carried` is whether its file lists go into the next one."""
    details = Fields(fields.object("details"))
    read, modified = (details.strings("readFiles"), details.strings("modifiedFiles")) if carried else ((), ())
    return Boundary(
        tokens_before=fields.number("tokensBefore"),
        first_kept=first_kept,
        summary=fields.text("summary") or "",
        files_read=read,
        files_modified=modified,
        extra=extra | ({"details": details.rest} if details.rest else {}),
    )


def read_usage(fields: Fields) -> Usage | None:
    """Take the usage of a pi-ai message or of a compaction entry."""
    return make_usage(fields, "usage", USAGE)
