"""Join a streamed reply to the whole reply that the same API returns without streaming.

The input is the text of server-sent events as a proxy stored it: Anthropic's Messages API or OpenAI's two
APIs. The output is a JSON object; None for other text. A stream that was interrupted gives an incomplete
reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..json_document import Fields
from ..json_lines import decode
from ..recording import Json, parse_arguments

DONE = "[DONE]"
BODIES = ("body", "body_raw", "text")


def read_streamed(text: str) -> Json | None:
    """Return the reply that the events in `text` form, or `text` parsed as a JSON object; None for neither.

    >>> read_streamed('data: {"choices": [{"delta": {"content": "Hi"}}]}\\n\\ndata: [DONE]\\n')
    {'choices': [{'message': {'role': 'assistant', 'content': 'Hi'}}]}
    """
    if text.lstrip()[:1] == "{":
        whole = _decode(text)
        return whole if isinstance(whole, dict) else None
    events = list(_find_events(text))
    if any(event.get("type") == "message_start" for event in events):
        return _join_anthropic(events)
    for event in reversed(events):
        if isinstance(event.get("response"), dict) and str(event.get("type")).startswith("response."):
            return dict(event["response"])
    return _join_chunks(events) if any("choices" in event for event in events) else None


def find_body(response: Json) -> Json:
    """Return the body of a response, an object or streamed text; else the response itself."""
    for name in BODIES:
        inner = response.get(name)
        if isinstance(inner, str):
            inner = read_streamed(inner)
        if isinstance(inner, dict):
            return inner
    return response


def _decode(text: str) -> Any:
    try:
        return decode(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None


def _find_events(text: str) -> Iterator[Json]:
    for line in text.splitlines():
        if line.startswith("data:") and (data := line.removeprefix("data:").strip()) != DONE:
            event = _decode(data)
            if isinstance(event, dict):
                yield event


def _join_anthropic(events: list[Json]) -> Json:
    message: Json = {}
    blocks: dict[int, Json] = {}
    inputs: dict[int, str] = {}
    for event in events:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start":
            message = dict(Fields(event.get("message")).rest)
        elif kind == "message_delta":
            message |= Fields(event.get("delta")).rest
            message["usage"] = Fields(message.get("usage")).rest | Fields(event.get("usage")).rest
        elif kind == "content_block_start" and isinstance(index, int):
            blocks[index] = dict(Fields(event.get("content_block")).rest)
        elif kind == "content_block_delta" and isinstance(index, int):
            delta = Fields(event.get("delta")).rest
            if isinstance(part := delta.get("partial_json"), str):
                inputs[index] = inputs.get(index, "") + part
                continue
            for name in ("text", "thinking", "signature"):
                if isinstance(part := delta.get(name), str):
                    block = blocks.setdefault(index, {"type": "text"})
                    block[name] = str(block.get(name) or "") + part
    for index, words in inputs.items():
        blocks.setdefault(index, {"type": "tool_use"})["input"] = parse_arguments(words)
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


def _join_chunks(events: list[Json]) -> Json:
    about: Json = {}
    message: Json = {"role": "assistant", "content": ""}
    calls: dict[int, Json] = {}
    for event in events:
        about |= {key: event[key] for key in ("id", "model", "usage") if event.get(key) is not None}
        for choice in Fields(event).items("choices") or ():
            choice_fields = Fields(choice).rest
            if choice_fields.get("index") not in (None, 0):
                continue
            delta = Fields(choice_fields.get("delta")).rest
            for name in ("content", "reasoning_content", "refusal"):
                if isinstance(part := delta.get(name), str):
                    message[name] = str(message.get(name) or "") + part
            for raw in Fields(delta).items("tool_calls") or ():
                fields = Fields(raw)
                index = fields.rest.get("index")
                joined = calls.setdefault(
                    index if isinstance(index, int) else 0, {"name": "", "arguments": ""}
                )
                joined["id"] = fields.text("id") or joined.get("id")
                function = Fields(fields.rest.get("function")).rest
                for name in ("name", "arguments"):
                    joined[name] += function[name] if isinstance(function.get(name), str) else ""
    if calls:
        message["tool_calls"] = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(calls.items())
        ]
    return {**about, "choices": [{"message": message}]}
