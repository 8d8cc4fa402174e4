"""Convert message content in the form of Anthropic's API and Claude Code to blocks and usage.

Every block keeps its place. A block of unknown type, or one whose fields are not what its type promises,
becomes an `Unknown` holding its JSON. Calls and results of tools that the provider runs itself keep the
provider's fields, and `write_tool_block` writes them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import intern
from typing import Any, cast

from ...session.blocks import (
    Block,
    Document,
    Image,
    Number,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
    assemble,
    build,
)
from ...session.entries import MOST_TOKENS, Request, Terms, Usage
from ..image_size import measure

Names = dict[str, str]
"""Tool name by call id, filled while calls are read and used while outputs are read."""


def read_content(content: Any, names: Names) -> list[Block]:
    """Convert a message's `content`: a string, a list of blocks, or nothing."""
    if type(content) is str:
        return [_make_text(content)]
    if content is None:
        return []
    if type(content) is not list:
        return [_unknown(content)]
    return [read_block(block, names) for block in content]


def read_block(raw: Any, names: Names) -> Block:
    """Convert one block."""
    if type(raw) is not dict:
        return _make_text(raw) if type(raw) is str else _unknown(raw)
    kind = raw.get("type")
    read = _READERS.get(kind) if type(kind) is str else None
    if read is None:
        if type(kind) is str and kind.endswith("_tool_result"):
            read = _tool_result
        else:
            return _unknown(raw)
    return read(raw, names) or _unknown(raw)


def read_usage(raw: Any) -> Usage | None:
    """Return the usage of a reply's last request; if several are listed, of each (CLAUDE §5.1)."""
    if type(raw) is not dict:
        return None
    last: dict[str, Any] = raw
    requests: tuple[Request, ...] = ()
    iterations = raw.get("iterations")
    if type(iterations) is list and iterations:
        listed = [usage_part for usage_part in iterations if type(usage_part) is dict]
        messages = [usage_part for usage_part in listed if usage_part.get("type") in _ANSWERS]
        last = messages[-1] if messages else raw
        if len(messages) != 1 or len(listed) != 1:
            requests = tuple(map(_request, listed))
    written, hour = _written(last)
    return assemble(
        Usage,
        {
            "input": _tokens(last.get("input_tokens")),
            "output": _tokens(last.get("output_tokens")),
            "cache_read": _tokens(last.get("cache_read_input_tokens")),
            "cache_write": written,
            "cache_write_1h": hour,
            "total": None,
            "cost": None,
            "requests": requests,
            "terms": _read_terms(raw),
        },
    )


def _read_terms(raw: dict[str, Any]) -> Terms | None:
    """Return the terms of a usage that change the price; None for the standard price."""
    used = raw.get("server_tool_use")
    tools = {
        name: count
        for name, count in (used.items() if type(used) is dict else ())
        if type(count) is int and 0 <= count <= MOST_TOKENS
    }
    searches = tools.pop("web_search_requests", 0)
    others = sum(count for name, count in tools.items() if name not in _FREE_TOOLS)
    words = [
        value if value and value not in standard else None
        for value, standard in ((_chars(raw, name), standard) for name, standard in _STANDARD)
    ]
    if not (searches or others or any(words)):
        return None
    speed, tier, geo = words
    return build(
        Terms,
        speed=speed,
        service_tier=tier,
        inference_geo=geo,
        web_searches=searches,
        other_tools=others,
    )


_FREE_TOOLS = ("web_fetch_requests", "tool_search_requests")
"""Server tools that cost only their tokens, which are in the usage."""
_STANDARD = (
    ("speed", ("standard",)),
    ("service_tier", ("standard",)),
    ("inference_geo", ("global", "not_available")),
)
"""Fields of a usage and their values at the standard price."""


def _request(raw: dict[str, Any]) -> Request:
    written, hour = _written(raw)
    return build(
        Request,
        kind=_chars(raw, "type") or "",
        model=_chars(raw, "model"),
        input=_tokens(raw.get("input_tokens")),
        output=_tokens(raw.get("output_tokens")),
        cache_read=_tokens(raw.get("cache_read_input_tokens")),
        cache_write=written,
        cache_write_1h=hour,
    )


