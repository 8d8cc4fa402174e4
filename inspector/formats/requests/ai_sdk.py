"""Messages of Vercel's AI SDK, as an app saves its chats: those of the screen, or those of the model.

In go the bytes of a list or lines of messages, or of an object around a list, out comes a `Session`. Source:
FORMATS §12. A message of the screen holds a reply with all its steps: each step is a request, and becomes a
reply and what its calls were answered. Parts that only the screen shows (sources, data) are kept beside the
reply. The SDK has no compaction, and saves no usage: where an app puts the SDK's own (`LanguageModelUsage`)
into a reply's `metadata`, as `usage` or `totalUsage`, it is that of a reply of one step. Of several steps it
is their sum, and of older versions nobody can tell whether the cache is part of the input: neither counts.

Before version 5 a call stood with its result in a `tool-invocation` part, before version 4.2 in a list
`toolInvocations` beside the words, which the model said after its calls. Messages of the model then named a
call's input `args` and its output `result`.
"""

from __future__ import annotations

from typing import Any

from ...errors import ReadError
from ...session.blocks import Document, Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Source, Usage
from ...session.garbage import paused_gc
from ...session.json_text import stringify
from ...session.session import Session
from ...text import plural
from ..json_document import FILE, Fields, Found, find_blocks, load, place, sniff_document, unknown
from ..json_lines import Data, Reader, iter_values
from ..recording import Json, Recording, first_rows, parse_given, read_inclusive, take_time

NAME = "ai-sdk"
INVOCATION = "tool-invocation"
USED, CACHED = ("usage", "totalUsage"), ("cacheReadTokens", "cacheWriteTokens")
SEALED = ("reasoningEncryptedContent", "redactedData")
FILES = ("experimental_attachments", "attachments")
ROLES = ("system", "user", "assistant", "tool")
PLAIN = ("file", "step-start", "source-url", "source-document", "source")


def sniff(data: Data) -> str | None:
    """None for messages whose parts are the AI SDK's; those of plain words alone may be anyone's."""
    reason = sniff_document(data, _judge)
    return _judge(first_rows(data)) if reason is not None and "several" in reason else reason


def _judge(value: Any) -> str | None:
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return "neither a JSON list nor an object with `messages`"
    if isinstance(value, dict) and {"projectRoot", "storeId", "smState"} & set(value):
        return "its messages stand in a manifest of stud's"
    if any("monotonicTs" in Fields(message).rest for message in messages):
        return "its messages are stud's"
    marked = nameless = worded = False
    for raw in messages[:64]:
        message = Fields(raw)
        if not isinstance(raw, dict):
            continue  # counted as corrupt, where the others tell whose they are
        if message.text("role") not in ROLES:
            return "its messages have other roles than the AI SDK's"
        parts = message.items("parts")
        if parts is not None:
            if not all(map(_is_shown, parts)):
                return "its parts are none of the AI SDK's"
            # A message that was sent to a server may have no id, but then its parts must tell.
            marked = marked or any(map(_is_step, parts))
            nameless = nameless or not isinstance(message.rest.get("id"), str)
            worded = worded or bool(parts)
        marked = marked or any(map(_is_call, message.items("content") or ()))
        marked = marked or any(map(_is_invocation, message.items("toolInvocations") or ()))
    marked = marked or (worded and not nameless)
    return None if marked else "none of its first messages has parts of the AI SDK's"


def _is_step(part: Any) -> bool:
    """Whether a part can be nobody else's: a call with its state, or where a step begins."""
    kind = str(Fields(part).rest.get("type"))
    return kind == "step-start" or kind == INVOCATION or "toolCallId" in Fields(part).rest


def _is_shown(part: Any) -> bool:
    """Whether a part is one of a message of the screen."""
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
    """Whether a part is a call or a result of a message of the model's."""
    fields = Fields(part).rest
    held = {"tool-call": {"input", "args"}, "tool-result": {"output", "result"}}.get(str(fields.get("type")))
    return bool(held and held & set(fields)) and {"toolCallId", "toolName"} <= set(fields)


def _is_invocation(raw: Any) -> bool:
    """Whether this is a call of before version 5, with its result where it has one."""
    return {"toolCallId", "toolName", "args", "state"} <= set(Fields(raw).rest)


