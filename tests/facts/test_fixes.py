"""Fixes: each keeps what it says at the price it says, applied as a hand would; words for a summariser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector import Checkpoint
from inspector.demo import LOST_PATH
from inspector.errors import EditError
from inspector.facts.facts import find_facts
from inspector.facts.fixes import find_fixes
from inspector.facts.focus import write_focus
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.facts.traced import TracedFact
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.plan import Plan, make_plan
from inspector.policies.policy import Edits
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context, check_request
from inspector.wire.render import render_request
from tests.facts.test_explain import compact, use
from tests.facts.test_trace import BEFORE, FACTS, LEDGER, LENGTH, RECORDED, SESSION
from tests.strategies import sessions
from tests.test_cuts import build, say, user


def short_summary() -> tuple[Plan, TracedFact]:
    """A plan whose summary is cut before it comes to the path."""
    edits = {"cut": "end", "settings": {"summarise-older.cap": 300}}
    plan = make_plan(BEFORE, LEDGER, "flue", edits)
    return plan, trace_facts(FACTS, plan)[LOST_PATH]


def test_why_tells_that_the_summary_was_cut_and_what_the_file_list_saw() -> None:
    _, traced = short_summary()
    assert (traced.outcome, traced.tier) == ("absent", "planned")
    why = traced.why()
    assert "The summary is cut at 300 tokens" in why
    assert "summarise-older (summarised)" in why
    assert "saw only tools named read, write and edit with a `path`" in why
    assert "Read(file_path)" in why


def test_fixes_keep_the_path_at_the_price_they_state() -> None:
    plan, traced = short_summary()
    fixes = traced.fixes()
    assert {"pin", "cut", "knob"} <= {fix.means for fix in fixes}
    assert [fix.price for fix in fixes] == sorted(fix.price for fix in fixes)
    for fix in fixes:
        again = make_plan(BEFORE, LEDGER, fix.policy, fix.edits)
        assert again.after - plan.after == fix.price
        assert trace_facts(FACTS, again)[LOST_PATH].outcome == fix.outcome
        assert OUTCOMES.index(fix.outcome) < OUTCOMES.index("absent")
        context = build_context(BEFORE, again)
        assert LOST_PATH in "\n".join(piece.block.text for piece in context.pieces)
        assert check_request(render_request(context).request) == ()


def test_what_the_recorded_summary_lost_is_fixed_by_a_plan_of_the_moment_before() -> None:
    """The recorded summary is read where a stand-in would restate the path by itself."""
    plan = make_plan(BEFORE, LEDGER, "flue", {"cut": "end"})
    assert trace_facts(FACTS, plan)[LOST_PATH].outcome == "quoted"
    fixes = RECORDED[LOST_PATH].fixes(plan)
    assert [fix.price for fix in fixes] == sorted(fix.price for fix in fixes)
    cheapest = fixes[0]
    assert (cheapest.means, cheapest.outcome) == ("pin", "verbatim")
    again = make_plan(BEFORE, LEDGER, "flue", apply(plan.edits, cheapest.changes))
    assert (again.after - plan.after, again.trace[LOST_PATH].outcome) == (cheapest.price, "verbatim")
    (carry,) = (fix for fix in fixes if fix.means == "carry")
    assert (carry.changes, carry.outcome) == (
        {"settings": {"carry-file-operations.every_tool": True}},
        "quoted",
    )
    assert LOST_PATH in "\n".join(p.block.text for p in build_context(BEFORE, carry.plan).pieces if p.summary)
    assert carry.price > 0
    assert carry.money
    with pytest.raises(EditError, match="another moment"):
        RECORDED[LOST_PATH].fixes(make_plan(SESSION, LEDGER, "flue"))


def test_a_policy_without_a_list_of_files_is_given_one_by_a_setting() -> None:
    plan = make_plan(BEFORE, LEDGER, "keep-recent-turns", {"cut": "end"})
    (carry,) = (fix for fix in RECORDED[LOST_PATH].fixes(plan) if fix.means == "carry")
    assert carry.changes["settings"]["carry-file-operations.enabled"] is True
    again = make_plan(BEFORE, LEDGER, "keep-recent-turns", apply(plan.edits, carry.changes))
    assert again.after == plan.after + carry.price
    assert "carry-file-operations" in {rule.kind for rule in again.policy.rules}


def test_what_stands_needs_no_fix() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue")
    traced = next(t for t in trace_facts(FACTS, plan) if t.outcome == "verbatim")
    assert find_fixes(plan, traced) == ()


def test_what_another_plan_keeps_by_itself_needs_no_fix() -> None:
    plan = make_plan(BEFORE, LEDGER, "claude-code")
    lost = RECORDED[LOST_PATH]
    assert lost.outcome == "absent" and plan.trace[LOST_PATH].outcome == "verbatim"
    assert find_fixes(plan, lost) == ()


def test_focus_names_what_to_keep() -> None:
    assert write_focus([]) == write_focus([], "instructions") == ""
    assert LOST_PATH in write_focus([RECORDED[LOST_PATH]]).split("\n")[1]


def test_instructions_for_an_api_are_a_whole_prompt_that_keeps_its_limit() -> None:
    """They stand in the place of the default prompt, and an API takes 16,384 characters."""
    few = write_focus([RECORDED[LOST_PATH]], "instructions")
    assert few.startswith("Summarise the conversation")
    assert few.endswith(write_focus([RECORDED[LOST_PATH]]))
    many = write_focus(RECORDED.select(), "instructions")
    assert len(many) <= 16_384
    assert many.splitlines()[-1] == f"- and {len(RECORDED.select()) - many.count(chr(10) + '- ') + 1:,} more"
    with pytest.raises(EditError, match="known: compact, instructions"):
        write_focus([], "poem")  # type: ignore[arg-type]


# Laws.


def refusals(context: Context) -> set[str]:
    return {v.rule for v in check_context(context, awaits_user=True, model="claude-opus-4-5")}


EVERY = ["flue", "keep-recent-turns", "claude-code", "mini-claude-code", "openhands"]


@settings(max_examples=60, deadline=None)
@given(sessions(orderly=True, least=3), st.sampled_from(EVERY))
def test_a_fix_costs_what_it_says_and_breaks_nothing(session: Session, name: str) -> None:
    edits = {"settings": {"summarise-older.cap": 5}} if name == "flue" else {}
    given_window = {"window": 2_000, "reason": "manual"}
    plan = make_plan(session, count_tokens(session, LENGTH), name, edits, **given_window)  # type: ignore[arg-type]
    had = refusals(live_context(session, plan.ledger)) | refusals(build_context(session, plan))
    for traced in trace_facts(find_facts(session), plan).select("absent", "partial", "quoted")[:4]:
        for fix in find_fixes(plan, traced):
            assert fix.plan.after - plan.after == fix.price
            assert OUTCOMES.index(fix.outcome) < OUTCOMES.index(traced.outcome)
            assert refusals(build_context(session, fix.plan)) <= had
            changed = apply(plan.edits, fix.changes)
            policy = fix.changes.get("policy", name)
            again = make_plan(session, plan.ledger, policy, changed, **given_window)  # type: ignore[arg-type]
            assert again.after == fix.plan.after


def apply(edits: Edits, changes: Mapping[str, Any]) -> Edits:
    """What a hand would do with a fix's changes."""
    new = {key: value for key, value in changes.items() if key != "policy"}
    if "pins" in new:
        new["pins"] = (*edits.pins, *new["pins"])
    if "settings" in new:
        new["settings"] = {**edits.settings, **new["settings"]}
    return edits.model_copy(update=new)


