"""Read messages of OpenAI's two APIs, Anthropic, LangChain and OpenTelemetry as `ChatMessage`s.

A log of requests may contain messages of all these forms; each is recognised by its fields. Sources: FORMATS
§9, §12, §13. Unknown fields are stored with the message.

A block of Bedrock's Converse API, which Strands also writes to traces, is an object with one key, its kind,
such as `{"text": …}`, `{"toolUse": …}` or `{"toolResult": …}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...session.blocks import Document, Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Tool, Usage
from ...session.json_text import stringify
from ..json_document import Fields, ParsedBlock, find_blocks, join_texts, make_usage, unknown
from ..recording import Json, make_call, make_output, parse_arguments, read_inclusive, take_time
from .anthropic_blocks import SERVER_CALLS, read_with_rest
from .anthropic_blocks import read_usage as read_anthropic_usage

MARKS = frozenset(["cachePoint"])
"""Blocks without content for the model."""
INPUT_KEYS = ("arguments", "input", "action", "operation", "code", "queries")
"""Fields that may contain the input of a call."""
OUTPUT_KEYS = ("output", "outputs", "results", "error")
"""Fields that may contain the output of a call, if the provider ran the tool."""
ANSWERS = ("tool_call_id", "name", "tool_name")
"""Fields by which a tool's message names its call."""
CALLS = frozenset(["tool_calls", "function_call"])
"""Fields with the calls of a message."""
Names = dict[str, str]
INSTRUCTIONS = ("system", "developer")
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}
_ANTHROPIC = ("tool_use", "thinking", "redacted_thinking", "image", "document", *SERVER_CALLS)
"""Types of Anthropic's blocks, in addition to all that end in `tool_result`."""
_VERSIONED = re.compile(r"_\d{8}$")
"""The end of the types of Anthropic's own tools."""
_TOOLS, _SCHEMAS = ("function", "toolSpec"), ("parameters", "input_schema", "inputSchema")
_CONVERSE = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "totalTokens")
_WORDS = ("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal")


def _split_marks(content: Any) -> tuple[Any, list[Any]]:
    """Split the content of a message into blocks and cache points."""
    if not isinstance(content, list):
        return content, []
    marks = [part for part in content if isinstance(part, dict) and part.keys() == MARKS]
    return [part for part in content if part not in marks] if marks else content, marks


def _read_converse_block(fields: Fields, names: Names) -> ParsedBlock | None:
    """Read an object without a type as a block. Return None if it is not a kind of block of Converse.

    `names` maps calls to the names of their tools.
    """
    kind = next((key for key in _CONVERSE_READERS if isinstance(fields.rest.get(key), dict)), None)
    if kind is None:
        return None
    inner = Fields(fields.rest[kind])
    result = _CONVERSE_READERS[kind](inner, names)
    if result is None:
        return None
    block, rest = result
    others = {key: value for key, value in fields.rest.items() if key != kind}
    return block, others | rest | inner.rest


def _read_converse_call(inner: Fields, names: Names) -> ParsedBlock | None:
    call, name = inner.text("toolUseId"), inner.text("name")
    if call is None or name is None:
        return None
    names[call] = name
    return ToolCall(id=call, name=name, input=inner.any("input")), {}


def _read_result(inner: Fields, names: Names) -> ParsedBlock | None:
    call = inner.text("toolUseId")
    if call is None:
        return None
    failed = inner.rest.get("status") == "error"
    content = [
        {"text": stringify(part["json"])} if isinstance(part, dict) and part.keys() == {"json"} else part
        for part in inner.items("content") or ()
    ]
    return read_answer(call, content, names, failed=failed)


def _read_converse_reasoning(inner: Fields, _: Names) -> ParsedBlock | None:
    thought = Fields(inner.object("reasoningText"))
    text, sealed = thought.text("text"), thought.text("signature")
    hidden = inner.text("redactedContent")
    if text is None and hidden is None:
        return None
    return Reasoning(text=text or "", encrypted=sealed or hidden), thought.rest


