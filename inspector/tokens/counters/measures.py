"""Measures that published triggers compare with their thresholds besides a provider's tokens: whole
messages, counted or estimated by a formula. No session is counted with them; a policy names one as its
measure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
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


def weigh_deepseek(block: Block) -> int:
    """Tokens of a block as DeepSeek's harness estimates it: UTF-16 units / 4, rounded up, and 4 more."""
    if isinstance(block, ToolOutput):
        return 4 + sum(map(weigh_deepseek, block.parts))
    text = block.name + stringify(block.input) if isinstance(block, ToolCall) else block.text
    return 4 - (-utf16_length(text) // 4)


def weigh_strands(block: Block) -> int:
    """Tokens of a block as Strands estimates it: characters / 4 of text, characters / 2 of a call's JSON."""
    if isinstance(block, ToolOutput):
        return sum(map(weigh_strands, block.parts))
    if isinstance(block, ToolCall):
        return math.ceil(len(block.name) / 4) + math.ceil(len(json.dumps(block.input)) / 2)
    return 0 if isinstance(block, Image) else math.ceil(len(block.text) / 4)


def weigh_agent_framework(entry: Entry) -> int:
    """Tokens of a message as characters / 4 of the JSON that Agent Framework makes of it, rounded down; each
    output is a message of its own."""
    outputs = [block for block in entry.blocks if isinstance(block, ToolOutput)]
    rest = [block for block in entry.blocks if not isinstance(block, ToolOutput)]
    messages: list[tuple[str, Sequence[Block]]] = [("tool", [output]) for output in outputs]
    messages += [(entry.role, rest)] if rest or not outputs else []
    total = 0
    for role, blocks in messages:
        contents = [_agent_framework(block) | {"additional_properties": {}} for block in blocks]
        written = json.dumps({"role": role, "message_id": entry.id, "contents": contents})
        total += max(len(written) // 4, 1)
    return total


def _agent_framework(block: Block) -> dict[str, Any]:
    match block:
        case ToolCall():
            arguments = json.dumps(block.input)
            call = {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
            return {**call, "hosted": False}
        case ToolOutput():
            return {"type": "function_result", "call_id": block.call_id, "result": block.text}
        case Reasoning():
            return {"type": "text_reasoning", "text": block.text}
        case Image():
            uri = f"data:{block.media_type};base64,{block.data}" if block.data else block.url
            return {"type": "data", "uri": uri, "media_type": block.media_type}
        case _:
            return {"type": "text", "text": block.text}


def weigh_agno(entry: Entry) -> int:
    """Tokens of a message as agno estimates it: characters / 4, rounded down, of its words, of the arguments
    of each call, and of each output and its id. It is a few too low for calls without words."""
    total = 0
    for block in entry.blocks:
        text = json.dumps(block.input) if isinstance(block, ToolCall) else block.text
        total += 0 if isinstance(block, Image) else len(text) // 4
        total += len(block.call_id) // 4 if isinstance(block, ToolOutput) else 0
    kinds = {block.kind for block in entry.blocks}
    return total + ({"text", "tool_call"} <= kinds)


def weigh_haystack(entry: Entry) -> float:
    """Tokens of a message as characters / 4 of its parts, and of the role and 4 more for each part."""
    total = 0
    for block in entry.blocks:
        if isinstance(block, ToolOutput):
            total += len("tool") + 11 + len(block.text)
        elif isinstance(block, ToolCall):
            total += len(entry.role) + 17 + len(block.name) + len(json.dumps(block.input))
        else:
            total += len(entry.role) + 4 + (0 if isinstance(block, Image) else len(block.text))
    return total / 4


PICTURE_TOKENS = 765
"""Tokens of a picture, as Mastra counts it."""


def weigh_mastra(entry: Entry) -> float:
    """Tokens of a message as Mastra's TokenLimiter counts them: tokenx of its role and its parts, 3.8 more,
    and 12 fewer for the JSON of each call."""
    outputs = [block for block in entry.blocks if isinstance(block, ToolOutput)]
    rest = [block for block in entry.blocks if not isinstance(block, ToolOutput)]
    total = sum(count_tokenx("tool" + output.text) + 3.8 for output in outputs)
    if outputs and not rest:
        return total
    text, more = entry.role, 3.8
    for block in rest:
        if isinstance(block, ToolCall):
            text += block.name + stringify(block.input)
            more -= 12
        elif isinstance(block, Image):
            more += PICTURE_TOKENS
        else:
            text += block.text
    return total + count_tokenx(text) + more


_MARKS = r".,!?;(){}\[\]<>:/\\|@#$%^&*+=`~_\-"
_SEGMENTS = re.compile(rf"(\s+|[{_MARKS}]+)")
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u2eff\u3000-\u303f\u30a0-\u318f\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uff00-\uffef]"
)
_LANGUAGES = (
    (re.compile("[äöüßẞéèêëàâîïôûùÿçœæáíóúñ]", re.IGNORECASE), 3.0),
    (re.compile("[ąćęłńśźżěščřžýůďťň]", re.IGNORECASE), 3.5),
)


def count_tokenx(text: str) -> int:
    """Tokens of a text as the npm package tokenx estimates them: six characters a word, fewer where letters
    have accents, and one for each character of Chinese, Japanese and Korean.

    >>> count_tokenx("the parser of 2024, rewritten")
    7
    """
    return sum(map(_count_segment, filter(None, _SEGMENTS.split(text))))


@lru_cache(1 << 14)
def _count_segment(segment: str) -> int:
    if segment.isspace():
        return 0
    if _WIDE.search(segment):
        return len(segment)
    length = utf16_length(segment)
    if length <= 3 or segment.isdecimal():
        return 1
    if re.match(f"[{_MARKS}]", segment):
        return math.ceil(length / 2)
    characters = next((size for letters, size in _LANGUAGES if letters.search(segment)), 6.0)
    return math.ceil(length / characters)


def count_joined(entry: Entry) -> int:
    """Messages as Strands and ADK have them: none for a system message, and a call with all its results is
    two, regardless of the position of the results."""
    if entry.role == "system":
        return 0
    kinds = {block.kind for block in entry.blocks}
    return 0 if kinds == {"tool_output"} else 1 + ("tool_call" in kinds)


def count_candidates(entry: Entry) -> int:
    """Items of the Responses API that are neither a user's message nor a compaction: words of a message
    are one, and each call, output and reasoning is one."""
    if entry.kind == "compaction":
        return 0
    apart = sum(block.kind in ("tool_call", "tool_output", "reasoning") for block in entry.blocks)
    words = any(block.kind in ("text", "image", "document") for block in entry.blocks)
    return apart + (words and entry.role != "user")


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
        "deepseek",
        "characters / 4, 4 a block and 4 a message",
        lambda e: 4 + sum(map(weigh_deepseek, e.blocks)),
        lambda t: 8 - (-len(t) // 4),
    ),
    _measure(
        "strands",
        "characters / 4, of JSON / 2",
        lambda e: sum(map(weigh_strands, e.blocks)),
        lambda text: -(-len(text) // 4),
    ),
    _measure(
        "agent-framework", "characters / 4 of JSON", weigh_agent_framework, lambda t: (len(t) + 112) // 4
    ),
    _measure("agno", "characters / 4, rounded down", weigh_agno, lambda text: len(text) // 4),
    _measure(
        "haystack", "characters / 4", lambda e: round(weigh_haystack(e)), lambda text: (len(text) + 8) // 4
    ),
    _measure(
        "mastra",
        "tokenx and 3.8 a message",
        lambda e: round(weigh_mastra(e)),
        lambda text: count_tokenx(text) + 5,
    ),
    _measure("joined", "messages, a call and its results two", count_joined, lambda text: 1),
    _measure("said", "messages other than system's", lambda e: int(e.role != "system"), lambda text: 1),
    _measure(
        "outputs",
        "outputs of tools",
        lambda e: sum(isinstance(b, ToolOutput) for b in e.blocks),
        lambda text: 0,
    ),
    _measure("candidates", "items other than user messages", count_candidates, lambda text: 0),
    _measure("invocations", "turns that a user opened", lambda e: int(e.opens_turn), lambda text: 0),
)
FRACTIONS: dict[str, Callable[[Entry], float]] = {"haystack": weigh_haystack, "mastra": weigh_mastra}
"""Measures whose sizes are fractions of tokens; as counters they are rounded for each message."""
COUNTS = {
    "messages": "message",
    "joined": "message",
    "said": "message",
    "outputs": "output",
    "candidates": "item",
    "invocations": "turn",
}
"""Measures that count things, not tokens, and the name of one such thing."""
