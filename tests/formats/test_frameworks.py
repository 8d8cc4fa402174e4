"""Messages as frameworks save them: pydantic-ai's, and those of the AI SDK's screen and model."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.blocks import Image, Reasoning, ToolCall, ToolOutput
from tests.rows import CASES

PYDANTIC, SCREEN, MODEL = (CASES / f"{name}.json" for name in ("pydantic-ai", "ai-sdk", "ai-sdk.model"))


def test_pydantic_ais_parts_become_entries() -> None:
    session = open_session(PYDANTIC)
    assert (session.id, session.model) == ("conv-1", "demo-1")
    assert [block.text for block in session.system] == ["You know the tides.", "Be brief."]
    assert session["m1"].blocks[1] == Image(url="https://example.org/sea.png")
    assert session["m2"].blocks[0] == Reasoning(text="A table.", signature="s")
    calls = [block for block in session["m2"].blocks if isinstance(block, ToolCall)]
    assert [call.input for call in calls] == [{"port": "Brest"}, {"port": 7}]
    outputs = [block for block in session["m3"].blocks if isinstance(block, ToolOutput)]
    assert [(block.call_id, block.text, block.is_error) for block in outputs] == [
        ("c1", '{"high":"06:12"}', False),
        ("c2", "port must be a string", True),
    ]
    assert session["m7"].meta and len(session.turns) == 2


def test_a_reply_of_the_screen_is_a_reply_per_step() -> None:
    session = open_session(SCREEN)
    assert (session.id, session.title) == ("chat-7", "Weather")
    assert session["u1"].blocks[1] == Image(media_type="image/png", data="iVBORw0KGgo=")
    assert [entry.id for entry in session.entries] == [
        *("u1", "a1", "a1/results", "a1/2", "u2", "a2", "a2/results", "a2/2")
    ]
    outputs = [block for entry in session.entries for block in entry.blocks if isinstance(block, ToolOutput)]
    assert [(block.name, block.text, block.is_error) for block in outputs] == [
        ("weather", '{"rain":true}', False),
        ("radar", "radar is off", True),
        ("close", "not now", True),
    ]
    assert session["a1/2"].extra["parts"][0]["url"] == "https://example.org"
    assert session["a1"].extra["metadata"] == {"totalUsage": {"inputTokens": 90}}
    assert all(entry.usage is None for entry in session.entries)


def test_the_models_messages_open_too() -> None:
    session = open_session(MODEL)
    assert [entry.role for entry in session.entries] == [
        *("user", "assistant", "tool", "assistant", "user", "assistant", "tool")
    ]
    failed = session["m8"].blocks[0]
    assert isinstance(failed, ToolOutput) and failed.is_error and failed.text == "no city"


ASKED = {"toolName": "weather", "args": {"city": "Bergen"}}
OLD_CALL = {"toolCallId": "w", **ASKED, "state": "result", "result": 7}
ASK = {"id": "a", "role": "user", "content": "Rain?"}
WAITS = {"toolCallId": "v", **ASKED, "state": "call"}
PARTS = [
    *({"type": "step-start"}, {"type": "reasoning", "reasoning": "Ask.", "details": []}),
    {"type": "tool-invocation", "toolInvocation": {**OLD_CALL, "step": 0}},
    *({"type": "tool-invocation", **WAITS}, {"type": "step-start"}, {"type": "text", "text": "Seven."}),
]
REPLY = {"id": "b", "role": "assistant", "content": "Seven."}


@pytest.mark.parametrize(
    "messages",
    [
        [{**ASK, "parts": [{"type": "text", "text": "Rain?"}]}, {**REPLY, "parts": PARTS}],
        [ASK, {**REPLY, "toolInvocations": [OLD_CALL, WAITS]}],
    ],
    ids=["version 4", "version 3"],
)
def test_calls_of_earlier_versions_of_the_sdk_are_read(messages: list[Any]) -> None:
    session = read_session({"id": "chat", "messages": messages})
    assert (session.format, session.id, session.records) == ("ai-sdk", "chat", 2)
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    calls = [block for block in session.entries[1].blocks if isinstance(block, ToolCall)]
    assert [(call.id, call.name, call.input) for call in calls] == [
        ("w", "weather", {"city": "Bergen"}),
        ("v", "weather", {"city": "Bergen"}),
    ]
    (output,) = session.entries[2].blocks
    assert isinstance(output, ToolOutput) and (output.call_id, output.text) == ("w", "7")
    assert session.entries[3].text == "Seven."
