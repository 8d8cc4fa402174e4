"""A reply as it was streamed -> the whole reply, as the same interface gives it where nothing is streamed.

In goes the text of server-sent events that a proxy kept, of Anthropic's Messages or of OpenAI's two
interfaces, out comes a JSON object; None for other text. What a stream that broke off did not bring is not
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..json_document import Fields
from ..json_lines import decode
from ..recording import Json, parse_given

DONE = "[DONE]"
BODIES = ("body", "body_raw", "text")


def read_streamed(text: str) -> Json | None:
    """The reply that the events of `text` make, or the JSON object that `text` is; None for neither.

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
    """The body of a response: an object, or text as it was streamed; else the response itself."""
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
    given: dict[int, str] = {}
    for event in events:
        kind, at = event.get("type"), event.get("index")
        if kind == "message_start":
            message = dict(Fields(event.get("message")).rest)
        elif kind == "message_delta":
            message |= Fields(event.get("delta")).rest
            message["usage"] = Fields(message.get("usage")).rest | Fields(event.get("usage")).rest
        elif kind == "content_block_start" and isinstance(at, int):
            blocks[at] = dict(Fields(event.get("content_block")).rest)
        elif kind == "content_block_delta" and isinstance(at, int):
            delta = Fields(event.get("delta")).rest
            if isinstance(part := delta.get("partial_json"), str):
                given[at] = given.get(at, "") + part
                continue
            for name in ("text", "thinking", "signature"):
                if isinstance(part := delta.get(name), str):
                    block = blocks.setdefault(at, {"type": "text"})
                    block[name] = str(block.get(name) or "") + part
    for at, words in given.items():
        blocks.setdefault(at, {"type": "tool_use"})["input"] = parse_given(words)
    return {**message, "content": [blocks[at] for at in sorted(blocks)]}


def _join_chunks(events: list[Json]) -> Json:
    about: Json = {}
    message: Json = {"role": "assistant", "content": ""}
    calls: dict[int, Json] = {}
    for event in events:
        about |= {key: event[key] for key in ("id", "model", "usage") if event.get(key) is not None}
        for choice in Fields(event).items("choices") or ():
            told = Fields(choice).rest
            if told.get("index") not in (None, 0):
                continue
            delta = Fields(told.get("delta")).rest
            for name in ("content", "reasoning_content", "refusal"):
                if isinstance(part := delta.get(name), str):
                    message[name] = str(message.get(name) or "") + part
            for raw in Fields(delta).items("tool_calls") or ():
                fields = Fields(raw)
                at = fields.rest.get("index")
                known = calls.setdefault(at if isinstance(at, int) else 0, {"name": "", "arguments": ""})
                known["id"] = fields.text("id") or known.get("id")
                function = Fields(fields.rest.get("function")).rest
                for name in ("name", "arguments"):
                    known[name] += function[name] if isinstance(function.get(name), str) else ""
    if calls:
        message["tool_calls"] = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(calls.items())
        ]
    return {**about, "choices": [{"message": message}]}
