"""Read requests to Anthropic's Messages API, with or without the reply: `{model, system, tools, messages}`.

The input is a request body, `{request, response}`, `{body, response}` or a bare list of messages. Messages
are named m1, m2, … in order; the reply is the last one. Sources: CLAUDE §5 (compaction blocks), §7 (roles and
pairing), §13 (blocks).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import EmptySession
from ...session.blocks import Image, Text
from ...session.entries import Boundary, Entry, Source, Tool
from ...session.session import Session
from ..harnesses.cline.read import is_cline
from ..harnesses.cline.tasks import is_task
from ..json_document import FILE, Fields, document_reader, find_blocks, only_outputs, placed, refuse
from ..recording import Json, Reading
from ..sealed import ON_DEMAND, THRESHOLD, seal_block
from . import request_log
from .anthropic_blocks import find_rest, read_block, read_usage, read_with_rest
from .chat_messages import CALLS, read_chat_usage
from .request_log import find_openai
from .streamed import find_body

NAME = "anthropic-messages"
ROLES = ("user", "assistant", "system")
WRAPPERS = ("request", "body", "params")
FOREIGN = (
    *("tool_calls", "function_call", "tool_call_id", "parts", "toolCalls", "toolInvocations", "monotonicTs"),
    *("messageId", "parentId", "uuid"),
)
"""Fields of messages of other systems."""


def _judge(value: Any) -> str | None:
    """Return None for messages of these roles with text or Anthropic's blocks, else the reason."""
    body = _find_request(value)[0]
    messages = _find_messages(value)
    if isinstance(value, dict) and ({"messages", "sessionId", "version"} <= set(value) or is_cline(value)):
        return "its messages are in a Cline session"
    if is_task(value):
        return "its messages are from a Cline or Roo Code task"
    around = value if isinstance(value, dict) else {}
    if "agent_type" in around:
        return "it is the file of an agent, because it has an `agent_type`"
    if any(isinstance(holder, dict) and "choices" in holder for holder in (around, around.get("response"))):
        return "its `choices` are OpenAI's"
    if isinstance(stats := around.get("stats"), dict) and "user_messages" in stats:
        return "its statistics are DataClaw's"
    if messages is None:
        return "no list of messages in it, in its `request` or in its `body`"
    if not messages:
        return None if {"model", "system", "max_tokens"} & set(around) else "its list of messages is empty"
    if (openai := find_openai(body, messages)) and request_log.judge(value) is None:
        return openai
    if isinstance(messages[0], dict) and messages[0].get("role") == "system":
        return "its first message is a system prompt, which is a separate field in a request to Anthropic"
    if any(isinstance(message, dict) and "tool_uses" in message for message in messages):
        return "its messages have `tool_uses`, which are DataClaw's"
    for number, message in enumerate(messages, 1):
        # The last message of a beginning may be incomplete.
        if (reason := _fault(message)) and (
            number < len(messages) or "has no role" not in reason or number == 1
        ):
            return f"message {number} {reason}"
    return None


def _fault(message: Any) -> str | None:
    """Return why a value is not a message of Anthropic's API, or None."""
    if not isinstance(message, dict):
        return "is not an object"
    foreign = next((name for name in FOREIGN if name in message), None)
    if foreign is not None:
        return f"has a field `{foreign}`, which is another system's"
    if "role" not in message:
        return "has no role"
    if message["role"] not in ROLES:
        return f"has the role {message['role']!r:.40}"
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        return "has a content that is neither text nor a list of blocks"
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict) or not isinstance(block.get("type", ""), str):
            return "holds a block without a type"
        if block.get("type") == "toolCall" or {"toolUse", "result", "toolCallId"} & set(block):
            return "holds a tool block of another system's"
    return None


