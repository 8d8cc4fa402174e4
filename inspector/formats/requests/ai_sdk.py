"""Read messages of Vercel's AI SDK as apps save their chats: UI messages or model messages.

Source: FORMATS §12. The input is a list or lines of messages, or an object with a list. A UI message contains
a reply with all its steps: each step is a request and becomes a reply and the results of its calls. Parts
that only the screen shows (sources, data) are stored with the reply. The SDK has no compaction and saves no
usage. If an app puts the SDK's usage (`LanguageModelUsage`) into a reply's `metadata`, as `usage` or
`totalUsage`, it is the usage of a reply with one step. For several steps it is their sum, and in older
versions it is unknown whether the input includes cached tokens: such usage is not counted.

Before version 5, a call was stored with its result in a `tool-invocation` part; before version 4.2 in a list
`toolInvocations` next to the text, which followed the calls. In model messages, the fields `input` and
`output` of calls were then named `args` and `result`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...session.blocks import Document, Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Source, Usage
from ...session.garbage import paused_gc
from ...session.json_text import stringify
from ...session.session import Session
from ..json_document import (
    SEVERAL,
    Fields,
    ParsedBlock,
    find_blocks,
    load,
    placed,
    refuse,
    sniff_document,
    unknown,
)
from ..json_lines import Data, Reader, iter_values
from ..recording import Json, Reading, make_call, read_inclusive, sniff_records, take_time

NAME = "ai-sdk"
INVOCATION = "tool-invocation"
USED = ("usage", "totalUsage")
CACHED = ("inputTokenDetails/cacheReadTokens", "inputTokenDetails/cacheWriteTokens")
SEALED = ("reasoningEncryptedContent", "redactedData")
FILES = ("experimental_attachments", "attachments")
ROLES = ("system", "user", "assistant", "tool")
PLAIN = ("file", "step-start", "source-url", "source-document", "source")


def _judge(value: Any) -> str | None:
    """Return None for messages with parts of the AI SDK. Plain text alone does not identify them."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return "neither a JSON list nor an object with `messages`"
    if isinstance(value, dict) and {"projectRoot", "storeId", "smState"} & set(value):
        return "its messages are in a manifest of stud"
    if any("monotonicTs" in Fields(message).rest for message in messages):
        return "its messages are stud's"
    marked = nameless = worded = False
    for raw in messages[:64]:
        message = Fields(raw)
        if not isinstance(raw, dict):
            continue  # counted as corrupt if the other messages are the AI SDK's
        if message.text("role") not in ROLES:
            return "its messages have other roles than the AI SDK's"
        parts = message.items("parts")
        if parts is not None:
            if not all(map(_is_shown, parts)):
                return "its parts are not the AI SDK's"
            # Messages sent to a server may have no id; then only their parts can identify them.
            marked = marked or any(map(_is_step, parts))
            nameless = nameless or not isinstance(message.rest.get("id"), str)
            worded = worded or bool(parts)
        marked = marked or any(map(_is_call, message.items("content") or ()))
        marked = marked or any(map(_is_invocation, message.items("toolInvocations") or ()))
    marked = marked or (worded and not nameless)
    return None if marked else "none of its first messages has parts of the AI SDK's"


def _is_step(part: Any) -> bool:
    """Return whether a part identifies the AI SDK: a call with its state, or the start of a step."""
    kind = str(Fields(part).rest.get("type"))
    return kind == "step-start" or kind == INVOCATION or "toolCallId" in Fields(part).rest


def _is_shown(part: Any) -> bool:
    """Return whether a part belongs to a UI message."""
    fields = Fields(part)
    kind = fields.rest.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("text", "reasoning"):
        return isinstance(fields.rest.get("text", fields.rest.get(kind)), str)
    if kind == INVOCATION:
        return _is_invocation(fields.rest.get("toolInvocation", part))
    if kind.startswith("tool-") or kind == "dynamic-tool":
        return "toolCallId" in fields.rest and "state" in fields.rest
    return kind in PLAIN or kind.startswith("data-")


def _is_call(part: Any) -> bool:
    """Return whether a part is a call or a result of a model message."""
    fields = Fields(part).rest
    keys = {"tool-call": {"input", "args"}, "tool-result": {"output", "result"}}.get(str(fields.get("type")))
    return bool(keys and keys & set(fields)) and {"toolCallId", "toolName"} <= set(fields)


def _is_invocation(raw: Any) -> bool:
    """Return whether a value is a call from before version 5, with or without its result."""
    return {"toolCallId", "toolName", "args", "state"} <= set(Fields(raw).rest)


