"""OpenHands' events, beside a count of their lines that shares no code with the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import EmptySession
from inspector.session.blocks import Reasoning, ToolOutput
from tests.recount.__main__ import compare
from tests.rows import CASES, load

CASE = CASES / "openhands.jsonl"


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
    events = load(CASE)
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


def write_folder(folder: Path) -> Path:
    """The case as the SDK keeps it: a file for each event, and the last figures in the state."""
    rows = load(CASE)
    stats = [row["value"] for row in rows if row.get("key") == "stats"]
    events = [row for row in rows if row["kind"] != "ConversationStateUpdateEvent"]
    (folder / "events").mkdir(parents=True)
    for number, row in enumerate(events):
        # Five digits or more: their names do not sort as they follow each other.
        digits = 5 if number < 7 else 7
        (folder / "events" / f"event-{number:0{digits}}-{row['id']}.json").write_text(
            json.dumps(row, indent=number % 2 or None)
        )
    state = {"id": "conv-9", "agent": {"llm": {"model": "demo-1", "api_key": "**********"}, "kind": "Agent"}}
    state |= {"workspace": {"working_dir": "/w"}, "persistence_dir": str(folder), "execution_status": "idle"}
    path = folder / "base_state.json"
    path.write_text(json.dumps({**state, "stats": stats[-1]}))
    return path


def test_a_folder_of_events_is_one_session(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "conv")
    session, lines = open_session(tmp_path / "conv"), open_session(CASE)
    assert session == open_session(path)
    assert (session.format, session.id, session.cwd, session.model) == ("openhands", "conv-9", "/w", "demo-1")
    assert [(e.id, e.role, e.blocks) for e in session.entries] == [
        (e.id, e.role, e.blocks) for e in lines.entries
    ]
    assert session.boundaries == lines.boundaries and session.live_names == lines.live_names
    assert [entry.usage for entry in session.entries] == [entry.usage for entry in lines.entries]
    assert (session.unknown, session.corrupt, session.warnings) == (0, (), ())
    assert "api_key" not in session.model_dump_json()
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []


def test_what_is_missing_or_broken_in_a_folder_of_events_is_told(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "conv")
    events = sorted((tmp_path / "conv" / "events").iterdir(), key=lambda each: int(each.name.split("-")[1]))
    events[3].unlink()
    events[5].write_text("[1, 2")
    (tmp_path / "conv" / "events" / "event-9-b.txt").write_text("no event")
    (tmp_path / "conv" / "events" / "event-x-b.json").write_text("no event")
    session = open_session(path)
    assert session.warnings == ("1 event is missing in its folder",)
    assert [each.line for each in session.corrupt] == [7]
    for each in events:
        each.unlink(missing_ok=True)
    with pytest.raises(EmptySession, match="events belong into the folder events/"):
        open_session(path)
