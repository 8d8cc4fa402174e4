"""Copilot CLI's event logs, beside a count of their rows that shares no code with the reader."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.formats.harnesses.copilot import READER
from inspector.session.blocks import Reasoning
from inspector.session.speakers import find_speech
from tests.recount.__main__ import compare
from tests.shared import SHARED

CASE = Path(__file__).parents[1] / "cases" / "formats" / "copilot-cli.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in CASE.read_text("utf-8").splitlines()]
REAL = sorted((SHARED / "sessions").glob("copilot-cli--*/*.jsonl"))


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


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


def test_what_a_developer_is_to_say_stands_beside_the_system_s_words() -> None:
    more = [
        {**ROWS[2], "id": "d1", "data": {"role": "developer", "content": "Mind the budget."}},
        {**ROWS[2], "id": "d2", "data": {"role": "system", "content": "You are terse."}},
        {"type": "user.message", "id": "d3", "data": {"content": None}},
    ]
    session = read_session(dump(*ROWS, *more))
    assert [block.text for block in session.system] == ["You are terse.", "Mind the budget."]
    assert session.unknown == read_session(dump(*ROWS)).unknown
    assert len(session.turns) == len(read_session(dump(*ROWS)).turns), "a prompt of nothing asks nothing"


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


def test_a_compaction_that_failed_changes_nothing() -> None:
    session = read_session(dump(*ROWS[:13]))
    assert not session.boundaries
    assert [note.type for note in session.notes][-1] == "session.compaction_complete"


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


def test_a_sub_agents_events_stand_apart() -> None:
    session = open_session(CASE)
    aside = [entry for entry in session.entries if entry.sidechain == "agent-7"]
    assert [entry.id for entry in aside] == ["e16"]
    assert "e16" not in {session.entries[at].id for at in session.path}


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_log_holds_what_its_rows_hold(path: Path) -> None:
    session = open_session(path)
    rows, broken = [], 0
    for line in path.read_text("utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            broken += 1
    kinds = Counter(row["type"] for row in rows)
    assert (session.records, len(session.corrupt), session.unknown) == (len(rows) + broken, broken, 0)
    assert len(session.turns) == kinds["user.message"]
    roles = Counter(entry.role for entry in session.entries)
    assert (roles["assistant"], roles["tool"]) == (
        kinds["assistant.message"],
        kinds["tool.execution_complete"],
    )
    asked = [row["data"].get("toolRequests") or [] for row in rows if row["type"] == "assistant.message"]
    calls = [block for entry in session.entries for block in entry.blocks if block.kind == "tool_call"]
    assert len(calls) == sum(map(len, asked))
    told = sum(row["data"].get("outputTokens", 0) for row in rows if row["type"] == "assistant.message")
    assert sum(entry.extra.get("outputTokens", 0) for entry in session.entries) == told
    assert not len(session.live.orphans)


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"v{number}", "timestamp": f"2026-01-01T00:00:{number:02}Z"}


def test_a_log_that_tells_no_version_opens_and_other_starts_do_not() -> None:
    rows = [event(1, "session.start", sessionId="c-2", context={"cwd": "/w"})]
    rows += [event(2, "user.message", content="Hi."), event(3, "assistant.message", content="Hello.")]
    session = read_session(dump(*rows))
    assert (session.format, session.id, session.cwd, len(session.turns)) == ("copilot-cli", "c-2", "/w", 1)
    copied = read_session(dump(event(1, "session.start", selectedModel="m-1"), *rows[1:]))
    assert (copied.format, copied.model, len(copied.turns)) == ("copilot-cli", "m-1", 1)
    assert READER.sniff(dump(rows[0])) is not None
    assert READER.sniff(dump(event(1, "session.start"), *rows[1:])) is not None


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


def test_the_instructions_of_a_skill_open_no_turn() -> None:
    rows = [ROWS[0], event(1, "user.message", content="Fill the form.")]
    rows += [event(2, "user.message", content="# PDF\nUse the tool.", source="skill-pdf")]
    rows += [event(3, "user.message", content="And sign it.", source="user")]
    session = read_session(dump(*rows, event(4, "assistant.message", content="Done.")))
    assert [entry.meta for entry in session.entries] == [False, True, False, False]
    assert len(session.turns) == 2


def test_what_a_summary_took_is_read_as_older_versions_tell_it() -> None:
    used = {"input": 2_000, "output": 300, "cachedInput": 1_500}
    done = event(
        3, "session.compaction_complete", success=True, summaryContent="S", compactionTokensUsed=used
    )
    rows = [ROWS[0], event(1, "user.message", content="Hi."), event(2, "assistant.message", content="A.")]
    usage = read_session(dump(*rows, done))["v3"].usage
    assert usage is not None and (usage.input, usage.cache_read, usage.output) == (500, 1_500, 300)


def test_a_log_that_begins_in_the_middle_opens_and_says_so() -> None:
    first = next(at for at, row in enumerate(ROWS) if row["type"] == "user.message")
    session = read_session(dump(*ROWS[first:]))
    whole = read_session(dump(*ROWS))
    assert session.format == "copilot-cli"
    assert session.live_names == whole.live_names
    assert session.warnings[0].startswith("its start is not in the file")
    assert not any("its start is not" in told for told in whole.warnings)


def charge(number: int, call: str, sent: int, read: int, **more: Any) -> dict[str, Any]:
    usage = {"inputTokens": sent, "outputTokens": 7, "cacheReadTokens": read, "cacheWriteTokens": 5}
    return event(number, "session.usage_record", usage=usage | {"apiCallId": call}) | more


def test_what_a_request_took_is_told_by_the_record_of_its_call_and_counted_once(tmp_path: Path) -> None:
    rows = [ROWS[0], event(1, "user.message", content="Hi.")]
    rows += [charge(2, "k1", 900, 800), charge(3, "k1", 900, 800)]
    rows += [event(4, "assistant.message", content="A.", apiCallId="k1")]
    rows += [event(5, "assistant.message", content="More of it.", apiCallId="k1")]
    rows += [
        event(6, "user.message", content="And?"),
        event(7, "assistant.message", content="B.", apiCallId="k2"),
    ]
    rows += [charge(8, "k2", 1_000, 0), charge(9, "k3", 70, 0)]
    path = tmp_path / "events.jsonl"
    path.write_bytes(dump(*rows))
    session = open_session(path)
    told = {entry.id: entry.usage for entry in session.entries if entry.usage is not None}
    assert {name: (usage.input, usage.cache_read, usage.cache_write) for name, usage in told.items()} == {
        "v4": (95, 800, 5),
        "v7": (995, 0, 5),
    }
    assert session.warnings == (
        "it tells what 1 call whose reply is not in the file took: that is not counted",
    )
    assert [str(each) for each in compare(path, session) if not each.same] == []


def test_the_record_of_a_summary_is_the_compaction_s_own() -> None:
    used = {"inputTokens": 70, "outputTokens": 7, "cacheReadTokens": 0, "cacheWriteTokens": 5}
    done = event(
        4, "session.compaction_complete", success=True, summaryContent="S", compactionTokensUsed=used
    )
    rows = [ROWS[0], event(1, "user.message", content="Hi."), event(2, "assistant.message", content="A.")]
    assert not read_session(dump(*rows, charge(3, "k9", 70, 0), done)).warnings


@pytest.mark.parametrize("mark", ["envelope", "data"])
def test_a_sub_agent_s_model_compaction_and_figures_are_not_the_conversation_s(
    mark: str, tmp_path: Path
) -> None:
    def own(row: dict[str, Any]) -> dict[str, Any]:
        if mark == "envelope":
            return row | {"agentId": "a-1"}
        return row | {"data": row["data"] | {"parentToolCallId": "t-1"}}

    rows = [
        ROWS[0],
        event(1, "user.message", content="Count."),
        event(2, "session.model_change", newModel="big"),
    ]
    rows += [event(3, "assistant.message", content="I ask one.", apiCallId="k1"), charge(4, "k1", 500, 0)]
    rows += [own(event(5, "session.model_change", newModel="small"))]
    rows += [own(event(6, "user.message", content="List it.", source="agent-x"))]
    rows += [own(event(7, "assistant.message", content="Three.", apiCallId="k2", model="small"))]
    rows += [own(charge(8, "k2", 100, 0))]
    rows += [own(event(9, "session.compaction_complete", success=True, summaryContent="S"))]
    rows += [
        event(10, "assistant.message", content="Three, it says.", apiCallId="k3"),
        charge(11, "k3", 600, 0),
    ]
    path = tmp_path / "events.jsonl"
    path.write_bytes(dump(*rows))
    session = open_session(path)
    assert session.live_names == ["v1", "v3", "v10"] and not session.boundaries
    assert (session.model, session["v10"].model, session["v7"].model) == ("big", "big", "small")
    assert [entry.id for entry in session.entries if entry.sidechain] == ["v6", "v7"]
    assert len(session.turns) == 1
    assert [str(each) for each in compare(path, session) if not each.same] == []


@pytest.mark.parametrize(
    ("fields", "typed"),
    [
        ({"content": "Go on.", "source": "autopilot"}, False),
        ({"content": "<system_reminder>Mind it.", "source": "instruction-discovery"}, False),
        ({"content": "Found three.", "source": "agent-7"}, False),
        ({"content": "<system_notification>\nOne is done.\n</system_notification>"}, False),
        ({"content": "/review", "source": "command-review"}, True),
        ({"content": "Now this.", "source": "user"}, True),
        ({"content": "Now this.", "source": ""}, True),
    ],
)
def test_who_wrote_a_prompt_is_told_by_its_source(
    fields: dict[str, Any], typed: bool, tmp_path: Path
) -> None:
    rows = [ROWS[0], event(1, "user.message", content="Hi."), event(2, "assistant.message", content="A.")]
    path = tmp_path / "events.jsonl"
    path.write_bytes(dump(*rows, event(3, "user.message", **fields)))
    session = open_session(path)
    assert len(session.turns) == 1 + typed
    assert [str(each) for each in compare(path, session) if not each.same] == []
