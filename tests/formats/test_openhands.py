"""OpenHands' events, beside a count of their lines that shares no code with the reader."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning, ToolOutput
from tests.shared import SHARED, needs_shared

CASE = Path(__file__).parents[1] / "cases" / "formats" / "openhands.jsonl"
REAL = SHARED / "sessions" / "openhands--sdk" / "events.jsonl"


def test_events_become_a_session() -> None:
    session = open_session(CASE)
    assert (session.model, [tool.name for tool in session.tools]) == ("demo-1", ["terminal"])
    assert [block.text for block in session.system] == ["You are OpenHands."]
    reply = session["e4"]
    assert reply.blocks[0] == Reasoning(text="Hm.")
    assert [block.kind for block in reply.blocks] == ["reasoning", "text", "tool_call", "tool_call"]
    assert [source.line for source in reply.sources] == [4, 5]
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [100, 200]
    failed = session["e14"].blocks[0]
    assert isinstance(failed, ToolOutput) and failed.is_error and failed.text == "no such tool"
    assert len(session.turns) == 2


def test_a_condensation_keeps_what_it_does_not_forget() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert boundary.kept == ("e2", "e9")
    assert boundary.summary == "a.py has three lines and nine words."
    assert session.live_names == [name, "e2", "e9", "e12", "e13", "e14"]


@needs_shared
def test_real_events_are_all_there() -> None:
    session = open_session(REAL)
    rows = [json.loads(line) for line in REAL.read_text("utf-8").splitlines()]
    kinds = Counter(row["kind"] for row in rows)
    assert (session.records, session.unknown, session.corrupt) == (len(rows), 0, ())
    roles = Counter(entry.role for entry in session.entries)
    assert roles["tool"] == kinds["ObservationEvent"]
    replies = {row["llm_response_id"] for row in rows if row["kind"] == "ActionEvent"}
    assert roles["assistant"] == len(replies)
    sums = [
        row["value"]["usage_to_metrics"]["default"]["accumulated_token_usage"]["prompt_tokens"]
        for row in rows
        if row.get("key") == "stats"
    ]
    # The second sum stands before the first action, the last before the second; one request is in no row.
    told = [entry.usage.prompt for entry in session.entries if entry.usage]
    assert told == [sums[1] - sums[0], sums[-1] - sums[-2]]


def say(name: str, parent: str | None, source: str, text: str) -> dict[str, Any]:
    message = {
        "role": "user" if source == "user" else "assistant",
        "content": [{"type": "text", "text": text}],
    }
    about = {"id": name, "timestamp": "2026-10-01T00:00:00", "source": source, "kind": "MessageEvent"}
    return {**about, "parent_id": parent, "llm_message": message}


def test_a_conversation_that_branches_goes_on_at_the_parent_that_an_event_names() -> None:
    condensed = {"id": "e4", "timestamp": "t", "source": "environment", "kind": "Condensation"}
    rows = [
        say("e1", "__root__", "user", "Count a.py."),
        say("e2", "e1", "agent", "Three."),
        say("e3", "e2", "user", "Count b.py."),
        {**condensed, "parent_id": "e3", "forgotten_event_ids": ["e1", "e2"], "summary": "a.py has three."},
        say("e5", "e4", "agent", "Nine."),
        say("e6", "e2", "user", "Count c.py instead."),
        {"id": "e7", "kind": "PauseEvent", "source": "user", "timestamp": "t", "parent_id": "e6"},
        say("e8", "e7", "agent", "None."),
    ]
    session = read_session("\n".join(map(json.dumps, rows)).encode())
    assert [session.entries[at].id for at in session.path] == ["e1", "e2", "e6", "e8"]
    assert session.live_names == ["e1", "e2", "e6", "e8"] and len(session.turns) == 2
    rows[5:] = [say("e9", "e5", "user", "And d.py?")]
    onward = read_session("\n".join(map(json.dumps, rows)).encode())
    assert onward.live_names == ["e4", "e3", "e5", "e9"]
    again = [*rows, say("e10", "e4", "user", "Or f.py?")]
    assert read_session("\n".join(map(json.dumps, again)).encode()).live_names == ["e4", "e3", "e10"]


def test_a_list_of_events_is_the_conversation_that_its_lines_are() -> None:
    lines = open_session(CASE)
    events = [json.loads(line) for line in CASE.read_text("utf-8").splitlines()]
    for document in (
        events,
        {"items": events, "next_page_id": None},
        {"instance_id": "i", "history": events},
    ):
        session = read_session(document)
        assert session.format == "openhands"
        assert [(entry.id, entry.text) for entry in session.entries] == [
            (entry.id, entry.text) for entry in lines.entries
        ]
        assert len(session.boundaries) == len(lines.boundaries)


def test_what_the_harness_puts_behind_a_message_is_shown_to_the_model_and_is_nobodys_prompt() -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "Mend it."}]}
    event = {"id": "e1", "kind": "MessageEvent", "source": "user", "llm_message": said}
    event["extended_content"] = [{"type": "text", "text": "<EXTRA_INFO>How to mend.</EXTRA_INFO>"}]
    forgets = {"id": "e2", "kind": "Condensation", "source": "environment", "forgotten_event_ids": ["e1"]}
    session = read_session([event, forgets | {"summary": "To mend."}])
    assert [(entry.id, entry.meta) for entry in session.entries][:2] == [("e1", False), ("e1/added", True)]
    assert len(session.turns) == 1
    assert session.at("e1/added").live_names == ["e1", "e1/added"]
    assert "e1/added" not in session.live_names, "it is forgotten with its event"
