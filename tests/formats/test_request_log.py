"""Logs of whole requests: what is new in each, what a broken beginning tells, and real logs by own count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning, ToolCall
from tests.shared import SHARED, needs_shared

CASES = Path(__file__).parents[1] / "cases" / "formats"
LOG = CASES / "request-log.jsonl"
CHAT = SHARED / "sessions" / "openai-chat--context-viewer" / "completions-ask_github.json"


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def request(*messages: Any, reply: str = "", **more: Any) -> dict[str, Any]:
    said = [{"role": role, "content": text} for role, text in messages]
    answer = {"choices": [{"message": {"role": "assistant", "content": reply}}]}
    return {"request": {"model": "m", "messages": said}, "response": answer, **more}


@pytest.mark.parametrize("newest_first", [False, True])
def test_items_of_a_conversation_are_read_in_the_order_they_came(newest_first: bool) -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List."}]},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
    ]
    listed = {"object": "list", "data": items[::-1] if newest_first else items, "has_more": False}
    session = read_session(json.dumps(listed).encode())
    assert [(e.role, e.blocks[0].kind) for e in session.entries] == [
        ("user", "text"),
        ("assistant", "tool_call"),
        ("tool", "tool_output"),
        ("assistant", "text"),
    ]


def test_requests_that_grow_are_one_session() -> None:
    session = open_session(LOG)
    assert (session.model, session.records) == ("gpt-5-2025-08-07", 5)
    assert [block.text for block in session.system] == ["You are terse."]
    assert [tool.name for tool in session.tools] == ["read"]
    main = [entry for entry in session.entries if entry.sidechain is None]
    assert [(entry.role, entry.kind) for entry in main] == [
        ("user", "message"),
        ("assistant", "message"),
        ("tool", "message"),
        ("assistant", "message"),
        ("user", "micro"),
        ("user", "message"),
        ("assistant", "message"),
        ("user", "compaction"),
        ("user", "message"),
        ("assistant", "message"),
    ]
    assert main[1].blocks[0] == ToolCall(id="c1", name="read", input={"path": "a.py"})
    usage = [entry.usage for entry in main if entry.usage]
    assert [(each.input, each.cache_read, each.output) for each in usage] == [
        (100, 0, 10),
        (210, 90, 5),
        (100, 40, 4),
        (90, 0, 5),
    ]


def test_responses_are_joined_by_the_reply_they_go_on_from() -> None:
    session = open_session(CASES / "request-log.responses.json")
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[1].blocks[0] == Reasoning(text="Look.", encrypted="seal")
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [50, 90]
    second = json.loads((CASES / "request-log.responses.json").read_text("utf-8"))[1]
    middle = read_session(dump(second))
    assert middle.warnings == (
        "1 request continues after a reply that is not in the file: earlier messages are missing",
    )


@needs_shared
def test_a_real_completion_holds_what_it_sent() -> None:
    raw = json.loads(CHAT.read_text("utf-8"))
    session = open_session(CHAT)
    sent = [message for message in raw["messages"] if message["role"] != "system"]
    assert len(session.entries) == len(sent) + 1
    calls = [call for message in sent for call in message.get("tool_calls") or ()]
    blocks = [block.kind for entry in session.entries for block in entry.blocks]
    assert blocks.count("tool_call") == len(calls) == blocks.count("tool_output")
    (usage,) = [entry.usage for entry in session.entries if entry.usage]
    assert (usage.prompt, usage.output) == (raw["usage"]["prompt_tokens"], raw["usage"]["completion_tokens"])
    assert session.unknown == 0 and len(session.live.pairs) == len(calls)
