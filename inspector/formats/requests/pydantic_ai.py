"""pydantic-ai's messages, as its own adapter writes them: requests and responses, each with parts.

In go the bytes, out comes a `Session`. Source: FORMATS §12. A part `compaction` in a response is the
provider's, and the window begins with it; in a request it is the harness's, and replaces what stood before.
One without content is sealed: nobody but its provider can read it. Usage counts what the cache gave as input.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...errors import ReadError
from ...session.blocks import Document, Image, Reasoning, Text, ToolCall
from ...session.entries import Source, Usage
from ...session.garbage import paused_gc
from ...session.json_text import stringify
from ...session.session import Session
from ..json_document import FILE, Fields, Found, find_blocks, load, place, sniff_document, unknown
from ..json_lines import Data, Reader
from ..recording import Json, Recording, make_output, parse_given, read_inclusive

NAME = "pydantic-ai"
KINDS = ("request", "response")
USED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
OLD = ("request_tokens", "response_tokens")


def _judge(value: Any) -> str | None:
    """None for a list of requests and responses whose parts tell their `part_kind`."""
    if not isinstance(value, list):
        return "not a JSON list"
    for raw in value[:8]:
        message = Fields(raw)
        if message.rest.get("kind") in KINDS:
            if any("part_kind" in Fields(part).rest for part in message.items("parts") or ()):
                return None
    return "none of its first messages is a request or a response with parts of pydantic-ai's"


@paused_gc()
def read(data: Data) -> Session:
    """All messages. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    messages = load(data)
    if not isinstance(messages, list):
        raise ReadError(FILE, detail="it is not a JSON list")
    reading = _AgentMessages()
    for line, raw in enumerate(messages, 1):
        reading.take(place(line), raw)
    return reading.make_session()


class _AgentMessages:
    """What has been read, message after message."""

    def __init__(self) -> None:
        self.made = Recording(NAME)
        self.system: list[Text] = []
        self.instructions: str | None = None
        self.names: dict[str, str] = {}
        self.about: Json = {}

    def take(self, source: Source, raw: Any) -> None:
        """One request or response."""
        if not isinstance(raw, dict):
            self.made.spoil(source, "a message that is not an object")
            return
        fields = Fields(raw)
        kind, parts = fields.text("kind"), fields.items("parts")
        if kind not in KINDS or parts is None:
            self.made.note(f"message of kind {kind}"[:60], source, known=False)
            return
        first = len(self.made.entries)
        self.about |= {key: value for key in ("run_id", "conversation_id") if (value := fields.any(key))}
        time = fields.text("timestamp")
        if time is None:
            time = next((stamp for part in parts if (stamp := Fields(part).text("timestamp"))), None)
        self.made.times += [time] if time else []
        if kind == "request":
            self._take_request(f"m{source.line}", fields, parts, time)
        else:
            self._take_response(f"m{source.line}", fields, parts, time)
        if len(self.made.entries) > first:
            added = self.made.entries[first]
            self.made.change(added.id, sources=(source,), extra=added.extra | fields.rest)
        else:
            self.made.note("system prompt" if kind == "request" else "empty response", source)

    def _take_request(self, name: str, fields: Fields, parts: list[Any], time: str | None) -> None:
        told = fields.text("instructions")
        self.instructions = told if told is not None else self.instructions
        runs: list[tuple[str, list[Found]]] = []
        for raw in parts:
            role, found = self._read_asked(raw)
            if role == "system" and not self.made.entries and not runs:
                self.system += [block for block, _ in found if isinstance(block, Text)]
                continue
            if runs and runs[-1][0] == role and role != "compaction":
                runs[-1][1].extend(found)
            else:
                runs.append((role, found))
        for at, (role, found) in enumerate(runs):
            own = f"{name}/{at + 1}" if at else name
            if role == "compaction":
                self._compact(own, found, time)
                continue
            more: Json = {"meta": role != "user"} if role != "tool" else {}
            self.made.add(own, "tool" if role == "tool" else "user", found, None, {}, timestamp=time, **more)

    def _read_asked(self, raw: Any) -> tuple[str, list[Found]]:
        """A part of a request, and whose it is."""
        fields = Fields(raw)
        kind = fields.text("part_kind")
        fields.any("timestamp")
        if kind == "compaction":
            return "compaction", [_read_compaction(fields)]
        if kind == "tool-return" or (kind == "retry-prompt" and fields.rest.get("tool_name") is not None):
            call, tool = fields.text("tool_call_id") or "", fields.text("tool_name")
            content = fields.any("content")
            words = content if isinstance(content, str) or content is None else stringify(content)
            failed = kind == "retry-prompt" or fields.rest.get("outcome") in ("failed", "denied")
            block, rest = make_output(call, words, unknown, tool or self.names.get(call), failed=failed)
            return "tool", [(block, rest | fields.rest)]
        if kind in ("user-prompt", "system-prompt", "retry-prompt", "instruction"):
            given = fields.any("content")
            found = find_blocks(given, _read_content)
            if found and fields.rest:
                found[0] = found[0][0], found[0][1] | fields.rest
            return {"user-prompt": "user", "system-prompt": "system"}.get(kind, "harness"), found
        return "harness", [unknown(raw, kind or "")]

    def _take_response(self, name: str, fields: Fields, parts: list[Any], time: str | None) -> None:
        usage = _read_usage(fields.rest.get("usage"))
        model, provider = fields.text("model_name"), fields.text("provider_name")
        stop = fields.text("finish_reason")
        found: list[Found] = []
        number = 0
        ends = 0
        for raw in [*parts, None]:
            compacts = isinstance(raw, dict) and raw.get("part_kind") == "compaction"
            if raw is not None and not compacts:
                found.append(self._read_said(raw))
                continue
            if found or (raw is None and not number and parts):
                own = f"{name}/{number + 1}" if number else name
                self.made.add(
                    own, "assistant", found, None, {}, timestamp=time, model=model, provider=provider
                )
                found, number, ends = [], number + 1, len(self.made.entries)
            if compacts:
                own = f"{name}/{number + 1}" if number else name
                inner = Fields(raw, "part_kind")
                self._compact(own, [_read_compaction(inner)], time)
                number, ends = number + 1, len(self.made.entries)
        if ends:
            self.made.change(self.made.entries[ends - 1].id, usage=usage, stop_reason=stop)

    def _read_said(self, raw: Any) -> Found:
        """A part of a response."""
        fields = Fields(raw)
        kind = fields.text("part_kind")
        if kind == "text" and (text := fields.text("content")) is not None:
            return Text(text=text), fields.rest
        if kind == "thinking" and (text := fields.text("content")) is not None:
            return Reasoning(text=text, signature=fields.text("signature")), fields.rest
        if kind in ("tool-call", "builtin-tool-call") and (tool := fields.text("tool_name")) is not None:
            call = fields.text("tool_call_id") or tool
            self.names[call] = tool
            return ToolCall(id=call, name=tool, input=parse_given(fields.any("args"))), fields.rest
        if kind == "builtin-tool-return":
            call, content = fields.text("tool_call_id") or "", fields.any("content")
            words = content if isinstance(content, str) or content is None else stringify(content)
            block, rest = make_output(call, words, unknown, fields.text("tool_name"))
            return block, rest | fields.rest
        if kind == "file" and (held := _read_binary(fields.rest.get("content"))) is not None:
            return held[0], held[1]
        return unknown(raw, kind or "")

    def _compact(self, name: str, found: list[Found], time: str | None) -> None:
        sealed = not any(block.text for block, _ in found if isinstance(block, Text))
        boundary: Json = {"extra": {"unreadable": True}} if sealed else {}
        self.made.compact(name, None, None, boundary, found=found, timestamp=time)

    def make_session(self) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        told = [Text(text=self.instructions)] if self.instructions else []
        return self.made.make_session(
            id=str(self.about.get("conversation_id") or self.about.get("run_id") or ""),
            system=(*self.system, *told),
            extra=self.about,
        )