def test_words_that_are_no_fact_have_fixes_too() -> None:
    """Of a plan, and of what the file records: the pin keeps the block that says them."""
    said = build(
        user("the lamp must glow amber at dusk, and nothing else"), say("ok"), user("go"), say("done")
    )
    plan = make_plan(said, count_tokens(said), "flue", {"cut": "end"}).with_summary(
        Checkpoint(text="Nothing.")
    )
    recorded = build(*said.entries, compact("Nothing."), user("on"))
    for traced in (plan.trace["glow amber at"], trace_recorded(recorded)[0]["glow amber at"]):
        assert (traced.fact.kind, traced.outcome) == ("text", "absent")
        before = traced.scene.session
        mended = traced.fixes(make_plan(before, count_tokens(before), "flue", {"cut": "end"}))
        assert mended[0].means == "pin" and mended[0].outcome == "verbatim"
        context = build_context(before, mended[0].plan)
        assert any("glow amber at" in piece.block.text for piece in context.pieces)


def test_what_only_a_block_that_names_it_can_keep_is_kept_by_that_block() -> None:
    """The block that said it is gone since an earlier compaction, and a tool printed it again."""
    session = build(
        user("`fill_tank` leaks"),
        *(say("ok"), compact("Nothing."), user("again")),
        *use(1, "Bash", "warning: fill_tank was slow", command="make"),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    traced = trace_recorded(session)[1]["fill_tank"]
    assert (traced.outcome, traced.stood) == ("absent", True)
    before = traced.scene.session
    plan = make_plan(before, count_tokens(before), "flue", {"cut": "end"})
    fixes = traced.fixes(plan)
    assert [fix.means for fix in fixes if fix.outcome == "verbatim"][:1] == ["pin"]