def _renew(raw: Any) -> Json:
    """A call of before version 5 as a part of now."""
    fields = Fields(raw)
    given = fields.any("args")
    part: Json = {**fields.rest, "type": INVOCATION, "input": given}
    if fields.rest.get("state") == "result":
        return {**part, "output": part.pop("result", None), "state": "output-available"}
    return part


@paused_gc()
def read(data: Data) -> Session:
    """All messages. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    reading = _SavedMessages()
    if "several" in (sniff_document(data, _judge) or ""):
        for source, row in iter_values(data, reading.made.corrupt):
            reading.take(source, row)
        return reading.make_session()
    document = load(data)
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list):
        raise ReadError(FILE, detail="it has no list of messages")
    about = Fields(document, "messages")
    for line, raw in enumerate(messages, 1):
        reading.take(place(line), raw)
    return reading.make_session(id=about.text("id") or "", title=about.text("title"), extra=about.rest)


class _SavedMessages:
    """What has been read, message after message."""

    def __init__(self) -> None:
        self.made = Recording(NAME)
        self.names: dict[str, str] = {}
        self.system: list[Text] = []
        self.untold = 0

    def make_session(self, **fields: Any) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        if self.untold:
            whose = plural(self.untold, "reply", "replies")
            self.made.warnings.append(
                f"what {whose} took is told as a sum of requests, or without the cache's share: not counted"
            )
        return self.made.make_session(system=tuple(self.system), **fields)

    def take(self, source: Source, raw: Any) -> None:
        """One message of either form."""
        fields = Fields(raw)
        role = fields.text("role")
        if not isinstance(raw, dict) or role is None:
            self.made.spoil(source, "a message without a role")
            return
        if role not in ROLES:
            self.made.note(f"message of role {role}"[:60], source, known=False)
            return
        name = fields.text("id") or f"m{source.line}"
        parts = fields.items("parts")
        time = take_time(fields) or take_time(Fields(fields.rest.get("metadata")))
        if role == "system" and not self.made.entries:
            found = find_blocks(parts if parts is not None else fields.any("content"), self._read_part)
            self.system += [block for block, _ in found if isinstance(block, Text)]
            self.made.note("system prompt", source)
            return
        if (calls := fields.items("toolInvocations")) and not parts:
            said = fields.any("content")
            words = [{"type": "step-start"}, {"type": "text", "text": said}] if said else []
            parts = [*map(_renew, calls), *words]
        if role == "assistant" and parts is not None:
            self._add_steps(name, source, parts, fields.rest, time)
            return
        found = find_blocks(parts if parts is not None else fields.any("content"), self._read_part)
        files = [each for key in FILES for each in fields.items(key) or ()]
        found += [
            self._read_part(_renew_file(each)) if isinstance(each, dict) else unknown(each) for each in files
        ]
        if role == "tool":
            outputs = [pair for pair in found if isinstance(pair[0], ToolOutput)]
            rest = [block.model_dump() for block, _ in found if not isinstance(block, ToolOutput)]
            more = {"parts": rest} if rest else {}
            self.made.add(name, "tool", outputs, source, fields.rest | more, timestamp=time)
        elif role == "assistant":
            self.made.add(name, role, found, source, fields.rest, timestamp=time)
        else:
            own: Json = {"meta": True} if role == "system" else {}
            self.made.add(name, "user", found, source, fields.rest, timestamp=time, **own)

    def _add_steps(self, name: str, source: Source, parts: list[Any], extra: Json, time: str | None) -> None:
        """A reply of the screen, step by step."""
        steps: list[list[Any]] = [[]]
        for part in parts:
            held = Fields(part).rest.get("toolInvocation", part)
            if _is_invocation(held):
                part = _renew(held)
            if Fields(part).rest.get("type") == "step-start":
                if steps[-1]:
                    steps.append([])
                continue
            steps[-1].append(part)
        first: Source | None = source
        metadata = Fields(extra.get("metadata"))
        usage, told = _read_usage(metadata, len(steps))
        self.untold += not told
        for number, step in enumerate(steps, 1):
            found: list[Found] = []
            outputs: list[Found] = []
            left: list[Any] = []
            for part in step:
                kind = str(Fields(part).rest.get("type"))
                if (kind.startswith("tool-") and "toolCallId" in part) or kind == "dynamic-tool":
                    self._add_call(kind, Fields(part), found, outputs)
                elif kind.startswith(("data-", "source")):
                    left.append(part)
                else:
                    found.append(self._read_part(part))
            own = name if number == 1 else f"{name}/{number}"
            more = (extra if number == 1 else {}) | ({"parts": left} if left else {})
            told_: Json = {"model": Fields(metadata.rest).text("model"), "usage": usage, "timestamp": time}
            entry = self.made.add(own, "assistant", found, first, more, **told_)
            first = None
            if outputs:
                self.made.add(f"{entry.id}/results", "tool", outputs, None, timestamp=time)

    def _add_call(self, kind: str, fields: Fields, found: list[Found], outputs: list[Found]) -> None:
        """A call, and what it was answered: both stand in one part."""
        fields.any("type")
        call = fields.text("toolCallId") or ""
        tool = fields.text("toolName") or kind.removeprefix("tool-")
        self.names[call] = tool
        given = fields.any("input") if "input" in fields.rest else None
        state = fields.rest.get("state")
        block: ToolOutput | None = None
        if state == "output-available":
            answer = fields.any("output")
            block = _make_answer(call, answer, tool, failed=False)
        elif state in ("output-error", "output-denied"):
            told = fields.text("errorText") or Fields(fields.rest.get("approval")).text("reason")
            block = _make_answer(call, told or "", tool, failed=True)
        found.append((ToolCall(id=call, name=tool, input=given), fields.rest))
        if block is not None:
            outputs.append((block, {}))

    def _read_part(self, raw: Any) -> Found:
        """A part of a message of either form."""
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
            self.names[call] = tool
            given = fields.any("input") if "input" in fields.rest else fields.any("args")
            return ToolCall(id=call, name=tool, input=parse_given(given)), fields.rest
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
            held = fields.text("url") or fields.text("data") or fields.text("image")
            title = fields.text("filename")
            _, comma, data = (held or "").partition(";base64,")
            link = (held or "").startswith(("http:", "https:"))
            given_ = {"data": data} if comma else {"url": held} if link else {"data": held}
            if kind == "image" or (sort_ or "").startswith("image/"):
                return Image(media_type=sort_, **given_), fields.rest
            return Document(media_type=sort_, title=title, **given_), fields.rest
        return unknown(raw)


def _read_thought(text: str, fields: Fields) -> Reasoning:
    """What the model thought, with its seal as the provider gave it."""
    about = Fields(fields.rest.get("providerMetadata", fields.rest.get("providerOptions"))).rest.values()
    seals = [Fields(each) for each in about]
    sealed = (told for each in seals for key in SEALED if (told := each.text(key)) is not None)
    signatures = (told for each in seals if (told := each.text("signature")) is not None)
    return Reasoning(text=text, encrypted=next(sealed, None), signature=next(signatures, None))


def _renew_file(raw: Any) -> Json:
    """A file that was attached beside the words of a prompt, as a part of now."""
    fields = Fields(raw)
    sort, name = fields.any("contentType"), fields.any("name")
    return {**fields.rest, "type": "file", "mediaType": sort, "filename": name}


def _read_usage(metadata: Fields, steps: int) -> tuple[Usage | None, bool]:
    """What the metadata of a reply says that it took, and whether nothing is said that cannot be counted."""
    used = next(
        (Fields(metadata.rest[key]) for key in USED if isinstance(metadata.rest.get(key), dict)), None
    )
    if used is None or not {"inputTokens", "outputTokens"} <= set(used.rest):
        return None, True
    details = Fields(used.rest.get("inputTokenDetails"))
    # What older versions call cached is part of the input by some providers, and beside it by others.
    unclear = not details.rest and bool(used.rest.get("cachedInputTokens"))
    if steps > 1 or unclear:
        return None, False
    told = {**used.rest, **{key: details.rest.get(key) for key in CACHED}}
    return read_inclusive(told, "inputTokens", "outputTokens", *CACHED, "totalTokens"), True


def _make_answer(call: str, value: Any, tool: str | None, *, failed: bool) -> ToolOutput:
    """What a tool answered: its words, else its JSON."""
    words = value if isinstance(value, str) else "" if value is None else stringify(value)
    return ToolOutput(call_id=call, name=tool, parts=(Text(text=words),), is_error=failed)


READER = Reader(NAME, "AI SDK chat", sniff, read)