def _read_image(inner: Fields, _: Names) -> ParsedBlock | None:
    data, link, _words = _take_source(inner)
    sort = inner.text("format")
    return Image(media_type=f"image/{sort}" if sort else None, data=data, url=link), {}


def _read_document(inner: Fields, _: Names) -> ParsedBlock | None:
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


def _read_citations(inner: Fields, _: Names) -> ParsedBlock | None:
    texts = [Fields(part).text("text") for part in inner.items("content") or ()]
    return Text(text="".join(text for text in texts if text)), {}


def _read_guarded(inner: Fields, _: Names) -> ParsedBlock | None:
    text = Fields(inner.rest.get("text")).text("text")
    return None if text is None else (Text(text=text), {})


_CONVERSE_READERS: dict[str, Callable[[Fields, Names], ParsedBlock | None]] = {
    "toolUse": _read_converse_call,
    "toolResult": _read_result,
    "reasoningContent": _read_converse_reasoning,
    "image": _read_image,
    "document": _read_document,
    "video": _read_document,
    "citationsContent": _read_citations,
    "guardContent": _read_guarded,
}


@dataclass
class ChatMessage:
    """A message: its role, its blocks with the unread fields of their JSON, and the other fields."""

    role: str
    parsed_blocks: list[ParsedBlock] = field(default_factory=list)
    extra: Json = field(default_factory=dict)

    @cached_property
    def print(self) -> str:
        """The content by which a repeated message is recognised: text, calls and outputs, no reasoning."""
        content: list[Any] = [self.role]
        for block, _ in self.parsed_blocks:
            if isinstance(block, ToolCall):
                content.append(["call", block.name, block.input])
            elif isinstance(block, ToolOutput):
                content.append(["output", block.call_id, block.text])
            elif isinstance(block, Image | Document):
                content.append(["file", block.data or block.url or block.text])
            elif not isinstance(block, Reasoning) and block.text.strip():
                content.append(block.text.strip())
        return stringify(content)

    @property
    def text(self) -> str:
        """The text of the message."""
        return join_texts(self.parsed_blocks)


def read_chat(items: Any, names: Names) -> list[ChatMessage]:
    """Read the messages of a request or a reply. Consecutive items of one reply become one message."""
    if isinstance(items, str):
        return [ChatMessage("user", [(Text(text=items), {})])]
    messages: list[ChatMessage] = []
    joins = False
    for raw in items if isinstance(items, list) else ():
        if isinstance(raw, list):
            messages += read_chat(raw, names)
            joins = False
            continue
        message, item = read_message(raw, names)
        if item and joins and messages and messages[-1].role == message.role == "assistant":
            messages[-1].parsed_blocks += message.parsed_blocks
            messages[-1].extra |= message.extra
        else:
            messages.append(message)
        joins = item or message.role == "assistant"
    return messages


