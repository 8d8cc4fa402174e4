"""Read pydantic-ai's messages as its own adapter writes them: requests and responses, each with parts.

Source: FORMATS §12. A part `compaction` in a response is the provider's; the context begins with it. In a
request it is the harness's and replaces the earlier messages. Without content it is encrypted: only the
provider can read it. The input includes cached tokens.
"""

from __future__ import annotations

from typing import Any

from ...session.blocks import Document, Image, Reasoning, Text
from ...session.entries import Source, Usage
from ...session.json_text import stringify
from ...session.session import Session
from ..json_document import (
    Fields,
    ParsedBlock,
    document_reader,
    find_blocks,
    placed,
    refuse,
    unknown,
)
from ..recording import Json, Reading, make_call, make_output, read_inclusive

NAME = "pydantic-ai"
KINDS = ("request", "response")
USED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
OLD = ("request_tokens", "response_tokens")


def _judge(value: Any) -> str | None:
    """Return None for a list of requests and responses whose parts have a `part_kind`, else the reason."""
    if not isinstance(value, list):
        return "not a JSON list"
    for raw in value[:8]:
        message = Fields(raw)
        if message.rest.get("kind") in KINDS:
            if any("part_kind" in Fields(part).rest for part in message.items("parts") or ()):
                return None
    return "none of its first messages is a request or a response with pydantic-ai's parts"


def _read(messages: Any) -> Session:
    """Read all messages. Raises `ReadError`, or `EmptySession` if there are none."""
    if not isinstance(messages, list):
        raise refuse("it is not a JSON list")
    return _AgentMessages().read(placed(messages))


