"""LangGraph's states as its server gives them, and LangChain's messages alone: none of them a database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import read_session
from inspector.errors import ReadError
from inspector.session.blocks import ToolCall

USED = {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35, "input_token_details": {"cache_read": 20}}
SAID: list[dict[str, Any]] = [
    {"type": "human", "id": "h", "content": "High tide?"},
    {
        "type": "ai",
        "id": "a",
        "content": "",
        "tool_calls": [{"id": "t1", "name": "tide", "args": {"port": "Brest"}, "type": "tool_call"}],
        "usage_metadata": USED,
        "response_metadata": {"model_name": "demo-1"},
    },
    {"type": "tool", "id": "t", "tool_call_id": "t1", "name": "tide", "content": "06:12"},
    {"type": "ai", "id": "b", "content": "At 06:12.", "tool_calls": [], "response_metadata": {}},
]


def state(messages: list[Any], number: int) -> dict[str, Any]:
    return {
        "values": {"messages": messages, "todos": []},
        "next": [],
        "checkpoint": {"thread_id": "th-1", "checkpoint_id": f"c{number}"},
        "created_at": f"2026-01-01T00:00:0{number}Z",
    }


CODED = [
    {"lc": 1, "type": "constructor", "id": ["x", f"{m['type'].title()}Message"], "kwargs": m} for m in SAID
]
SAVED = [{"type": m["type"], "data": {k: v for k, v in m.items() if k != "type"}} for m in SAID]


@pytest.mark.parametrize(
    "document",
    [
        state(SAID, 1),
        [state(SAID, 3), state(SAID[:2], 2), state(SAID[:1], 1), state([], 0)],
        {"v": 4, "ts": "2026-01-01T00:00:03Z", "channel_values": {"messages": SAID}, "versions_seen": {}},
        {"messages": SAID},
        SAID,
        {"messages": [{**m, "type": "AIMessageChunk"} if m["type"] == "ai" else m for m in SAID]},
        SAVED,
        CODED,
    ],
    ids=["state", "history", "checkpoint", "object", "list", "chunks", "saved", "coded"],
)
def test_messages_of_langchain_open_wherever_they_stand(document: Any) -> None:
    session = read_session(json.dumps(document).encode())
    assert session.format == "langgraph" and session.unknown == 0
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[1].blocks[-1] == ToolCall(id="t1", name="tide", input={"port": "Brest"})
    assert session.entries[2].blocks[0].text == "06:12"
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert [(each.prompt, each.cache_read, each.output) for each in usage] == [(30, 20, 5)]
    assert session.model == "demo-1"
    assert not session.boundaries


def test_a_history_of_states_is_read_from_its_end_and_knows_its_thread() -> None:
    summary = {"type": "human", "id": "s", "content": "Summary: the tide is at 06:12."}
    later = [summary, {"type": "human", "id": "q", "content": "And low tide?"}]
    session = read_session([state(later, 4), state(SAID, 3), state(SAID[:1], 1)])
    assert session.id == "th-1"
    ((_, boundary),) = session.boundaries
    assert boundary.summary is not None and "06:12" in boundary.summary
    assert session.created == "2026-01-01T00:00:01Z"


def test_messages_of_others_are_not_taken_for_langchains() -> None:
    for document in (
        [{"type": "human", "text": "no content"}],
        [{"values": {"messages": [{"role": "user"}]}}],
    ):
        with pytest.raises(ReadError):
            read_session(json.dumps(document).encode(), format=None)
