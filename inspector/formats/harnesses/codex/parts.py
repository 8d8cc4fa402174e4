"""Parts of a Codex rollout's items -> blocks of a session: words, pictures, reasoning, tools (FORMATS §1)."""

from __future__ import annotations

import re
from typing import Any

from ....session.blocks import Block, Image, Reasoning, Text, ToolOutput
from ....session.entries import Tool, Usage
from ...json_document import Fields, Found, unknown
from ...recording import Json, parse_given, read_inclusive

EXITED = re.compile(
    r"\A(?:(?:Chunk ID|Wall time): [^\n]*\n)*(?:Exit code:|Process exited with code) (-?\d+)(?=\n|\Z)"
)
"""How Codex begins what a command printed, since its outputs are text and no longer JSON."""

HEADER = frozenset({"id", "timestamp", "instructions", "git"})
"""What the header of a rollout of before September 2025 holds at most."""
USAGE = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
TRAE = "history_mutation"
"""The rows that TRAE's CLI, which was made of Codex, keeps its messages in."""
SPOKEN = ("user_message", "agent_message")
ITEMS = {"UserMessage": "user_message", "AgentMessage": "agent_message"}
"""What a completed item is called that repeats what one of these events repeated until September 2026."""


def find_usage(info: Json, before: Any, *, forked: bool) -> Usage | None:
    """What the last request took: as it is told, else by how much the running totals grew.

    The first totals of a fork hold what its parent took: they tell nothing of it.

    >>> told = {"total_token_usage": {"input_tokens": 90, "output_tokens": 5}}
    >>> find_usage(told, {"input_tokens": 40, "output_tokens": 3}, forked=True).tokens
    52
    """
    fields = Fields(info)
    if (last := fields.object("last_token_usage")) is not None:
        return read_inclusive(last, *USAGE)
    total, old = fields.object("total_token_usage"), Fields(before)
    if total is None or (forked and not isinstance(before, dict)):
        return None
    grown = {name: (Fields(total).number(name) or 0) - (old.number(name) or 0) for name in USAGE}
    return read_inclusive(grown, *USAGE) if min(grown.values()) >= 0 else None


def read_id(meta: Json) -> str:
    """The name of a rollout's session; empty where its header has none."""
    return Fields(meta).text("id") or Fields(meta).text("session_id") or ""


def read_part(raw: Any) -> Found:
    """A part of a message or of a tool's answer."""
    fields = Fields(raw)
    kind = fields.rest.get("type")
    if kind in ("input_text", "output_text", "text", "summary_text", "reasoning_text"):
        text = fields.text("text")
        if text is not None:
            rest = fields.rest
            return Text(text=text), {key: value for key, value in rest.items() if key != "type"}
    if kind == "input_image" and (url := fields.text("image_url")) is not None:
        head, comma, data = url.partition(";base64,")
        more = {key: value for key, value in fields.rest.items() if key != "type"}
        if comma and head.startswith("data:"):
            return Image(media_type=head.removeprefix("data:"), data=data), more
        return Image(url=url), more
    return unknown(raw)


def read_reasoning(fields: Fields) -> Found:
    """What the model thought: the parts of the summary and of the content that are text, each said once."""
    texts: dict[str, None] = {}
    for name in ("summary", "content"):
        parts = fields.rest.get(name)
        words = [Fields(part).text("text") for part in parts] if isinstance(parts, list) else []
        texts |= dict.fromkeys(word for word in words if word is not None)
        if None not in words:
            fields.items(name)
    return Reasoning(text="\n".join(texts), encrypted=fields.text("encrypted_content")), fields.rest


def read_tools(raw: Any) -> tuple[tuple[Tool, ...], list[Any]]:
    """Tools that the client adds, and what is none of them."""
    tools: list[Tool] = []
    rest: list[Any] = []
    for item in raw if isinstance(raw, list) else ():
        fields = Fields(item)
        name = fields.text("name")
        if name is None:
            rest.append(item)
            continue
        schema = fields.any("inputSchema") or fields.any("input_schema") or fields.any("parameters")
        tools.append(Tool(name=name, description=fields.text("description") or "", input_schema=schema))
    return tuple(tools), rest


def tells_failure(output: Any) -> bool:
    """Whether an output says, in the words that Codex puts around it, that its command ended with no 0."""
    if isinstance(output, list) and output:
        output = Fields(output[0]).rest.get("text")
    if not isinstance(output, str):
        return False
    if found := EXITED.match(output):
        return int(found[1]) != 0
    if '"exit_code"' not in output:
        return False
    told = Fields(parse_given(output)).rest
    code = Fields(told.get("metadata")).rest.get("exit_code", told.get("exit_code"))
    return isinstance(code, int) and code != 0


def find_kinds(item: dict[str, Any]) -> list[str]:
    """What an item of September 2026 and later tells its parts to be: `user.text` is what a person typed."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
    return [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []


def is_bare_header(row: dict[str, Any]) -> bool:
    """Whether a row is the header of a rollout from before rows had an envelope."""
    named = isinstance(row.get("id"), str) and isinstance(row.get("timestamp"), str)
    return (named and set(row) <= HEADER) or ("instructions" in row and "type" not in row and named)


def is_bare(rows: list[dict[str, Any]]) -> bool:
    """Whether the row after a header is an item without an envelope."""
    return any(row.get("record_type") == "state" or {"type", "role", "content"} <= set(row) for row in rows)


def read_spoken(payload: dict[str, Any]) -> tuple[str, str]:
    """The event that repeats what somebody said, and the words; two empty texts where it is another."""
    kind, item = payload.get("type"), payload.get("item")
    if kind in SPOKEN and isinstance(said := payload.get("message"), str):
        return str(kind), said
    if kind == "item_completed" and isinstance(item, dict) and str(item.get("type")) in ITEMS:
        parts = item.get("content")
        words = [Fields(part).text("text") or "" for part in parts] if isinstance(parts, list) else []
        return ITEMS[str(item["type"])], "\n".join(words)
    return "", ""


def squeeze(words: str) -> str:
    """Words without blanks: an event joins the parts of an item in its own way."""
    return "".join(words.split())


def read_letter(payload: dict[str, Any]) -> dict[str, Any] | None:
    """What another agent sent, as the item that newer versions write in its place; None where nothing was.

    >>> read_letter({"author": "/root/tester", "recipient": "/root", "content": "One test fails."})["content"]
    [{'type': 'input_text', 'text': 'One test fails.'}]
    """
    rest = Fields(payload)
    words, sealed = rest.text("content"), rest.text("encrypted_content")
    parts = [{"type": "input_text", "text": words}] if words else []
    parts += [{"type": "encrypted_content", "encrypted_content": sealed}] if sealed else []
    return {**rest.rest, "type": "agent_message", "content": parts} if parts else None


def is_shown(before: tuple[Block, ...], found: list[Found], said: str) -> bool:
    """Whether these are pictures that a tool is to show: older versions sent them in the user's name, behind
    its output, the blocks `before`."""
    looked = any(isinstance(block, ToolOutput) and block.name == "view_image" for block in before)
    pictures = any(block.kind == "image" for block, _ in found)
    return looked and pictures and (not said.strip() or said.startswith("<image"))
