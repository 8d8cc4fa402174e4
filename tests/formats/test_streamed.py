"""Replies as they were streamed, which proxies keep as text: of Anthropic's interface and of OpenAI's two."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import read_session
from inspector.formats.requests.streamed import read_streamed
from inspector.session.blocks import Reasoning, ToolCall

ASK = {"role": "user", "content": "Is it high tide?"}
SYSTEM = {"role": "system", "content": "Be brief."}


def stream(*events: dict[str, Any], named: bool = False) -> str:
    head = [f"event: {event.get('type')}\n" if named else "" for event in events]
    rows = [f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(head, events, strict=True)]
    return "".join(rows) + ("" if named else "data: [DONE]\n\n")


TIDE = {"id": "t1", "name": "tide"}
STARTED = {"id": "msg_1", "role": "assistant", "model": "demo-a", "content": []}
CLAUDE = stream(
    {"type": "message_start", "message": {**STARTED, "usage": {"input_tokens": 9, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "A table."}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "look."}},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", **TIDE, "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a'}},
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '":1}'},
    },
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 21}},
    {"type": "message_stop"},
    named=True,
)


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "c", "model": "demo-o", "choices": [{"index": 0, "delta": delta}], "usage": None, **more}


def call(**told: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": 0, **told}]})


CHAT = stream(
    chunk({"role": "assistant", "content": "I "}),
    chunk({"content": "look."}),
    call(id="t1", type="function", function={"name": "tide", "arguments": '{"a'}),
    call(function={"arguments": '":1}'}),
    chunk({}, choices=[], usage={"prompt_tokens": 9, "completion_tokens": 21, "total_tokens": 30}),
)
ITEMS = [
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
    {"type": "function_call", "call_id": "t1", "name": "tide", "arguments": '{"a":1}'},
]
USED = {"input_tokens": 9, "output_tokens": 21, "total_tokens": 30}
RESPONSES = stream(
    {"type": "response.created", "response": {"id": "r", "output": []}},
    {"type": "response.output_text.delta", "delta": "I "},
    {
        "type": "response.completed",
        "response": {"id": "r", "model": "demo-r", "output": ITEMS, "usage": USED},
    },
)


@pytest.mark.parametrize(
    ("request_", "reply", "model"),
    [
        ({"model": "demo-a", "system": "Be brief.", "messages": [ASK]}, CLAUDE, "demo-a"),
        ({"model": "demo-o", "messages": [SYSTEM, ASK]}, CHAT, "demo-o"),
        ({"model": "demo-r", "instructions": "Be brief.", "input": [ASK]}, RESPONSES, "demo-r"),
    ],
    ids=["messages", "chat", "responses"],
)
@pytest.mark.parametrize("kept", ["body_raw", "text of an archive", "response"])
def test_a_streamed_reply_is_read_with_its_calls_and_usage(
    request_: dict[str, Any], reply: str, model: str, kept: str
) -> None:
    pair: dict[str, Any] = {"request": {"body": request_}, "response": {"status": 200, "body_raw": reply}}
    if kept == "response":
        pair["response"] = reply
    elif kept != "body_raw":
        sent = {"postData": {"mimeType": "application/json", "text": json.dumps(request_)}}
        pair = {"log": {"entries": [{"request": sent, "response": {"content": {"text": reply}}}]}}
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in ([pair] if "log" in pair else [pair, pair]))
    session = read_session(lines, format="request-log")
    answer = next(entry for entry in session.entries if entry.role == "assistant")
    assert (answer.text, session.model) == ("I look.", model)
    calls = [block for block in answer.blocks if isinstance(block, ToolCall)]
    assert calls == [ToolCall(id="t1", name="tide", input={"a": 1})]
    assert answer.usage is not None and (answer.usage.prompt, answer.usage.output) == (9, 21)
    assert session.unknown == 0


def test_one_request_of_anthropics_with_a_streamed_reply() -> None:
    request = {"model": "demo-a", "max_tokens": 9, "messages": [ASK]}
    session = read_session({"request": {"body": request}, "response": {"body_raw": CLAUDE}})
    assert session.format == "anthropic-messages"
    reply = session.entries[-1]
    assert reply.blocks[0] == Reasoning(text="A table.") and reply.text == "I look."
    assert reply.usage is not None and reply.usage.output == 21


def test_a_stream_that_broke_off_gives_what_it_brought() -> None:
    whole = read_streamed(CLAUDE[: CLAUDE.index("look.") + 3])
    assert whole is not None
    assert [block.get("text") for block in whole["content"] if block["type"] == "text"] == ["I "]
    assert read_streamed("502 Bad Gateway") is None
    assert read_streamed("data: what it is\n") is None
    assert read_streamed("") is None
