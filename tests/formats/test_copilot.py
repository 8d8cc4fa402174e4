"""Copilot CLI's event logs, beside a count of their rows that shares no code with the reader."""

from __future__ import annotations

from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning
from inspector.session.speakers import find_speech
from tests.rows import CASES, dump, load

CASE = CASES / "copilot-cli.jsonl"
ROWS: list[dict[str, Any]] = load(CASE)


def test_a_log_becomes_a_session() -> None:
    session = open_session(CASE)
    assert (session.id, session.model, session.cwd) == ("c-1", "claude-sonnet-4.6", "/w")
    assert (session.extra["version"], session.window) == ("1.0.64", 128000)
    assert [block.text for block in session.system] == ["You are a terminal assistant."]
    reply = session["e7"]
    assert reply.blocks[0] == Reasoning(text="Simple.", encrypted="seal")
    assert reply.extra["outputTokens"] == 30 and reply.usage is None
    assert session["e9"].blocks[0].text == "12 a.py"
    assert "modelMetrics" in session.extra


def test_a_prompt_is_what_the_model_got_and_only_its_own_words_are_a_persons() -> None:
    session = open_session(CASE)
    entry = session["e5"]
    assert entry.extra["content"] == "Count the lines of a.py."
    said = {span.speaker: entry.text[span.start : span.end] for span in find_speech(entry, entry.blocks[0])}
    assert said["harness"].startswith("<current_datetime>")
    assert said["user"].strip() == "Count the lines of a.py."
    assert session["e20"].meta
    assert len(session.turns) == 2


def test_a_compaction_removes_the_first_messages_and_keeps_what_came_meanwhile() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert (boundary.tokens_before, boundary.tokens_after, boundary.tokens_saved) == (9000, 3300, 5700)
    assert boundary.extra["sections"]["conversationTokens"] == [6000, 300]
    usage = session[name].usage
    assert usage is not None and (usage.input, usage.cache_read) == (100, 6000)
    assert session.live_names == [name, "e12", "e19", "e20"]


def test_what_was_rewound_cleared_or_cut_off_is_out_of_the_context() -> None:
    session = open_session(CASE)
    assert "e17" in session.index and "e17" not in session.live_names
    cleared = read_session(
        dump(
            *ROWS[:10],
            {"type": "session.context_cleared", "data": {"messagesCleared": 4}, "id": "x"},
            ROWS[11],
        )
    )
    assert cleared.live_names == ["e12"]
    cut = {"messagesRemovedDuringTruncation": 3, "preTruncationTokensInMessages": 70}
    truncated = read_session(dump(*ROWS[:10], {"type": "session.truncation", "data": cut, "id": "x"}))
    assert truncated.live_names == ["x", "e10"]
    assert truncated.boundaries[0][1].trigger == "truncation"


def test_the_window_is_the_last_limit_that_an_event_of_the_conversation_states() -> None:
    cut = {
        "type": "session.truncation",
        "data": {"messagesRemovedDuringTruncation": 1, "tokenLimit": 400_000},
    }
    rows = [*ROWS, {**cut, "id": "cut"}]
    assert read_session(dump(*rows)).window == 400_000
    start = {
        "type": "session.compaction_start",
        "data": {"tokenLimit": 9_000},
        "id": "s",
        "agentId": "agent-7",
    }
    assert read_session(dump(*rows, start)).window == 400_000


def test_a_sub_agents_events_stand_apart() -> None:
    session = open_session(CASE)
    aside = [entry for entry in session.entries if entry.sidechain == "agent-7"]
    assert [entry.id for entry in aside] == ["e16"]
    assert "e16" not in {session.entries[at].id for at in session.path}


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"v{number}", "timestamp": f"2026-01-01T00:00:{number:02}Z"}


def test_a_rewind_that_names_its_events_leaves_what_came_between() -> None:
    rows = [
        ROWS[0],
        event(1, "user.message", content="Withdrawn."),
        event(2, "assistant.message", content="A."),
    ]
    rows += [event(3, "user.message", content="Stays."), event(4, "assistant.message", content="B.")]
    rewind = event(5, "session.snapshot_rewind", upToEventId="v1", eventIds=["v1", "v4"])
    for ephemeral in ({}, {"ephemeral": True}):
        session = read_session(dump(*rows, rewind | ephemeral))
        assert [session.entries[at].text for at in session.path] == ["A.", "Stays."]
        assert len(session.turns) == 1 and len(session.entries) == 4
