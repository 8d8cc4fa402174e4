"""SWE-agent's and mini-swe-agent's trajectories, beside counts that share no code with the readers."""

from __future__ import annotations

import json
from typing import Any

from inspector import open_session, read_session
from tests.rows import CASES

CASE, MINI = CASES / "swe-agent.traj.json", CASES / "mini-swe-agent.json"


def test_a_history_becomes_a_session_and_another_agents_part_of_it_stands_apart() -> None:
    session = open_session(CASE)
    assert [block.text for block in session.system] == ["You repair programs."]
    assert (session["m2"].meta, session["m3"].meta, session["m3"].opens_turn) == (True, False, True)
    assert session["m5"].role == "tool" and session["m5"].blocks[0].text.startswith("1: line 1")
    assert session["m4"].extra["step"] == {"execution_time": 0.5, "state": {"open_file": "a.py"}}
    assert [entry.id for entry in session.entries if entry.sidechain == "reviewer"] == ["m9", "m10"]
    assert [session.entries[at].id for at in session.path][-1] == "m8"
    assert all(entry.usage is None for entry in session.entries)
    assert session.extra["info"]["model_stats"]["tokens_sent"] == 300


def test_an_output_that_was_sent_shorter_counts_as_cleared_from_then_on() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert (boundary.kind, boundary.cleared) == ("micro", ("c1",))
    assert session.index["m7"] < session.index[name] < session.index["m8"]
    whole: dict[str, Any] = json.loads(CASE.read_text("utf-8"))
    whole["trajectory"][2]["query"][4] = whole["history"][4]
    assert not read_session(whole).boundaries


def test_minis_messages_become_a_session_with_the_usage_of_each_answer() -> None:
    session = open_session(MINI)
    assert (session.model, session.extra["version"]) == ("demo-1", "2.0.1")
    usages = [entry.usage for entry in session.entries if entry.usage is not None]
    assert [(each.input, each.cache_read, each.output) for each in usages] == [(50, 0, 8), (32, 48, 9)]
    assert session["m3"].timestamp == "2026-01-01T10:00:05.500Z"
    assert [entry.meta for entry in session.entries] == [False, False, True, False, False]
    assert [note.type for note in session.notes] == ["system prompt", "exit"]
    assert session["m6"].role == "tool" and len(session.turns) == 1