def _read_compaction(fields: Fields) -> Found:
    text = fields.text("content")
    return (Text(text=text), fields.rest) if text is not None else (Reasoning(), fields.rest)


def _read_content(raw: Any) -> Found:
    """A part of a prompt: text, an address, or a file itself."""
    if isinstance(raw, str):
        return Text(text=raw), {}
    fields = Fields(raw)
    kind, url = fields.rest.get("kind"), fields.rest.get("url")
    if kind == "text" and (text := fields.text("content")) is not None:
        return Text(text=text), fields.rest
    if isinstance(kind, str) and kind.endswith("-url") and isinstance(url, str):
        fields.any("url")
        sort = fields.text("media_type")
        block = Image(media_type=sort, url=url) if kind == "image-url" else Document(media_type=sort, url=url)
        return block, fields.rest
    return _read_binary(raw) or unknown(raw)


def _read_binary(raw: Any) -> Found | None:
    fields = Fields(raw)
    if fields.rest.get("kind") != "binary" or not isinstance(fields.rest.get("data"), str):
        return None
    data, sort = fields.text("data"), fields.text("media_type")
    if (sort or "").startswith("image/"):
        return Image(media_type=sort, data=data), fields.rest
    return Document(media_type=sort, data=data), fields.rest


def _read_usage(raw: Any) -> Usage | None:
    if set(OLD) & set(Fields(raw).rest):
        # Providers' own names of what the cache gave and took.
        details = Fields(Fields(raw).rest.get("details"))
        cached = details.number("cached_tokens") or details.number("cache_read_input_tokens")
        told = {**raw, "cached": cached, "written": details.number("cache_creation_input_tokens")}
        return read_inclusive(told, *OLD, "cached", "written")
    usage = read_inclusive(raw, *USED)
    return usage if usage is not None and (usage.prompt or usage.output) else None


READER = Reader(NAME, "pydantic-ai messages", partial(sniff_document, judge=_judge), read)
