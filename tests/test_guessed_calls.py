"""Calls that a user guesses from the README: defaults, turns by number, tables, the list of compactions."""

from __future__ import annotations

import json

import pytest

from inspector import (
    count_tokens,
    make_plan,
    open_demo,
    open_session,
    read_session,
    trace_recorded,
)
from inspector.errors import ArgumentError, EditError
from tests.shared import SHARED, needs_shared

ROLES = ("user", "assistant") * 5
TALK = read_session([{"role": role, "content": f"words {number}"} for number, role in enumerate(ROLES)])
DEMO = open_demo()


def test_a_turn_is_named_by_its_number() -> None:
    assert TALK.at("turn 2").leaf == "m4" and TALK.at("Turn 5").leaf == "m10"
    assert (
        make_plan(TALK, "keep-recent-turns", cut="turn 3").cut
        == make_plan(TALK, count_tokens(TALK), "keep-recent-turns", {"cut": "m5"}).cut
    )
    for wrong in ("turn 0", "turn 6"):
        with pytest.raises(EditError, match="5 turns"):
            TALK.at(wrong)
    with pytest.raises(EditError, match="5 turns"):
        make_plan(TALK, cut="turn 6")
    with pytest.raises(ArgumentError):
        TALK.at(5)  # type: ignore[arg-type]


def test_a_fact_is_asked_of_all_recorded_compactions() -> None:
    traces = trace_recorded(DEMO)
    assert [one.outcome for one in traces["offsets.py"]] == [trace["offsets.py"].outcome for trace in traces]
    assert traces[-1] is traces[len(traces) - 1] and list(traces[:1]) == [traces[0]]
    assert repr(traces).startswith("1  Trace(") and "<script" not in traces._repr_html_()


def test_compactions_are_listed_with_what_they_took() -> None:
    table = DEMO.compactions
    assert [(row.kind, row.turn) for row in table] == [("compact", 15), ("micro", 19)]
    worst = table.worst
    assert worst.number == 1 and worst.files == sum(
        traced.fact.kind == "file" and traced.outcome == "absent" for traced in worst.missing
    )
    assert worst.harm[0] == len(worst.missing)
    assert all(DEMO.find_facts(traced.fact.form).said for traced in worst.missing)
    assert str(worst.files) in repr(table) and "<td" in table._repr_html_()


@needs_shared
def test_the_size_after_a_compaction_is_the_reported_one() -> None:
    path = SHARED / "sessions/claude-code--entireio-cli/cc-2auto-1519l.jsonl"
    session = open_session(path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    places = {row.get("uuid"): number for number, row in enumerate(rows)}
    for row in session.compactions:
        later = rows[places[row.entry] :]
        usage = next(one["message"]["usage"] for one in later if one.get("message", {}).get("usage"))
        told = sum(
            usage.get(name, 0)
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        assert row.source == "reported" and told * 0.8 < row.after <= told
