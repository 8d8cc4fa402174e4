"""Read content blocks of Bedrock's Converse API, which Strands also writes to traces.

A block is an object with one key, its kind, such as `{"text": …}`, `{"toolUse": …}` or `{"toolResult": …}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...session.blocks import Document, Image, Reasoning, Text, ToolCall
from ...session.json_text import stringify
from ..json_document import Fields, ParsedBlock
from ..recording import make_output

ReadPart = Callable[[Any], ParsedBlock]
MARKS = frozenset(["cachePoint"])
"""Blocks without content for the model."""


def split_marks(content: Any) -> tuple[Any, list[Any]]:
    """Split the content of a message into blocks and cache points."""
    if not isinstance(content, list):
        return content, []
    marks = [part for part in content if isinstance(part, dict) and part.keys() == MARKS]
    return [part for part in content if part not in marks] if marks else content, marks


def read_block(fields: Fields, names: dict[str, str], read_part: ReadPart) -> ParsedBlock | None:
    """Read an object without a type as a block. Return None if it is not a kind of block of Converse.

    `names` maps calls to the names of their tools; `read_part` reads the parts of an output.
    """
    kind = next((key for key in _READERS if isinstance(fields.rest.get(key), dict)), None)
    if kind is None:
        return None
    inner = Fields(fields.rest[kind])
    result = _READERS[kind](inner, names, read_part)
    if result is None:
        return None
    block, rest = result
    others = {key: value for key, value in fields.rest.items() if key != kind}
    return block, others | rest | inner.rest


def _read_call(inner: Fields, names: dict[str, str], _: ReadPart) -> ParsedBlock | None:
    call, name = inner.text("toolUseId"), inner.text("name")
    if call is None or name is None:
        return None
    names[call] = name
    return ToolCall(id=call, name=name, input=inner.any("input")), {}


def _read_result(inner: Fields, names: dict[str, str], read_part: ReadPart) -> ParsedBlock | None:
    call = inner.text("toolUseId")
    if call is None:
        return None
    failed = inner.rest.get("status") == "error"
    content = [
        {"text": stringify(part["json"])} if isinstance(part, dict) and part.keys() == {"json"} else part
        for part in inner.items("content") or ()
    ]
    return make_output(call, content, read_part, names.get(call), failed=failed)


def _read_reasoning(inner: Fields, _: dict[str, str], __: ReadPart) -> ParsedBlock | None:
    thought = Fields(inner.object("reasoningText"))
    text, sealed = thought.text("text"), thought.text("signature")
    hidden = inner.text("redactedContent")
    if text is None and hidden is None:
        return None
    return Reasoning(text=text or "", encrypted=sealed or hidden), thought.rest


def _read_image(inner: Fields, _: dict[str, str], __: ReadPart) -> ParsedBlock | None:
    data, link, _words = _take_source(inner)
    sort = inner.text("format")
    return Image(media_type=f"image/{sort}" if sort else None, data=data, url=link), {}


def _read_document(inner: Fields, _: dict[str, str], __: ReadPart) -> ParsedBlock | None:
    data, link, words = _take_source(inner)
    sort, title = inner.text("format"), inner.text("name")
    return Document(media_type=sort, title=title, data=data, url=link, text=words or ""), {}


def _take_source(inner: Fields) -> tuple[str | None, str | None, str | None]:
    """Remove and return the Base64 data, the URL and the text of a file."""
    source = Fields(inner.object("source"))
    data, words = source.text("bytes"), source.text("text")
    link = Fields(source.object("s3Location")).text("uri")
    content = source.items("content") or source.items("chunks") or ()
    words = words or "\n".join(text for part in content if (text := Fields(part).text("text"))) or None
    return data, link, words


def _read_citations(inner: Fields, _: dict[str, str], __: ReadPart) -> ParsedBlock | None:
    texts = [Fields(part).text("text") for part in inner.items("content") or ()]
    return Text(text="".join(text for text in texts if text)), {}


def _read_guarded(inner: Fields, _: dict[str, str], __: ReadPart) -> ParsedBlock | None:
    text = Fields(inner.rest.get("text")).text("text")
    return None if text is None else (Text(text=text), {})


_READERS: dict[str, Callable[[Fields, dict[str, str], ReadPart], ParsedBlock | None]] = {
    "toolUse": _read_call,
    "toolResult": _read_result,
    "reasoningContent": _read_reasoning,
    "image": _read_image,
    "document": _read_document,
    "video": _read_document,
    "citationsContent": _read_citations,
    "guardContent": _read_guarded,
}