def _renew(raw: Any) -> Json:
    """Convert a call from before version 5 to the current form."""
    fields = Fields(raw)
    args = fields.any("args")
    part: Json = {**fields.rest, "type": INVOCATION, "input": args}
    if fields.rest.get("state") == "result":
        return {**part, "output": part.pop("result", None), "state": "output-available"}
    return part


@paused_gc()
def read(data: Data) -> Session:
    """Read all messages. Raises `ReadError`, or `EmptySession` if there are none."""
    reading = _SavedMessages()
    if SEVERAL in (sniff_document(data, _judge) or ""):
        return reading.read(iter_values(data, reading.corrupt))
    document = load(data)
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list):
        raise refuse("it has no list of messages")
    about = Fields(document, "messages")
    reading.about = {"id": about.text("id") or "", "title": about.text("title"), "extra": about.rest}
    return reading.read(placed(messages))


class _SavedMessages(Reading):
    """State while a chat is read message by message."""

    format = NAME
    untold = 0

    def finish(self) -> Session:
        lost = "the usage of {} is a sum of requests or lacks cached tokens: not counted"
        self.warn(self.untold, lost, "reply", "replies")
        return super().finish()

    def take(self, source: Source, raw: Any) -> None:
        fields = Fields(raw)
        role = fields.text("role")
        if not isinstance(raw, dict) or role is None:
            self.spoil("a message without a role")
            return
        if role not in ROLES:
            self.note(f"message of role {role}"[:60], is_known=False)
            return
        name = fields.text("id") or f"m{source.line}"
        parts = fields.items("parts")
        self.time = take_time(fields) or take_time(Fields(fields.rest.get("metadata")))
        if role == "system" and not self.entries:
            parsed_blocks = find_blocks(
                parts if parts is not None else fields.any("content"), self._read_part
            )
            self.system += [block for block, _ in parsed_blocks if isinstance(block, Text)]
            self.note("system prompt")
            return
        if (calls := fields.items("toolInvocations")) and not parts:
            old_text = fields.any("content")
            words = [{"type": "step-start"}, {"type": "text", "text": old_text}] if old_text else []
            parts = [*map(_renew, calls), *words]
        if role == "assistant" and parts is not None:
            self._add_steps(name, parts, fields.rest)
            return
        parsed_blocks = find_blocks(parts if parts is not None else fields.any("content"), self._read_part)
        files = [file for key in FILES for file in fields.items(key) or ()]
        parsed_blocks += [
            self._read_part(_renew_file(file)) if isinstance(file, dict) else unknown(file) for file in files
        ]
        if role == "tool":
            outputs = [pair for pair in parsed_blocks if isinstance(pair[0], ToolOutput)]
            rest = [block.model_dump() for block, _ in parsed_blocks if not isinstance(block, ToolOutput)]
            more = {"parts": rest} if rest else {}
            self.add(name, "tool", outputs, fields.rest | more)
        elif role == "assistant":
            self.add(name, role, parsed_blocks, fields.rest)
        else:
            own: Json = {"meta": True} if role == "system" else {}
            self.add(name, "user", parsed_blocks, fields.rest, **own)

    def _add_steps(self, name: str, parts: list[Any], extra: Json) -> None:
        """Add a reply of a UI message, step by step."""
        steps: list[list[Any]] = [[]]
        for part in parts:
            invocation = Fields(part).rest.get("toolInvocation", part)
            if _is_invocation(invocation):
                part = _renew(invocation)
            if Fields(part).rest.get("type") == "step-start":
                if steps[-1]:
                    steps.append([])
                continue
            steps[-1].append(part)
        metadata = Fields(extra.get("metadata"))
        usage, is_countable = _read_usage(metadata, len(steps))
        self.untold += not is_countable
        for number, step in enumerate(steps, 1):
            parsed_blocks: list[ParsedBlock] = []
            outputs: list[ParsedBlock] = []
            screen_parts: list[Any] = []
            for part in step:
                kind = str(Fields(part).rest.get("type"))
                if (kind.startswith("tool-") and "toolCallId" in part) or kind == "dynamic-tool":
                    self._add_call(kind, Fields(part), parsed_blocks, outputs)
                elif kind.startswith(("data-", "source")):
                    screen_parts.append(part)
                else:
                    parsed_blocks.append(self._read_part(part))
            own = name if number == 1 else f"{name}/{number}"
            more = (extra if number == 1 else {}) | ({"parts": screen_parts} if screen_parts else {})
            model = Fields(metadata.rest).text("model")
            entry = self.add(own, "assistant", parsed_blocks, more, model=model, usage=usage)
            if outputs:
                self.add(f"{entry.id}/results", "tool", outputs)

    def _add_call(
        self, kind: str, fields: Fields, parsed_blocks: list[ParsedBlock], outputs: list[ParsedBlock]
    ) -> None:
        """Add a call and its result, which are in the same part."""
        fields.any("type")
        call = fields.text("toolCallId") or ""
        tool = fields.text("toolName") or kind.removeprefix("tool-")
        self.names[call] = tool
        args = fields.any("input") if "input" in fields.rest else None
        state = fields.rest.get("state")
        block: ToolOutput | None = None
        if state == "output-available":
            answer = fields.any("output")
            block = _make_answer(call, answer, tool, failed=False)
        elif state in ("output-error", "output-denied"):
            reason = fields.text("errorText") or Fields(fields.rest.get("approval")).text("reason")
            block = _make_answer(call, reason or "", tool, failed=True)
        parsed_blocks.append((ToolCall(id=call, name=tool, input=args), fields.rest))
        if block is not None:
            outputs.append((block, {}))

    def _read_part(self, raw: Any) -> ParsedBlock:
        """Convert a part of a message of either form."""
        if isinstance(raw, str):
            return Text(text=raw), {}
        fields = Fields(raw)
        kind = fields.text("type")
        if (
            kind == "reasoning"
            and "text" not in fields.rest
            and (old := fields.text("reasoning")) is not None
        ):
            return Reasoning(text=old), fields.rest
        if kind in ("text", "reasoning") and (text := fields.text("text")) is not None:
            return (Text(text=text) if kind == "text" else _read_thought(text, fields)), fields.rest
        if kind == "tool-call" and (tool := fields.text("toolName")) is not None:
            call = fields.text("toolCallId") or tool
            args = fields.any("input") if "input" in fields.rest else fields.any("args")
            return make_call(self.names, call, tool, args), fields.rest
        if kind == "tool-result" and (call_id := fields.text("toolCallId")) is not None:
            name = fields.text("toolName") or self.names.get(call_id)
            output = fields.any("output") if "output" in fields.rest else fields.any("result")
            inner = Fields(output)
            sort = inner.rest.get("type")
            failed = isinstance(sort, str) and sort.startswith("error")
            value = inner.rest["value"] if isinstance(sort, str) and "value" in inner.rest else output
            return _make_answer(call_id, value, name, failed=failed), fields.rest
        if kind in ("file", "image"):
            sort_ = fields.text("mediaType") or fields.text("mimeType")
            content = fields.text("url") or fields.text("data") or fields.text("image")
            title = fields.text("filename")
            _, comma, data = (content or "").partition(";base64,")
            link = (content or "").startswith(("http:", "https:"))
            source_fields = {"data": data} if comma else {"url": content} if link else {"data": content}
            if kind == "image" or (sort_ or "").startswith("image/"):
                return Image(media_type=sort_, **source_fields), fields.rest
            return Document(media_type=sort_, title=title, **source_fields), fields.rest
        return unknown(raw)