def read_message(raw: Any, names: Names) -> tuple[ChatMessage, bool]:
    """Read a message. Returns also whether it is an item of OpenAI's Responses API, several of which form a
    reply."""
    if isinstance(raw, str):
        return ChatMessage("user", [(Text(text=raw), {})]), False
    if not isinstance(raw, dict):
        return ChatMessage("unknown", [unknown(raw)]), False
    if raw.get("lc") == 1 and isinstance(raw.get("kwargs"), dict):
        kind = str((raw.get("id") or [""])[-1]).removesuffix("Chunk").removesuffix("Message").lower()
        raw = {"type": kind, **raw["kwargs"]}
    elif raw.get("type") in ("human", "ai", "system", "tool") and isinstance(raw.get("data"), dict):
        raw = {**raw["data"], "type": raw["type"]}
    kind = raw.get("type")
    if isinstance(kind, str) and "role" not in raw and kind not in ("human", "ai", "system", "tool"):
        return _read_item(kind, Fields(raw, "type"), names), True
    fields = Fields(raw)
    sender = fields.text("role") or (str(kind) if isinstance(kind, str) else "unknown")
    if fields.rest.get("type") in ("message", sender):
        fields.any("type")
    role = _ROLES.get(sender, sender)
    for key in ("content", "parts"):
        content, marks = _split_marks(fields.rest.get(key))
        if marks:
            fields.rest |= {key: content, "marks": marks}
    if isinstance(parts := fields.rest.get("parts"), list):
        fields.any("parts")
        parsed_blocks = [read_part(part, names) for part in parts]
    elif role == "tool" and (
        sender == "function"
        or any(name in fields.rest for name in ANSWERS)
        or isinstance(fields.rest.get("content"), str)
    ):
        # Some messages name only the tool, and their calls have no other id.
        call = fields.text("tool_call_id") or fields.text("name") or fields.text("tool_name") or ""
        # Inspect names the function, and stores an error next to the output.
        called = fields.rest.get("function")
        tool = names.get(call) or (called if isinstance(called, str) else None)
        failed = isinstance(fields.rest.get("error"), dict)
        output = fields.any("content")
        parsed_blocks = [read_answer(call, output, names, tool, failed=failed)]
    else:
        thought = fields.text("reasoning_content") or fields.text("reasoning")
        parsed_blocks = [(Reasoning(text=thought), {})] if thought else []
        parsed_blocks += find_blocks(fields.any("content"), lambda part: read_part(part, names))
        if (refusal := fields.text("refusal")) is not None:
            parsed_blocks.append((Text(text=refusal), {"refusal": True}))
    if fields.rest.get("role") is not None:
        parsed_blocks.append(unknown(fields.any("role"), "role"))
    call_ids = {block.id for block, _ in parsed_blocks if isinstance(block, ToolCall)}
    parsed_blocks += [
        call for call in _read_calls(fields, names) if getattr(call[0], "id", None) not in call_ids
    ]
    return ChatMessage(role, parsed_blocks, fields.rest), kind == "message" and "id" in raw


def _read_calls(fields: Fields, names: Names) -> Iterable[ParsedBlock]:
    calls = fields.items("tool_calls") or []
    if isinstance(fields.rest.get("tool_calls"), str) and isinstance(
        listed := parse_arguments(fields.rest["tool_calls"]), list
    ):
        # Tables store the list as JSON.
        calls = listed
        fields.any("tool_calls")
    old = fields.object("function_call")
    for key in sorted(CALLS):
        if key in fields.rest:
            yield unknown(fields.any(key), key)
    for raw in [*calls, *([{"function": old}] if old is not None else [])]:
        inner = Fields(raw, "type")
        # A call of a tool that takes plain text has its name in another field.
        function = Fields(inner.object("function") or inner.object("custom"))
        name = function.text("name") or inner.text("name") or inner.text("function")
        if name is None:
            yield unknown(raw)
            continue
        args = next((function.any(key) for key in ("arguments", "input") if key in function.rest), None)
        for key in ("args", "arguments", "input"):
            if args is None and key in inner.rest:
                args = inner.any(key)
        yield make_call(names, inner.text("id") or name, name, args), inner.rest | function.rest


def _read_item(kind: str, fields: Fields, names: Names) -> ChatMessage:
    """Read an item of OpenAI's Responses API."""
    if kind.endswith("_output"):
        call = fields.text("call_id") or ""
        found_tools = "tools" in fields.rest and "output" not in fields.rest
        # The result of a tool search is sent to the model unchanged.
        output = stringify(fields.any("tools")) if found_tools else fields.any("output")
        return ChatMessage("tool", [read_answer(call, output, names)], fields.rest)
    if kind == "reasoning":
        texts = [
            text
            for name in ("summary", "content")
            for part in fields.items(name) or ()
            if (text := Fields(part).text("text")) is not None
        ]
        block_ = Reasoning(text="\n".join(texts), encrypted=fields.text("encrypted_content"))
        return ChatMessage("assistant", [(block_, fields.rest)])
    if kind == "compaction":
        return ChatMessage(
            "compaction", [(Reasoning(encrypted=fields.text("encrypted_content")), fields.rest)]
        )
    if kind.endswith("_call"):
        call = fields.text("call_id") or fields.text("id") or ""
        name = fields.text("name") or kind.removesuffix("_call")
        input_key = next((key for key in INPUT_KEYS if key in fields.rest), "")
        call_block = make_call(names, call, name, fields.any(input_key))
        answered = next((key for key in OUTPUT_KEYS if fields.rest.get(key)), None)
        if answered is None:
            return ChatMessage("assistant", [(call_block, fields.rest)])
        answer, failed = fields.any(answered), answered == "error"
        answer_content = answer if isinstance(answer, str) else stringify(answer)
        output = read_answer(call, answer_content, names, name, failed=failed)
        return ChatMessage("assistant", [(call_block, fields.rest), output])
    return ChatMessage("assistant", [unknown({"type": kind, **fields.rest})])


