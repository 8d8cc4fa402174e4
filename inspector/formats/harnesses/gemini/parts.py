"""What Gemini CLI and Qwen Code share: Google's parts of a message -> blocks, and its token figures."""

from __future__ import annotations

from typing import Any

from ....session.blocks import Document, Image, Reasoning, Text, ToolCall, ToolOutput
from ....session.entries import Usage
from ....session.json_text import stringify
from ...image_size import measure
from ...json_document import Fields, Found, make_parts, unknown


def read_parts(content: Any, names: dict[str, str], name: str) -> list[Found]:
    """The blocks of a message's content: a string, one part or a list of parts.

    `name` is the message's, for calls that have no id; `names` are the tools by call.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [(Text(text=content), {})] if content else []
    parts = content if isinstance(content, list) else [content]
    return [read_part(part, names, f"{name}/{at}") for at, part in enumerate(parts)]


def read_part(raw: Any, names: dict[str, str], call: str) -> Found:
    """One part: text, a thought, data, a function's call or its response."""
    if isinstance(raw, str):
        return Text(text=raw), {}
    fields = Fields(raw)
    if (text := fields.text("text")) is not None:
        if fields.flag("thought"):
            return Reasoning(text=text, signature=fields.text("thoughtSignature")), fields.rest
        return Text(text=text), fields.rest
    if (asked := fields.object("functionCall")) is not None:
        inner = Fields(asked)
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
    if (given := fields.object("fileData")) is not None:
        inner = Fields(given)
        return _make_file(inner.text("mimeType"), None, inner.text("fileUri")), fields.rest | inner.rest
    return unknown(raw)


def _make_file(kind: str | None, data: str | None, url: str | None) -> Image | Document:
    if kind is not None and kind.startswith("image/"):
        width, height = (measure(data) if data else None) or (None, None)
        return Image(media_type=kind, width=width, height=height, data=data, url=url)
    return Document(media_type=kind, data=data, url=url)


def read_response(call: str, inner: Fields, *, failed: bool = False) -> Found:
    """What a function answered: its output or its error as text, any other response as JSON."""
    name, response = inner.text("name"), inner.any("response")
    rest = inner.rest
    text: str | None = None
    if isinstance(response, dict):
        told = Fields(response)
        error = told.text("error")
        text = told.text("output") if error is None else error
        failed = failed or error is not None
        if text is not None and told.rest:
            rest = rest | {"response": told.rest}
    if text is None and response is not None:
        text = response if isinstance(response, str) else stringify(response)
    parts, more = make_parts([(Text(text=text), {})] if text is not None else [])
    return ToolOutput(call_id=call, name=name, parts=parts, is_error=failed), rest | more


def make_google_usage(raw: Any, *keys: str) -> Usage | None:
    """Usage whose input holds what the cache gave and whose output is without the thoughts.

    `keys` name input, output, cached, thoughts, tool use and total. All zeros are no request.
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