class _AgentMessages(Reading):
    """State while messages are read one by one."""

    format = NAME
    instructions: str | None = None

    def take(self, source: Source, raw: Any) -> None:
        if not isinstance(raw, dict):
            self.spoil("a message that is not an object")
            return
        fields = Fields(raw)
        kind, parts = fields.text("kind"), fields.items("parts")
        if kind not in KINDS or parts is None:
            self.note(f"message of kind {kind}"[:60], is_known=False)
            return
        first = len(self.entries)
        self.about |= {key: value for key in ("run_id", "conversation_id") if (value := fields.any(key))}
        times = (Fields(part).text("timestamp") for part in parts)
        self.time = fields.text("timestamp") or next(filter(None, times), None)
        self.times += [self.time] if self.time else []
        if kind == "request":
            self._take_request(f"m{source.line}", fields, parts)
        else:
            self._take_response(f"m{source.line}", fields, parts)
        if len(self.entries) > first:
            added = self.entries[first]
            self.change(added.id, extra=added.extra | fields.rest)
        else:
            self.note("system prompt" if kind == "request" else "empty response")

    def _take_request(self, name: str, fields: Fields, parts: list[Any]) -> None:
        instructions = fields.text("instructions")
        self.instructions = instructions if instructions is not None else self.instructions
        runs: list[tuple[str, list[ParsedBlock]]] = []
        for raw in parts:
            role, parsed_blocks = self._read_request_part(raw)
            if role == "system" and not self.entries and not runs:
                self.system += [block for block, _ in parsed_blocks if isinstance(block, Text)]
                continue
            if runs and runs[-1][0] == role and role != "compaction":
                runs[-1][1].extend(parsed_blocks)
            else:
                runs.append((role, parsed_blocks))
        for index, (role, parsed_blocks) in enumerate(runs):
            own = f"{name}/{index + 1}" if index else name
            if role == "compaction":
                self._compact(own, parsed_blocks)
                continue
            more: Json = {"meta": role != "user"} if role != "tool" else {}
            self.add(own, "tool" if role == "tool" else "user", parsed_blocks, {}, **more)

    def _read_request_part(self, raw: Any) -> tuple[str, list[ParsedBlock]]:
        """Convert a part of a request. Returns its role and its blocks."""
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
            parsed_blocks = find_blocks(fields.any("content"), _read_content)
            if parsed_blocks and fields.rest:
                parsed_blocks[0] = parsed_blocks[0][0], parsed_blocks[0][1] | fields.rest
            return {"user-prompt": "user", "system-prompt": "system"}.get(kind, "harness"), parsed_blocks
        return "harness", [unknown(raw, kind or "")]

    def _take_response(self, name: str, fields: Fields, parts: list[Any]) -> None:
        usage = _read_usage(fields.rest.get("usage"))
        model, provider = fields.text("model_name"), fields.text("provider_name")
        stop = fields.text("finish_reason")
        parsed_blocks: list[ParsedBlock] = []
        number = 0
        ends = 0
        for raw in [*parts, None]:
            compacts = isinstance(raw, dict) and raw.get("part_kind") == "compaction"
            if raw is not None and not compacts:
                parsed_blocks.append(self._read_response_part(raw))
                continue
            if parsed_blocks or (raw is None and not number and parts):
                own = f"{name}/{number + 1}" if number else name
                self.add(own, "assistant", parsed_blocks, {}, model=model, provider=provider)
                parsed_blocks, number, ends = [], number + 1, len(self.entries)
            if compacts:
                own = f"{name}/{number + 1}" if number else name
                inner = Fields(raw, "part_kind")
                self._compact(own, [_read_compaction(inner)])
                number, ends = number + 1, len(self.entries)
        if ends:
            self.change(self.entries[ends - 1].id, usage=usage, stop_reason=stop)

    def _read_response_part(self, raw: Any) -> ParsedBlock:
        """Convert a part of a response."""
        fields = Fields(raw)
        kind = fields.text("part_kind")
        if kind == "text" and (text := fields.text("content")) is not None:
            return Text(text=text), fields.rest
        if kind == "thinking" and (text := fields.text("content")) is not None:
            return Reasoning(text=text, signature=fields.text("signature")), fields.rest
        if kind in ("tool-call", "builtin-tool-call") and (tool := fields.text("tool_name")) is not None:
            call = fields.text("tool_call_id") or tool
            return make_call(self.names, call, tool, fields.any("args")), fields.rest
        if kind == "builtin-tool-return":
            call, content = fields.text("tool_call_id") or "", fields.any("content")
            words = content if isinstance(content, str) or content is None else stringify(content)
            block, rest = make_output(call, words, unknown, fields.text("tool_name"))
            return block, rest | fields.rest
        if kind == "file" and (binary := _read_binary(fields.rest.get("content"))) is not None:
            return binary[0], binary[1]
        return unknown(raw, kind or "")

    def _compact(self, name: str, parsed_blocks: list[ParsedBlock]) -> None:
        sealed = not any(block.text for block, _ in parsed_blocks if isinstance(block, Text))
        boundary: Json = {"extra": {"unreadable": True}} if sealed else {}
        self.compact(name, None, boundary, parsed_blocks=parsed_blocks)

    def finish(self) -> Session:
        instructions = [Text(text=self.instructions)] if self.instructions else []
        return self.make_session(
            id=str(self.about.get("conversation_id") or self.about.get("run_id") or ""),
            system=(*self.system, *instructions),
            extra=self.about,
        )


def _read_compaction(fields: Fields) -> ParsedBlock:
    text = fields.text("content")
    return (Text(text=text), fields.rest) if text is not None else (Reasoning(), fields.rest)


def _read_content(raw: Any) -> ParsedBlock:
    """Convert a part of a prompt: text, a URL, or a file."""
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


def _read_binary(raw: Any) -> ParsedBlock | None:
    fields = Fields(raw)
    if fields.rest.get("kind") != "binary" or not isinstance(fields.rest.get("data"), str):
        return None
    data, sort = fields.text("data"), fields.text("media_type")
    if (sort or "").startswith("image/"):
        return Image(media_type=sort, data=data), fields.rest
    return Document(media_type=sort, data=data), fields.rest


def _read_usage(raw: Any) -> Usage | None:
    if set(OLD) & set(Fields(raw).rest):
        # The names of cache figures in providers' own usage.
        cached = ("details/cached_tokens", "details/cache_read_input_tokens")
        return read_inclusive(raw, *OLD, cached, "details/cache_creation_input_tokens")
    usage = read_inclusive(raw, *USED)
    return usage if usage is not None and (usage.prompt or usage.output) else None


READER = document_reader(NAME, "pydantic-ai messages", _judge, _read)
