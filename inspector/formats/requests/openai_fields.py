"""Recognise parts, tool definitions and fields of a body that only OpenAI's requests contain.

A list of messages without a system message may be OpenAI's or Anthropic's. These names distinguish them.
"""

from __future__ import annotations

from typing import Any

PARTS = frozenset(
    ["image_url", "input_text", "input_image", "input_audio", "input_file", "output_text", "refusal"]
)
"""Types of content parts that do not exist in Anthropic's messages."""
FIELDS = frozenset(
    [
        *("frequency_penalty", "functions", "logit_bias", "logprobs", "max_completion_tokens"),
        *("parallel_tool_calls", "presence_penalty", "response_format", "stream_options", "top_logprobs"),
    ]
)
"""Fields of a body that Anthropic's API rejects."""


def find_openai(body: dict[str, Any], messages: list[Any]) -> str:
    """Find a part, tool or field that only OpenAI's requests have. Return it as a clause, or ""."""
    for number, message in enumerate(messages, 1):
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else ():
            kind = part.get("type") if isinstance(part, dict) else None
            # The beginning of a large file may end before the type.
            if kind is None and isinstance(part, dict):
                kind = next((name for name in ("image_url", "input_audio") if name in part), None)
            if kind == "file" and not isinstance(part.get("file"), dict):
                continue
            if isinstance(kind, str) and kind in (*PARTS, "file"):
                return f"message {number} holds a part of type `{kind}`, which is OpenAI's"
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and (tool.get("type") == "function" or "function" in tool):
            return "its tools are defined as functions, which is OpenAI's form"
    field = min(FIELDS & body.keys(), default=None)
    return f"it has a field `{field}`, which is OpenAI's" if field is not None else ""
