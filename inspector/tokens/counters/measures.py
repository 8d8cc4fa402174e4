"""What published triggers hold against their thresholds besides tokens of a provider: whole messages
weighed by a formula, or counted. No session is counted with them; a policy names one as its measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...session.blocks import Block, Image, Reasoning, ToolCall, ToolOutput
from ...session.entries import Entry
from ...session.json_text import stringify
from ...session.tree import Ints
from ...text import utf16_length
from ..counter import Counter

IMAGE_TOKENS = 85
"""Tokens of a picture, as LangChain counts it."""


def weigh_langchain(entry: Entry) -> int:
    """Tokens of a message as `count_tokens_approximately` of langchain-core 1.8.4 counts it: characters /
    4 of role, content, calls and names, rounded up, and 3 more; each output is a message of its own."""
    outputs = [block for block in entry.blocks if isinstance(block, ToolOutput)]
    rest = [block for block in entry.blocks if not isinstance(block, ToolOutput)]
    total = sum(_round("tool", *_parts(o.parts), len(o.call_id) + len(o.name or "")) for o in outputs)
    if not rest and outputs:
        return total
    listed = any(block.kind not in ("text", "tool_call") for block in rest)
    calls = [
        {"name": block.name, "args": block.input, "id": block.id, "type": "tool_call"}
        for block in rest
        if block.kind == "tool_call"
    ]
    # With content in parts the calls are part of it, and are not counted once more.
    more = len(repr(calls)) if calls and not listed else 0
    return total + _round(entry.role, *_parts(rest), more)


def _parts(blocks: Sequence[Block]) -> tuple[int, int]:
    """Characters and tokens of pictures."""
    characters = sum(len(_written(block)) for block in blocks if block.kind not in ("image", "tool_call"))
    return characters, IMAGE_TOKENS * sum(block.kind == "image" for block in blocks)


def _written(block: Block) -> str:
    if block.kind != "reasoning":
        return block.text
    kind = "thinking" if block.signature else "reasoning"
    part: dict[str, Any] = {"type": kind, kind: block.text}
    return repr(part | ({"signature": block.signature} if block.signature else {}))


def _round(role: str, characters: int, pictures: int, more: int) -> int:
    return math.ceil((len(role) + characters + more) / 4) + 3 + pictures


def weigh_ai_sdk(entry: Entry) -> int:
    """Tokens of a message as characters / 4 of the JSON that AI SDK makes of it, its outputs a message
    apart."""
    content_parts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for block in entry.blocks:
        match block:
            case ToolCall():
                call = {"toolCallId": block.id, "toolName": block.name, "input": block.input}
                content_parts.append({"type": "tool-call", **call})
            case ToolOutput():
                value = {"type": "text", "value": block.text}
                call = {"toolCallId": block.call_id, "toolName": block.name or "", "output": value}
                results.append({"type": "tool-result", **call})
            case _:
                data = {"data": block.data or block.url} if isinstance(block, Image) else {"text": block.text}
                content_parts.append({"type": block.kind, **data})
    parts = [(entry.role, content_parts)] if content_parts or not results else []
    messages = [*parts, ("tool", results)] if results else parts
    written = (stringify({"role": role, "content": content}) for role, content in messages)
    return round(sum(utf16_length(text) + 1 for text in written) / 4)


def weigh_cline(entry: Entry) -> int:
    """Tokens of a message as characters / 3 of its JSON in Anthropic's form, as Cline estimates it."""
    content = [_anthropic(block) for block in entry.blocks]
    role = "user" if entry.role == "tool" else entry.role
    written = stringify({"id": entry.id, "role": role, "content": content})
    return round((utf16_length(written) + 1) / 3)


def _anthropic(block: Block) -> dict[str, Any]:
    match block:
        case ToolCall():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolOutput():
            parts = [_anthropic(part) for part in block.parts]
            return {"type": "tool_result", "tool_use_id": block.call_id, "content": parts}
        case Reasoning():
            return {"type": "thinking", "thinking": block.text, "signature": block.signature or ""}
        case Image():
            return {"type": "image", "mediaType": block.media_type, "data": block.data or block.url}
        case _:
            return {"type": "text", "text": block.text}


def weigh_deepseek(entry: Entry) -> int:
    """Tokens of a message as DeepSeek's harness estimates it: UTF-16 units / 4 of each block, rounded up,
    and 4 more for each block and for the message."""
    return 4 + sum(map(_weigh_block, entry.blocks))


def _weigh_block(block: Block) -> int:
    if isinstance(block, ToolOutput):
        return 4 + sum(map(_weigh_block, block.parts))
    text = block.name + stringify(block.input) if isinstance(block, ToolCall) else block.text
    return 4 - (-utf16_length(text) // 4)


def count_candidates(entry: Entry) -> int:
    """Items of the Responses API that are neither a user's message nor a compaction: words of a message
    are one, and each call, output and reasoning is one."""
    if entry.kind == "compaction":
        return 0
    apart = sum(block.kind in ("tool_call", "tool_output", "reasoning") for block in entry.blocks)
    words = any(block.kind in ("text", "image", "document") for block in entry.blocks)
    return apart + (words and entry.role != "user")


def count_invocations(entry: Entry) -> int:
    """1 for a message in which a user asks for something: it opens a turn."""
    return int(entry.opens_turn)


def _measure(
    name: str, title: str, weigh: Callable[[Entry], int], count_text: Callable[[str], int]
) -> Counter:
    def count(texts: Sequence[str]) -> Ints:
        return np.fromiter(map(count_text, texts), np.int32, len(texts))

    return Counter(name=name, title=title, count=count, about=lambda: f"{name}: {title}", weigh=weigh)


MEASURES: tuple[Counter, ...] = (
    _measure("langchain", "characters / 4 and 3 a message", weigh_langchain, lambda t: -(-len(t) // 4) + 3),
    _measure("ai-sdk", "characters / 4 of JSON", weigh_ai_sdk, lambda text: round((len(text) + 56) / 4)),
    _measure("cline", "characters / 3 of JSON", weigh_cline, lambda text: round((len(text) + 60) / 3)),
    _measure(
        "deepseek", "characters / 4, 4 a block and 4 a message", weigh_deepseek, lambda t: 8 - (-len(t) // 4)
    ),
    _measure("candidates", "items other than user messages", count_candidates, lambda text: 0),
    _measure("invocations", "turns that a user opened", count_invocations, lambda text: 0),
)
COUNTS = {"messages": "message", "candidates": "item", "invocations": "turn"}
"""Measures that count things, not tokens, and the name of one such thing."""
