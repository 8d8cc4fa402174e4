"""The file's own compaction as a policy: what it left is what the file says, an edit changes just that."""

from __future__ import annotations

import json

import pytest

from inspector.demo import LOST_PATH, open_demo
from inspector.errors import PolicyError
from inspector.facts.trace import trace_recorded
from inspector.formats.readers import read_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.planner import make_plan
from inspector.policies.registry import list_policies
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.block import describe_summary
from inspector.workbench.payloads.figures import list_figures
from tests.shared import SHARED, needs_shared, open_shared

SESSION = open_demo()
LEDGER = count_tokens(SESSION)
COMPACTION = next(entry for entry in SESSION.entries if entry.kind == "compaction")
BEFORE = SESSION.at(COMPACTION.parent)


def test_the_plan_has_the_recorded_summary_and_cut() -> None:
    plan = make_plan(BEFORE, LEDGER, "recorded")
    assert plan.checkpoint is not None
    assert plan.checkpoint.text == COMPACTION.text.strip()
    assert plan.place == len(BEFORE.live)
    assert plan.after < plan.before
    assert plan.deterministic
    assert plan.trace[LOST_PATH].outcome == "absent"


def test_whether_a_recorded_summary_would_be_the_same_again_is_not_said() -> None:
    recorded, planned = (make_plan(BEFORE, LEDGER, name) for name in ("recorded", "flue"))
    assert "deterministic" in {figure.id for figure in list_figures(planned)}
    assert "deterministic" not in {figure.id for figure in list_figures(recorded)}
    assert "deterministic" not in dict(describe_summary(recorded, recorded.place or 0).facts)


def test_what_would_have_kept_a_fact_is_an_edit_of_what_happened() -> None:
    (recorded,) = trace_recorded(SESSION, SESSION.facts)
    plan = make_plan(BEFORE, LEDGER, "recorded")
    fix = next(fix for fix in recorded[LOST_PATH].fixes(plan) if fix.means == "pin")
    assert (fix.plan.policy.name, fix.outcome) == ("recorded", "verbatim")
    assert fix.plan.checkpoint == plan.checkpoint
    assert fix.plan.after == plan.after + fix.price
    # Nothing else of what happened is another.
    assert fix.plan.place == plan.place


def test_a_recorded_cut_between_a_call_and_its_output_stays_where_it_is_and_says_that_it_is_refused() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {"path": "src"}}
    said = [
        {"role": "user", "content": "What is here?"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "I look."}, call],
            "stopReason": "toolUse",
        },
        {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "ls",
            "content": [{"type": "text", "text": "a.py"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "One file."}], "stopReason": "stop"},
    ]
    named = [{"type": "message", "id": f"m{n}", "message": message} for n, message in enumerate(said)]
    rows = [*named, {"type": "compaction", "id": "c", "summary": "A folder.", "firstKeptEntryId": "m2"}]
    before = [None, *(row["id"] for row in rows)]
    stamped = [
        {**row, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z"}
        for row, parent in zip(rows, before, strict=False)
    ]
    session = read_session(
        json.dumps({"version": 3, "entries": stamped, "leafId": "c", "metadata": {}}).encode()
    )
    plan = make_plan(session.at("m3"), "recorded")
    assert plan.cut is not None
    assert (plan.cut.entry, plan.cut.legal, plan.cut.rule) == ("m2", False, "orphan-output")
    kept = {row["ref"]: row["retention"] for row in plan.to_dicts()}
    assert kept == dict.fromkeys(("m0/0", "m1/0", "m1/1"), "summarised") | dict.fromkeys(
        ("m2/0", "m3/0"), "verbatim"
    )
    assert any(plan.cut.sentence in note for note in plan.notes)
    # The plan is what the file left, and the user's own cut is not parted.
    planned, left = build_context(plan.session, plan), live_context(session, count_tokens(session))
    assert [piece.block for piece in planned.pieces] == [piece.block for piece in left.pieces]
    assert make_plan(session.at("m3"), "recorded", cut="m1").cut.legal


def test_a_moment_without_a_compaction_after_it_has_none() -> None:
    with pytest.raises(PolicyError, match="records no compaction right after"):
        make_plan(SESSION, LEDGER, "recorded")
    assert "recorded" not in [policy.name for policy in list_policies()]


@needs_shared
@pytest.mark.parametrize(
    "name",
    ["claude-code--context-evaluator/cc-1compact-417l.jsonl", "pi--pi-mono/pi-before-compaction.jsonl"],
)
def test_on_real_sessions_the_plan_leaves_what_the_file_left(name: str) -> None:
    session: Session = open_shared(SHARED / "sessions" / name)
    ledger = count_tokens(session)
    for recorded in trace_recorded(session, session.facts):
        plan = make_plan(recorded.scene.session, ledger, "recorded")
        told = {(one.fact.kind, one.fact.form): one.outcome for one in recorded if one.stood}
        planned = {(one.fact.kind, one.fact.form): one.outcome for one in plan.trace if one.stood}
        assert told.keys() == planned.keys()
        same = sum(planned[key] == outcome for key, outcome in told.items())
        assert same >= 0.98 * len(told)