def _written(raw: dict[str, Any]) -> tuple[Number, Number | None]:
    """Return the tokens written to the cache, and those stored for an hour; None if that is unknown."""
    written, split = _tokens(raw.get("cache_creation_input_tokens")), raw.get("cache_creation")
    if type(split) is not dict or not (_MINUTES in split or _HOUR in split):
        return written, None
    hour = _tokens(split.get(_HOUR))
    if raw.get("cache_creation_input_tokens") is None:
        written = _tokens(split.get(_MINUTES)) + hour
    return written, min(hour, written)


_ANSWERS = ("message", "fallback_message")
"""Types of the requests that made the reply: a refused one is made again to another model, as a fallback."""
_MINUTES, _HOUR = "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"


def _tokens(value: Any) -> Number:
    return value if type(value) is int or type(value) is float else 0


def _unknown(raw: Any) -> Unknown:
    kind = raw.get("type") if type(raw) is dict else None
    return build(Unknown, type=kind if type(kind) is str else "", raw=raw)


def _text(raw: dict[str, Any], names: Names) -> Block | None:
    text = raw.get("text")
    return _make_text(text) if type(text) is str else None


def _make_text(text: str) -> Text:
    return assemble(Text, {"kind": "text", "text": text})


def _thinking(raw: dict[str, Any], names: Names) -> Block | None:
    text, signature = raw.get("thinking", ""), raw.get("signature")
    if type(text) is not str or not (signature is None or type(signature) is str):
        return None
    return build(Reasoning, text=text, signature=signature)


def _redacted_thinking(raw: dict[str, Any], names: Names) -> Block | None:
    data = raw.get("data")
    return build(Reasoning, encrypted=data) if type(data) is str else None


def _tool_use(raw: dict[str, Any], names: Names) -> Block | None:
    call, name = raw.get("id"), raw.get("name")
    if type(call) is not str or type(name) is not str:
        return None
    names[call] = name = intern(name)
    fields = {
        "kind": "tool_call",
        "id": call,
        "name": name,
        "input": raw.get("input"),
        "provider_fields": _find_call_fields(raw),
    }
    return assemble(ToolCall, fields)


def _find_call_fields(raw: dict[str, Any]) -> dict[str, Any] | None:
    """Return the provider's fields of a call other than id, name and input; None for a plain call.

    Fields that a harness adds to a client's call are omitted, because providers reject them.
    """
    if raw["type"] == "tool_use":
        fields = {key: raw[key] for key in _CALLER_FIELDS if raw.get(key) is not None}
        # Newer files mark most calls as made by the model.
        if fields == {"caller": DIRECT["caller"]}:
            return DIRECT
        return {"type": "tool_use"} | fields if fields else None
    return {"type": raw["type"]} | {key: item for key, item in raw.items() if key not in _CALL}


def _tool_result(raw: dict[str, Any], names: Names) -> Block | None:
    call = raw.get("tool_use_id")
    if type(call) is not str:
        return None
    fields = None
    if raw["type"] != "tool_result":
        fields = {"type": raw["type"]}
        fields |= {key: item for key, item in raw.items() if key not in ("tool_use_id", "cache_control")}
    return assemble(
        ToolOutput,
        {
            "kind": "tool_output",
            "call_id": call,
            "name": names.get(call),
            "parts": _read_parts(raw.get("content")),
            "is_error": raw.get("is_error") is True,
            "status": None,
            "artifact": None,
            "provider_fields": fields,
        },
    )


def _read_parts(content: Any) -> tuple[Part, ...]:
    if type(content) is str:
        return (_make_text(content),)
    if content is None:
        return ()
    return tuple(map(_part, content if type(content) is list else [content]))


def _part(raw: Any) -> Part:
    if type(raw) is dict and raw.get("type") not in ("text", "image", "document"):
        return _unknown(raw)
    return cast(Part, read_block(raw, {}))