def _read_thought(text: str, fields: Fields) -> Reasoning:
    """Convert reasoning, with the provider's signature or encrypted text."""
    about = Fields(fields.rest.get("providerMetadata", fields.rest.get("providerOptions"))).rest.values()
    seals = [Fields(provider) for provider in about]
    sealed = (value for provider in seals for key in SEALED if (value := provider.text(key)) is not None)
    signatures = (value for provider in seals if (value := provider.text("signature")) is not None)
    return Reasoning(text=text, encrypted=next(sealed, None), signature=next(signatures, None))


def _renew_file(raw: Any) -> Json:
    """Convert a file attached to a prompt to the current form."""
    fields = Fields(raw)
    sort, name = fields.any("contentType"), fields.any("name")
    return {**fields.rest, "type": "file", "mediaType": sort, "filename": name}


def _read_usage(metadata: Fields, steps: int) -> tuple[Usage | None, bool]:
    """Return the usage in a reply's metadata, and False if there is usage that cannot be counted."""
    used = next(
        (Fields(metadata.rest[key]) for key in USED if isinstance(metadata.rest.get(key), dict)), None
    )
    if used is None or not {"inputTokens", "outputTokens"} <= set(used.rest):
        return None, True
    details = Fields(used.rest.get("inputTokenDetails"))
    # In older versions the input includes cached tokens for some providers only.
    unclear = not details.rest and bool(used.rest.get("cachedInputTokens"))
    if steps > 1 or unclear:
        return None, False
    return read_inclusive(used.rest, "inputTokens", "outputTokens", *CACHED, "totalTokens"), True


def _make_answer(call: str, value: Any, tool: str | None, *, failed: bool) -> ToolOutput:
    """Convert a tool's result: its text, else its JSON."""
    words = value if isinstance(value, str) else "" if value is None else stringify(value)
    return ToolOutput(call_id=call, name=tool, parts=(Text(text=words),), is_error=failed)


READER = Reader(NAME, "AI SDK chat", partial(sniff_records, judge=_judge, judge_rows=_judge), read)
