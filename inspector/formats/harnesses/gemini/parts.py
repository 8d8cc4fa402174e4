"""Convert Google's message parts to blocks and read its token counts: shared by Gemini CLI and Qwen Code."""

from __future__ import annotations

from typing import Any

from ....session.blocks import Document, Image, Reasoning, Text, ToolCall, ToolOutput
from ....session.entries import Usage
from ....session.json_text import stringify
from ...image_size import measure
from ...json_document import Fields, ParsedBlock, make_parts, unknown


def read_parts(content: Any, names: dict[str, str], name: str) -> list[ParsedBlock]:
    """Convert a message's content to blocks: a string, one part or a list of parts.

    The calls of the message are added to `names`. Calls without an id get one from the message's, `name`.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [(Text(text=content), {})] if content else []
    parts = content if isinstance(content, list) else [content]
    return [read_part(part, names, f"{name}/{index}") for index, part in enumerate(parts)]


def read_part(raw: Any, names: dict[str, str], call: str) -> ParsedBlock:
    """Convert one part: text, a thought, data, a function call or its response."""
    if isinstance(raw, str):
        return Text(text=raw), {}
    fields = Fields(raw)
    if (text := fields.text("text")) is not None:
        if fields.flag("thought"):
            return Reasoning(text=text, signature=fields.text("thoughtSignature")), fields.rest
        return Text(text=text), fields.rest
    if (request := fields.object("functionCall")) is not None:
        inner = Fields(request)
        number, tool = inner.text("id") or call, inner.text("name") or ""
        names[number] = tool
        block = ToolCall(id=number, name=tool, input=inner.any("args"))
        return block, fields.rest | inner.rest
    if (answered := fields.object("functionResponse")) is not None:
        inner = Fields(answered)
        number = inner.text("id") or call
        block_, rest = read_response(number, inner)
        return block_, fields.rest | rest
    if (inline := fields.object("inlineData")) is not None:
        inner = Fields(inline)
        kind, data = inner.text("mimeType"), inner.text("data")
        return _make_file(kind, data, None), fields.rest | inner.rest
    if (file := fields.object("fileData")) is not None:
        inner = Fields(file)
        return _make_file(inner.text("mimeType"), None, inner.text("fileUri")), fields.rest | inner.rest
    return unknown(raw)


def _make_file(kind: str | None, data: str | None, url: str | None) -> Image | Document:
    if kind is not None and kind.startswith("image/"):
        width, height = (measure(data) if data else None) or (None, None)
        return Image(media_type=kind, width=width, height=height, data=data, url=url)
    return Document(media_type=kind, data=data, url=url)


def read_response(call: str, inner: Fields, *, failed: bool = False) -> ParsedBlock:
    """Convert a function's response: its output or its error as text, any other response as JSON."""
    name, response = inner.text("name"), inner.any("response")
    rest = inner.rest
    text: str | None = None
    if isinstance(response, dict):
        fields_ = Fields(response)
        error = fields_.text("error")
        text = fields_.text("output") if error is None else error
        failed = failed or error is not None
        if text is not None and fields_.rest:
            rest = rest | {"response": fields_.rest}
    if text is None and response is not None:
        text = response if isinstance(response, str) else stringify(response)
    parts, more = make_parts([(Text(text=text), {})] if text is not None else [])
    return ToolOutput(call_id=call, name=name, parts=parts, is_error=failed), rest | more


def make_google_usage(raw: Any, *keys: str) -> Usage | None:
    """Return the usage of one request; the input includes cached tokens, the output excludes thoughts.

    `keys` name input, output, cached, thoughts, tool use and total. Returns None if all are zero or missing.
    """
    fields = Fields(raw)
    sent, output, cached, thoughts, tool, total = (fields.number(key) for key in keys)
    if not any((sent, output, cached, thoughts, tool)):
        return None
    return Usage(
        input=max((sent or 0) - (cached or 0), 0) + (tool or 0),
        output=(output or 0) + (thoughts or 0),
        cache_read=cached or 0,
        total=total,
    )