def _image(raw: dict[str, Any], names: Names) -> Block | None:
    source = _source(raw)
    data, url = source.get("data"), source.get("url")
    if source.get("type") == "base64" and type(data) is str:
        width, height = measure(data) or (None, None)
        return build(Image, media_type=_chars(source, "media_type"), width=width, height=height, data=data)
    if source.get("type") == "url" and type(url) is str:
        return build(Image, media_type=_chars(source, "media_type"), url=url)
    return None


def _document(raw: dict[str, Any], names: Names) -> Block | None:
    source = _source(raw)
    kind, data, url, content = (
        source.get("type"),
        source.get("data"),
        source.get("url"),
        source.get("content"),
    )
    labels = {"media_type": _chars(source, "media_type"), "title": _chars(raw, "title")}
    if kind == "text" and type(data) is str:
        return build(Document, text=data, **labels)
    if kind == "base64" and type(data) is str:
        return build(Document, data=data, **labels)
    if kind == "url" and type(url) is str:
        return build(Document, url=url, **labels)
    if kind == "content" and type(content) is str:
        return build(Document, text=content, **labels)
    return None


def _source(raw: dict[str, Any]) -> dict[str, Any]:
    source = raw.get("source")
    return source if type(source) is dict else {}


def _chars(raw: dict[str, Any], name: str) -> str | None:
    value = raw.get(name)
    return value if type(value) is str else None


_READERS: dict[str, Callable[[dict[str, Any], Names], Block | None]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "mcp_tool_use": _tool_use,
    "tool_result": _tool_result,
    "image": _image,
    "document": _document,
}

SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
"""Types of calls of tools that the provider runs itself; all other types that end in `_tool_result` are their
results."""
_CALL = ("id", "name", "input", "cache_control")
_CALLER_FIELDS = ("caller", "toolset_name")
DIRECT = {"type": "tool_use", "caller": {"type": "direct"}}
"""Fields of a call by the model itself, which is the usual case."""

# Fields of a block's JSON that the block contains; the entry stores the rest. Blocks of other types belong to
# tools that the provider runs, and contain all fields except `cache_control`.
_READ_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
    "tool_use": ("type", "id", "name", "input", *_CALLER_FIELDS),
    "tool_result": ("type", "tool_use_id", "content", "is_error"),
    "image": ("type", "source"),
    "document": ("type", "source", "title"),
}


def read_with_rest(raw: Any, names: Names) -> tuple[Block, dict[str, Any]]:
    """Convert a block. Returns also the unread fields of its JSON."""
    block = read_block(raw, names)
    return block, {} if block.kind == "unknown" or not isinstance(raw, dict) else find_rest(raw)


def find_rest(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a block's JSON that the block does not contain."""
    read = _READ_FIELDS.get(raw["type"])
    return {key: raw[key] for key in raw if (key == "cache_control" if read is None else key not in read)}


def write_tool_block(block: ToolCall | ToolOutput) -> dict[str, Any]:
    """Write a call, or the output of a tool run by the provider, in the form of the Messages API."""
    fields = block.provider_fields or {"type": "tool_use"}
    kind = {"type": fields.get("type")}
    if isinstance(block, ToolCall):
        return kind | {"id": block.id, "name": block.name, "input": block.input} | fields
    written = kind | {"tool_use_id": block.call_id} | fields
    if not _is_unchanged(block):
        written["content"] = [{"type": "text", "text": block.text}]
    return written


def find_unwritable(blocks: Iterable[Block]) -> frozenset[str]:
    """Return the ids of calls whose results cannot be sent back: provider results whose text was replaced.

    Results of MCP servers may contain any text and are not included. All other results of provider tools
    need content of their own type.
    """
    return frozenset(
        block.call_id
        for block in blocks
        if isinstance(block, ToolOutput)
        and block.provider_fields is not None
        and block.provider_fields.get("type") != "mcp_tool_result"
        and not _is_unchanged(block)
    )


def _is_unchanged(output: ToolOutput) -> bool:
    """Whether the parts of an output are the ones that the provider wrote."""
    return _read_parts((output.provider_fields or {}).get("content")) == output.parts
