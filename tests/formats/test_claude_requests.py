"""Recorded requests of Claude Code: every one rebuilt, equal to the messages that were sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import count_tokens, make_plan, open_session, read_requests, trace_recorded
from inspector.formats.harnesses.claude_code.recorded_requests import hash_message
from inspector.planning.assemble import build_context
from tests.rows import dump
from tests.shared import SHARED, needs_shared

SAMPLE = SHARED / "samples" / "claude-code-requests" / "01-session.jsonl"


def write(message: Any) -> Any:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": message["role"], "blocks": [show(block) for block in blocks]}


def show(block: Any) -> str:
    if block["type"] == "tool_use":
        return str(block["name"])
    return str(block.get("text", block.get("content")))


@needs_shared
def test_every_request_is_rebuilt_from_the_rows() -> None:
    told = json.loads(SAMPLE.with_suffix(".expected.json").read_text("utf-8"))
    requests = read_requests(SAMPLE.read_bytes())
    assert [(r.id, r.base, r.keep, r.is_whole) for r in requests] == [
        (one["id"], one["base"], one["keep"], True) for one in told["requests"]
    ]
    for request, one in zip(requests, told["requests"], strict=True):
        assert [write(message) for message in request.messages] == one["messages"]


@needs_shared
def test_rows_of_requests_are_known_and_tell_the_prompt_and_the_tools() -> None:
    session = open_session(SAMPLE)
    assert [note.type for note in session.notes if not note.known] == []
    [shape] = {json.dumps(request.shape) for request in read_requests(SAMPLE.read_bytes())}
    sent = json.loads(shape)
    assert [block.text for block in session.system] == [part["text"] for part in sent["system"]]
    assert [tool.name for tool in session.tools] == [tool["name"] for tool in sent["tools"]]


def test_a_request_whose_base_is_missing_says_so() -> None:
    prompt = {"role": "user", "content": [{"type": "text", "text": "Go on."}]}
    rows = [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Go on."}},
        {"type": "api-request", "id": "r2", "base": "r1", "keep": 2, "tail": [hash_message(prompt)]},
    ]
    [request] = read_requests("\n".join(map(json.dumps, rows)).encode())
    assert request.messages == (None, None, prompt)
    assert not request.is_whole


@needs_shared
def test_what_only_the_requests_hold_is_provided_and_stays() -> None:
    """The rules of the program's first message; not the attached file, which is an entry of its own."""
    session = open_session(SAMPLE)
    assert [one.text for one in session.provided] == [
        "<system-reminder>\n# Rules\nSay blue.\n</system-reminder>"
    ]
    plan = make_plan(session, count_tokens(session), "claude-code")
    assert session.provided == build_context(session, plan).provided
    assert plan.trace["Say blue."].outcome == trace_recorded(session)[0]["Say blue."].outcome == "verbatim"


def test_a_reminder_that_a_message_holds_is_not_taken_twice(tmp_path: Path) -> None:
    def remind(text: str) -> dict[str, str]:
        return {"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>"}

    said = [remind("Be brief."), remind("Say blue."), {"type": "text", "text": "Go."}]
    sent = {"role": "user", "content": said}
    later = {"role": "user", "content": [remind("Now it rains."), {"type": "text", "text": "On."}]}
    sdk = {"querySource": "sdk"}
    here = {"sessionId": "s", "timestamp": "2026-11-20T10:00:00.000Z"}
    own = {"role": "user", "content": [remind("Be brief."), {"type": "text", "text": "Go."}]}
    rows = [
        {"type": "user", "uuid": "u", "parentUuid": None, "message": own},
        *({"type": "api-request-blob", "hash": hash_message(one), "message": one} for one in (sent, later)),
        {"type": "api-request", "id": "r1", "keep": 0, "tail": [hash_message(sent)], **sdk},
        {"type": "api-request", "id": "r2", "base": "r1", "keep": 1, "tail": [hash_message(later)], **sdk},
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(dump(*(here | row for row in rows)))
    assert [one.text for one in open_session(path).provided] == [remind("Say blue.")["text"]]
    assert len(read_requests(path.read_bytes())) == 2
