"""stud's session manifests: one JSON object with `messages` of text, images, tool calls and results.

In go the bytes, out comes a `Session`. The published schema is applied first; what it forbids and the
system's own looser reader lets pass is read too, with a warning for each deviation. Source: STUD §1.

`contextProviders` is no field of the schema: where a file has it, what each provider contributed is read from
it, a memory like any other (S0-82).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ...errors import ReadError
from ...session.blocks import Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Provided
from ...session.session import Session
from ..image_size import measure
from ..json_document import (
    FILE,
    Fields,
    Found,
    find_blocks,
    is_number,
    iso_time,
    load,
    make_parts,
    read_messages,
    sniff_document,
    unknown,
)
from ..json_lines import Data, Reader

NAME = "stud"
REQUIRED = ("sessionId", "projectRoot", "mode", "messages", "storeId", "createdAt", "updatedAt")
TELLING = ("projectRoot", "mode", "storeId", "smState")
MODES = ("ask", "yolo", "allowlist")
ROLES = ("user", "assistant", "tool")
PARTS = ("tool-call", "tool-result")
PROVIDES = ("", "context-provider", "memory")
"""Categories of extensions that provide context; memory is no kind of its own (S0-82)."""
SHOWN = 3
"""Deviations of one kind that are told one by one; the rest are counted."""


def _judge(value: Any) -> str | None:
    """None for an object with `messages` and two of stud's own fields, or one and stud's kind of messages.

    Parts of calls with a `toolCallId` are those of the AI SDK's messages too, which many apps save.
    """
    if not isinstance(value, dict):
        return "not a JSON object"
    messages = value.get("messages")
    if not isinstance(messages, list):
        return "it has no list `messages`"
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


def read(data: Data) -> Session:
    """The whole session. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    document = load(data)
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        raise ReadError(FILE, detail="it has no list `messages`")
    warnings = tuple(f"not as stud's schema has it: {deviation}" for deviation in find_deviations(document))
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
    """What context providers contributed; a category of its own, such as "memory", is but its origin.

    What has no words, or is no context provider, is left in `fields` as it was.
    """
    left = []
    for raw in fields.items("contextProviders") or ():
        given = Fields(raw)
        category = given.text("category") or ""
        text = given.text("content") or given.text("text")
        name = given.text("ownerExtId") or given.text("name") or given.text("id") or category
        if category not in PROVIDES or not text or not name:
            left.append(raw)
            continue
        origin = given.text("source") or ("" if category == PROVIDES[1] else category)
        yield Provided(name=name, text=text, origin=origin)
    if left:
        fields.rest["contextProviders"] = left


def _read_part(raw: Any) -> Found:
    """One content part. Reasoning parts, which the page allows and the code never writes, are read too."""
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


def _read_answer(raw: Any) -> Found:
    block, rest = _read_part(raw)
    return (block, rest) if isinstance(block, Text | Image) else unknown(raw)


def find_deviations(document: dict[str, Any]) -> Iterator[str]:
    """Every place where a manifest departs from stud's published schema, as a sentence (STUD §1)."""
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
        or not all(_is_name(v) for v in state.values())
    ):
        yield "`smState` is not an object of `smExtId` and `stateSlotRef`"
    for name in document:
        if name not in (*REQUIRED, "smState"):
            yield f"`{name}` is not a field of it"
    wrong = [at for at, message in enumerate(document["messages"], 1) if not isinstance(message, dict)]
    yield from (f"message {at} is not an object" for at in wrong[:SHOWN])
    if len(wrong) > SHOWN:
        yield f"{len(wrong) - SHOWN} more messages are not objects"


_STATE = {"smExtId": "-", "stateSlotRef": "-"}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


READER = Reader(NAME, "stud session manifest", partial(sniff_document, judge=_judge), read)
