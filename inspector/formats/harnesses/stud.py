"""Read stud's session manifests: a JSON object with `messages` of text, images, tool calls and results.

Source: STUD §1. The published schema is applied first. Content that violates it but that stud's own reader
accepts is read too, with a warning for each deviation.

`contextProviders` is not a field of the schema. If a file has it, the text that each provider contributed is
read from it, including memory (S0-82).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...session.blocks import Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Provided
from ...session.session import Session
from ..image_size import measure
from ..json_document import (
    Fields,
    ParsedBlock,
    document_reader,
    find_blocks,
    find_lack,
    is_number,
    iso_time,
    make_parts,
    read_messages,
    refuse,
    unknown,
)

NAME = "stud"
REQUIRED = ("sessionId", "projectRoot", "mode", "messages", "storeId", "createdAt", "updatedAt")
TELLING = ("projectRoot", "mode", "storeId", "smState")
MODES = ("ask", "yolo", "allowlist")
ROLES = ("user", "assistant", "tool")
PARTS = ("tool-call", "tool-result")
PROVIDES = ("", "context-provider", "memory")
"""Categories of extensions that provide context. Memory is treated like the others (S0-82)."""
SHOWN = 3
"""Maximum number of deviations of one kind that are listed; the others are counted."""


def _judge(value: Any) -> str | None:
    """Return None for `messages` and two of stud's own fields, or one and stud's kind of messages.

    Calls with a `toolCallId` alone do not identify stud: messages of the AI SDK, which many apps save, have
    them too.
    """
    if lack := find_lack(value, messages=list):
        return lack
    messages = value["messages"]
    telling = sum(name in value for name in TELLING)
    if telling >= 2 or any("monotonicTs" in Fields(message).rest for message in messages):
        return None
    if telling and any(_has_calls(message) for message in messages):
        return None
    return "it has neither `storeId`, `mode` and `projectRoot` nor messages with `monotonicTs`"


def _has_calls(message: Any) -> bool:
    return any(
        Fields(part).rest.get("type") in PARTS and "toolCallId" in Fields(part).rest
        for part in Fields(message).items("content") or ()
    )


def _read(document: Any) -> Session:
    """Read the whole session. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    if lack := find_lack(document, messages=list):
        raise refuse(lack)
    warnings = tuple(f"differs from stud's schema: {deviation}" for deviation in find_deviations(document))
    fields = Fields(document)
    root, name = fields.text("projectRoot"), fields.text("sessionId")
    return Session(
        id=name or "",
        cwd=root.removesuffix("/.stud") if root else None,
        created=iso_time(fields.number("createdAt")),
        updated=iso_time(fields.number("updatedAt")),
        # stud drops messages of other roles when it reads the file, so the model never sees them.
        **read_messages(fields.items("messages") or (), _read_part, NAME, ROLES, "id"),
        provided=tuple(_read_providers(fields)),
        warnings=warnings,
        extra=fields.rest,
    )


def _read_providers(fields: Fields) -> Iterator[Provided]:
    """Yield the text of context providers. A specific category, such as "memory", becomes the origin.

    Items without text, and items that are not context providers, stay in `fields`.
    """
    remaining = []
    for raw in fields.items("contextProviders") or ():
        provider = Fields(raw)
        category = provider.text("category") or ""
        text = provider.text("content") or provider.text("text")
        name = provider.text("ownerExtId") or provider.text("name") or provider.text("id") or category
        if category not in PROVIDES or not text or not name:
            remaining.append(raw)
            continue
        origin = provider.text("source") or ("" if category == PROVIDES[1] else category)
        yield Provided(name=name, text=text, origin=origin)
    if remaining:
        fields.rest["contextProviders"] = remaining


def _read_part(raw: Any) -> ParsedBlock:
    """Convert a content part. Reasoning is read too, although stud's code never writes it."""
    fields = Fields(raw)
    kind = fields.text("type")
    if kind == "text" and (text := fields.text("text")) is not None:
        return Text(text=text), fields.rest
    if kind == "image" and (url := fields.text("url")) is not None:
        width, height = (measure(url.partition(",")[2]) if url.startswith("data:") else None) or (None, None)
        return Image(url=url, media_type=fields.text("mediaType"), width=width, height=height), fields.rest
    if kind in ("reasoning", "thinking"):
        text = fields.text("text")
        text = fields.text("thinking") if text is None else text
        if text is not None:
            return Reasoning(text=text, signature=fields.text("signature")), fields.rest
    if kind in PARTS and (call_id := fields.text("toolCallId")) is not None:
        name = fields.text("toolName")
        if kind == "tool-result":
            parts, more = make_parts(find_blocks(fields.any("content"), _read_answer))
            return ToolOutput(call_id=call_id, name=name, parts=parts), fields.rest | more
        if name is not None:
            return ToolCall(id=call_id, name=name, input=fields.any("args")), fields.rest
    return unknown(raw)


def _read_answer(raw: Any) -> ParsedBlock:
    block, rest = _read_part(raw)
    return (block, rest) if isinstance(block, Text | Image) else unknown(raw)


def find_deviations(document: dict[str, Any]) -> Iterator[str]:
    """Yield each deviation of a manifest from stud's published schema as a sentence (STUD §1)."""
    for name in REQUIRED:
        if name not in document:
            yield f"`{name}` is missing"
    for name in ("sessionId", "projectRoot", "storeId"):
        value = document.get(name, "-")
        if not isinstance(value, str) or not value:
            yield f"`{name}` is not a string of at least one character"
    if document.get("mode", "ask") not in MODES:
        yield f"`mode` is not one of {', '.join(MODES)}"
    for name in ("createdAt", "updatedAt"):
        if not is_number(document.get(name, 0)):
            yield f"`{name}` is not a number"
    state = document.get("smState", _STATE)
    if (
        not isinstance(state, dict)
        or set(state) != set(_STATE)
        or not all(isinstance(v, str) and v for v in state.values())
    ):
        yield "`smState` is not an object of `smExtId` and `stateSlotRef`"
    for name in document:
        if name not in (*REQUIRED, "smState"):
            yield f"`{name}` is not a field of it"
    wrong = [
        number for number, message in enumerate(document["messages"], 1) if not isinstance(message, dict)
    ]
    yield from (f"message {number} is not an object" for number in wrong[:SHOWN])
    if len(wrong) > SHOWN:
        yield f"{len(wrong) - SHOWN} more messages are not objects"


_STATE = {"smExtId": "-", "stateSlotRef": "-"}


READER = document_reader(NAME, "stud session manifest", _judge, _read)