def _find_request(value: Any, levels: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the request body, and the other fields of the objects around it."""
    if isinstance(value, list):
        return {"messages": value}, {}
    if not isinstance(value, dict) or not levels:
        return {}, {}
    if isinstance(value.get("messages"), list):
        return value, {}
    for name in WRAPPERS:
        inner = value.get(name)
        if isinstance(inner, dict):
            body, around = _find_request(inner, levels - 1)
            if body:
                return body, Fields(value, name).rest | around
    return {}, {}


def _find_messages(value: Any) -> list[Any] | None:
    messages = _find_request(value)[0].get("messages")
    return messages if isinstance(messages, list) else None


def _read(value: Any) -> Session:
    """Read the request and its reply. Raises `ReadError`, or `EmptySession` if there are no messages."""
    body, around = _find_request(value)
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise refuse("no list of messages in it, in its `request` or in its `body`")
    fields = Fields(body, "messages")
    reply, warnings = _take_reply(fields, around)
    reading = _SentMessages(fields.text("model"), _find_betas(body, around))
    reading.warnings += warnings
    reading.feed(placed(messages if reply is None else [*messages, reply]))
    if not reading.entries:
        raise EmptySession(FILE, [(NAME, "")])
    return reading.make_session(
        system=_read_system(fields),
        tools=tuple(_read_tools(fields)),
        extra=fields.rest | ({"around": around} if around else {}),
    )


def _take_reply(fields: Fields, around: dict[str, Any]) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return the reply, which is next to the request, inside it, or merged with it; and warnings."""
    for holder in (around, fields.rest):
        reply = holder.get("response")
        if isinstance(reply, dict):
            del holder["response"]
            return {"role": "assistant"} | find_body(reply), ()
        if reply is not None:
            return None, ("its `response` is not a message, so the reply is not shown",)
    if fields.rest.get("role") == "assistant" and isinstance(fields.rest.get("content"), list):
        merged = ("id", "type", "role", "content", "stop_reason", "stop_sequence", "usage")
        reply = {name: fields.rest.pop(name) for name in merged if name in fields.rest}
        return reply | ({"model": fields.rest["model"]} if "model" in fields.rest else {}), ()
    return None, ()


def _find_betas(body: dict[str, Any], around: dict[str, Any]) -> tuple[str, ...]:
    """Return the beta headers for compactions that a request names or that its edits require."""
    named = [name for holder in (body, around) for name in Fields(holder).strings("betas")]
    edits = Fields(Fields(body).object("context_management")).items("edits") or ()
    if any(Fields(edit).text("type") == "compact_20260112" for edit in edits):
        named.append(THRESHOLD)
    return tuple(dict.fromkeys(name for name in named if name in (THRESHOLD, ON_DEMAND)))


class _SentMessages(Reading):
    """State while messages are read. `model` and `betas` are the request's: it sends a compaction block back
    with them."""

    format = NAME

    def __init__(self, model: str | None, betas: tuple[str, ...]) -> None:
        super().__init__()
        self.model, self.betas = model, betas

    def take(self, source: Source, raw: Any) -> None:
        """Read a message: one entry, or several if its blocks include a compaction block."""
        if not isinstance(raw, dict):
            self.spoil("a message that is not an object")
            return
        fields = Fields(raw)
        refused = Fields(fields.object("error"))
        error = refused.text("message")
        if error is not None:
            fields.rest["error"] = refused.rest
        role, content = fields.text("role") or "unknown", fields.any("content")
        # Calls in another system's form are shown and counted as blocks of unknown kind.
        foreign = [
            {"type": key, key: fields.any(key)} for key in ("role", *sorted(CALLS)) if fields.rest.get(key)
        ]
        if foreign:
            own = [{"type": "text", "text": content}] if isinstance(content, str) else content
            content = [*(own if isinstance(own, list) else []), *foreign]
        raw_usage = fields.rest.get("usage")
        openai = isinstance(raw_usage, dict) and bool({"prompt_tokens", "completion_tokens"} & set(raw_usage))
        self.time = fields.text("timestamp")
        reply: Json = {
            "model": fields.text("model"),
            "stop_reason": fields.text("stop_reason"),
            "error": error,
            "usage": read_chat_usage(raw_usage) if openai else read_usage(raw_usage),
        }
        # A compaction on demand is the first block of a request (CLAUDE §5.2).
        betas = self.betas or ((ON_DEMAND,) if source.line == 1 else (THRESHOLD,))
        runs = _split(content)
        for number, (run, summary) in enumerate(runs, 1):
            last = number == len(runs)
            more = reply if last else {}
            extra = fields.rest if last else {}
            name = f"m{source.line}"
            if summary is None:
                entry = self._add_run(name, role, run, extra, more)
                if last and extra.get("isSummary") is True:
                    self._condense(entry)
                continue
            rest = {"cache_control": run["cache_control"]} if "cache_control" in run else {}
            sealed = seal_block(run, betas, reply["model"] or self.model)
            more = {**more, "kind": "compaction", "boundary": Boundary(summary=summary, extra=rest | sealed)}
            self.add(name, role, [(Text(text=summary), {})], extra, **more)

    def _add_run(self, name: str, role: str, run: Any, extra: Json, more: Json) -> Entry:
        parsed_blocks = find_blocks(run, lambda raw: read_with_rest(raw, self.names))
        return self.add(
            name, role, only_outputs(parsed_blocks) if role == "tool" else parsed_blocks, extra, **more
        )

    def _condense(self, entry: Entry) -> None:
        """Change a message to a summary by Roo Code, with which the context begins (FORMATS §6).

        If the model wrote it, as in the first versions, the request begins with the task, its first message.
        """
        kept_ids = ("m1",) if entry.role == "assistant" and entry.id != "m1" else ()
        boundary = Boundary(summary=entry.text or None, kept=kept_ids)
        self.change(entry.id, kind="compaction", boundary=boundary, meta=False)


def _split(content: Any) -> list[tuple[Any, str | None]]:
    """Split the content at its compaction blocks: (blocks, None) and (compaction block, its summary).

    A compaction block without a summary is one that failed: the server ignores it (CLAUDE §5.1).
    """
    if not isinstance(content, list):
        return [(content, None)]
    runs: list[tuple[Any, str | None]] = []
    for raw in content:
        fields = Fields(raw)
        summary = fields.text("content") if fields.text("type") == "compaction" else None
        if summary is not None:
            runs.append((raw, summary))
        elif runs and runs[-1][1] is None:
            runs[-1][0].append(raw)
        else:
            runs.append(([raw], None))
    return runs or [([], None)]


def _read_system(fields: Fields) -> tuple[Text | Image, ...]:
    """Return the system prompt: one string, or blocks. Unread fields of the blocks stay in `fields`."""
    raw = fields.any("system")
    blocks: list[Text | Image] = []
    rest: dict[str, Any] = {}
    for index, (block, more) in enumerate(find_blocks(raw, lambda item: (read_block(item, {}), {}))):
        item = raw[index] if isinstance(raw, list) else None
        if isinstance(block, Text | Image):
            blocks.append(block)
            more = find_rest(item) if isinstance(item, dict) else {}
        else:
            more = {"raw": item if isinstance(raw, list) else raw}
        if more:
            rest[str(index)] = more
    if rest:
        fields.rest["system"] = rest
    return tuple(blocks)


def _read_tools(fields: Fields) -> Iterator[Tool]:
    """Yield the tool definitions. Those without a name, such as a set of server tools, remain in `fields`."""
    rest: dict[str, Any] = {}
    for index, raw in enumerate(fields.items("tools") or ()):
        inner = Fields(raw)
        name = inner.text("name")
        if name is None:
            rest[str(index)] = raw
            continue
        described, schema = inner.text("description") or "", inner.any("input_schema")
        if "cache_control" in inner.rest:
            rest[str(index)] = {"cache_control": inner.any("cache_control")}
        yield Tool(name=name, description=described, input_schema=schema, provider_fields=inner.rest or None)
    if rest:
        fields.rest["tools"] = rest


READER = document_reader(NAME, "Anthropic Messages request", _judge, _read)