def read_part(raw: Any, names: Names) -> ParsedBlock:
    """Convert a part of a message's content, in any of the forms."""
    if isinstance(raw, str):
        return Text(text=raw), {}
    fields = Fields(raw)
    kind = fields.rest.get("type")
    anthropic = kind in _ANTHROPIC or (isinstance(kind, str) and kind.endswith("tool_result"))
    if anthropic and ("source" in fields.rest or kind not in ("image", "document")):
        return read_with_rest(raw, names)
    if kind is None and (block := _read_converse_block(fields, names)) is not None:
        return block
    fields.any("type")
    if kind in _WORDS or kind is None:
        text = next(
            (t for key in ("text", "content", "refusal") if (t := fields.text(key)) is not None), None
        )
        if text is not None:
            return Text(text=text), fields.rest
    if kind == "reasoning" and (text := fields.text("content") or fields.text("text")) is not None:
        return Reasoning(text=text, encrypted=fields.text("encrypted_content")), fields.rest
    if kind in ("image_url", "input_image", "computer_screenshot"):
        image = fields.any("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        if isinstance(url, str):
            head, comma, data = url.partition(";base64,")
            if comma:
                return Image(media_type=head.removeprefix("data:"), data=data), fields.rest
            return Image(url=url), fields.rest
    if kind in ("tool-call", "tool-result") and (number := fields.text("toolCallId")) is not None:
        return _read_sdk_part(number, kind, fields, names)
    if kind == "tool_call" and (name := fields.text("name")) is not None:
        call = fields.text("id") or name
        args = fields.any("arguments") if "arguments" in fields.rest else fields.any("args")
        return make_call(names, call, name, args), fields.rest
    if kind == "tool_call_response":
        call = fields.text("id") or ""
        answer_key = next((key for key in ("response", "result", "content") if key in fields.rest), "")
        answer: Any = fields.any(answer_key)
        answer_content = answer if isinstance(answer, str | list | None) else stringify(answer)
        return read_answer(call, answer_content, names)
    if kind in ("input_audio", "input_file") or (kind == "file" and isinstance(raw.get("file"), dict)):
        return _read_file(kind, fields)
    if kind in ("blob", "uri", "file"):
        content, link = fields.text("data") or fields.text("content"), fields.text("uri")
        sort = fields.text("mime_type") or fields.text("modality")
        if (sort or "").startswith("image"):
            return Image(media_type=sort, data=content, url=link), fields.rest
        return Document(media_type=sort, data=content, url=link), fields.rest
    if kind == "compaction" and (text := fields.text("content")) is not None:
        return Text(text=text), {**fields.rest, "type": kind}
    return unknown(raw)


def _read_file(kind: str, fields: Fields) -> ParsedBlock:
    """Read a recording or a file in an OpenAI message, with its data, URL or id."""
    inner = fields if kind == "input_file" else Fields(fields.object(kind))
    value = inner.text("file_data") or inner.text("data")
    head, comma, data = (value or "").partition(";base64,")
    media_type = head.removeprefix("data:") if comma else None
    if kind == "input_audio" and (form := inner.text("format")) is not None:
        media_type = f"audio/{form}"
    block = Document(
        media_type=media_type,
        title=inner.text("filename"),
        data=data if comma else value,
        url=inner.text("file_url"),
    )
    return block, inner.rest if inner is fields else {**fields.rest, **inner.rest}


def _read_sdk_part(call: str, kind: str, fields: Fields, names: Names) -> ParsedBlock:
    """Convert a call or its result as the AI SDK writes it to a trace."""
    name = fields.text("toolName") or names.get(call) or ""
    names[call] = name
    keys = ("input", "args") if kind == "tool-call" else ("output", "result")
    payload = fields.any(next((key for key in keys if key in fields.rest), ""))
    if kind == "tool-call":
        return ToolCall(id=call, name=name, input=parse_arguments(payload)), fields.rest
    value = Fields(payload).rest.get("value", payload)
    answer = value if isinstance(value, str | list | None) else stringify(value)
    return read_answer(call, answer, names, name)


def read_answer(
    call: str, content: Any, names: Names, tool: str | None = None, *, failed: bool = False
) -> ParsedBlock:
    """Convert the result of a call; without the name of its tool, by the name that the call had."""
    tool = names.get(call) if tool is None else tool
    return make_output(call, content, lambda part: read_part(part, names), tool, failed=failed)


def read_chat_tools(raw: Any) -> tuple[Tool, ...]:
    """Return the tools of a request to OpenAI, Anthropic or Bedrock, except those without a name."""
    tools: list[Tool] = []
    for item in raw if isinstance(raw, list) else ():
        outer = Fields(item)
        fields = next(
            (Fields(outer.object(key)) for key in _TOOLS if isinstance(outer.rest.get(key), dict)), outer
        )
        name = fields.text("name")
        if name is not None:
            schema = next((fields.any(key) for key in _SCHEMAS if key in fields.rest), None)
            if fields is not outer and isinstance(schema, dict) and schema.keys() == {"json"}:
                schema = schema["json"]  # Bedrock's
            described, own = fields.text("description") or "", None
            if _VERSIONED.search(str(fields.rest.get("type"))):
                own = {key: fields.rest[key] for key in fields.rest if key != "cache_control"}
            tools.append(Tool(name=name, description=described, input_schema=schema, provider_fields=own))
    return tuple(tools)


def take_entry_fields(message: ChatMessage) -> Json:
    """Take the fields of an entry from a message: its time; for a reply also model and usage."""
    fields = Fields(message.extra)
    more: Json = {"timestamp": take_time(fields)}
    if message.role == "assistant":
        more |= {"model": fields.text("model"), "usage": read_chat_usage(fields.rest.get("usage"))}
    message.extra = fields.rest
    return more


def read_langchain_usage(raw: Any) -> Usage | None:
    """Return the usage that LangChain adds to a reply; the input includes cached tokens."""
    details = ("input_token_details/cache_read", "input_token_details/cache_creation")
    return read_inclusive(raw, "input_tokens", "output_tokens", *details, "total_tokens")


def read_chat_usage(raw: Any) -> Usage | None:
    """Return the usage of OpenAI, whose input includes cached tokens, or of Anthropic or Bedrock.

    >>> read_chat_usage({"prompt_tokens": 9, "completion_tokens": 2}).prompt
    9
    """
    fields = Fields(raw)
    if not fields.rest:
        return None
    if "prompt_tokens" in fields.rest or "completion_tokens" in fields.rest:
        # A proxy may write Anthropic's cache figure next to OpenAI's fields.
        cached = ("prompt_tokens_details/cached_tokens", "cache_read_input_tokens")
        keys = (cached, "cache_creation_input_tokens", "total_tokens")
        return read_inclusive(raw, "prompt_tokens", "completion_tokens", *keys)
    if "input_tokens_details" in fields.rest or "total_tokens" in fields.rest:
        cached = ("input_tokens_details/cached_tokens", "input_tokens_details/cache_read")
        keys = (cached, "input_tokens_details/cache_creation", "total_tokens")
        return read_inclusive(raw, "input_tokens", "output_tokens", *keys)
    if "input_tokens" in fields.rest:
        return read_anthropic_usage(fields.rest)
    if "inputTokens" in fields.rest:
        return make_usage(Fields({"usage": fields.rest}), _CONVERSE)
    return None
