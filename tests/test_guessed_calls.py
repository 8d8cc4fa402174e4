"""Calls that a user guesses from the README: defaults, turns by number, tables, the list of compactions."""

from __future__ import annotations

import json

import pytest

from inspector import (
    compare_policies,
    count_tokens,
    find_policy,
    lint,
    make_plan,
    open_demo,
    open_session,
    read_session,
    replay,
    trace_recorded,
)
from inspector.errors import ArgumentError, EditError
from inspector.mixins import Framed
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


def test_a_turn_that_a_compaction_took_is_no_cut() -> None:
    with pytest.raises(EditError, match="a compaction took it"):
        make_plan(DEMO, cut="turn 2")


def test_a_plan_needs_a_session_alone() -> None:
    plan = make_plan(DEMO)
    assert plan.policy == find_policy("claude-code") and plan.ledger.session is DEMO
    assert make_plan(TALK).policy == find_policy("flue")  # nothing is known of its harness
    assert make_plan(DEMO, "pi").policy == make_plan(DEMO, plan.ledger, "pi").policy
    again = make_plan(DEMO)
    assert make_plan(DEMO, "pi").ledger is again.ledger  # counted once
    assert make_plan(TALK, "pi").ledger is not again.ledger
    edits = {"cut": "end"}
    assert make_plan(DEMO, "pi", edits).edits == make_plan(DEMO, "pi", edits=edits).edits
    with pytest.raises(ArgumentError, match="ledger"):
        make_plan(DEMO, "pi", "flue")  # two policies


def test_a_cut_stands_beside_other_edits() -> None:
    pinned = make_plan(TALK, "keep-recent-turns", edits={"pins": ["m1"]}, cut="m7")
    assert pinned.edits.pins == ("m1",) and pinned.edits.cut == "m7"


TABLES: list[Framed] = [
    DEMO.compactions,
    DEMO.facts,
    DEMO.find_facts("offsets"),
    count_tokens(DEMO),
    make_plan(DEMO, "flue", cut="end"),
    make_plan(DEMO, "flue", cut="end").trace,
    lint(DEMO),
    replay(DEMO, "flue"),
    compare_policies(DEMO, ["flue", "pi"]),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_everything_that_is_a_table_has_rows(table: Framed) -> None:
    columns, rows = table.to_columns(), table.to_dicts()
    assert rows and {len(column) for column in columns.values()} == {len(rows)}
    assert rows[-1] == {name: column[-1] for name, column in columns.items()}


def test_the_rows_of_a_plan_add_up_to_what_it_leaves_of_the_blocks() -> None:
    plan = make_plan(DEMO, "flue", cut="end")
    rows = plan.to_dicts()
    assert sum(row["tokens"] for row in rows) == int(plan.ledger.live_tokens(DEMO).sum())
    assert all(row["tokens"] == row["tokens_after"] for row in rows if row["retention"] == "verbatim")
    assert {row["ref"] for row in rows if row["retention"] != "verbatim"} == set(map(str, plan.lost))


def test_a_fact_is_asked_of_all_recorded_compactions() -> None:
    traces = trace_recorded(DEMO)
    assert [one.outcome for one in traces["offsets.py"]] == [trace["offsets.py"].outcome for trace in traces]
    assert traces[-1] is traces[len(traces) - 1] and list(traces[:1]) == [traces[0]]
    assert repr(traces).startswith("1  Trace(") and "<script" not in traces._repr_html_()


def test_the_names_of_a_session_are_ours() -> None:
    names = dir(DEMO)
    assert {"compactions", "turns", "why", "entries"} <= set(names)
    assert not {"model_dump", "model_fields", "construct", "parse_obj"} & set(names)


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


def test_a_session_without_a_compaction_says_so() -> None:
    assert not TALK.compactions and repr(TALK.compactions) == "This session records no compaction."
    with pytest.raises(ValueError, match="no compaction"):
        _ = TALK.compactions.worst


@needs_shared
def test_an_encrypted_summary_leaves_no_claim() -> None:
    session = open_session(SHARED / "sessions/codex--agentv/codex-3compacted-2302l.jsonl")
    for row in session.compactions:
        assert row.unknown and not row.missing and not row.summary
    assert "?" in repr(session.compactions)


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
