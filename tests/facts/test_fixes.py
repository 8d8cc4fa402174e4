"""Fixes: each keeps what was needed at the price it says, applied by hand; words for a summariser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import LOST_PATH
from inspector.errors import EditError
from inspector.facts.facts import find_facts
from inspector.facts.fixes import find_fixes
from inspector.facts.regret import Regret, find_regret
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.facts.traced import Fix
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context, check_request
from inspector.wire.render import render_request
from tests.facts.test_trace import BEFORE, FACTS, LEDGER, LENGTH, RECORDED, SESSION
from tests.strategies import sessions
from tests.telling import compact, use
from tests.test_cuts import build, say, user

NUMBERED = "\n".join(f"    {at}\tdef part_{at}(): return {at}" for at in range(1, 9))
PATH = "src/tank.py"


def lose(*entries: Entry, after: Sequence[Entry] = (), summary: str = "Work went on.") -> Session:
    """A session whose compaction says nothing of what came before."""
    return build(user("hello"), *entries, say("ok"), compact(summary), user("go on"), *after, say("done"))


def fixes_of(session: Session, form: str | tuple[str, str], policy: str = "recorded") -> tuple[Fix, ...]:
    """The fixes of what the first recorded compaction lost."""
    traced = trace_recorded(session)[0][form]
    edits = None if policy == "recorded" else {"cut": "end"}
    before = traced.scene.session
    return traced.fixes(make_plan(before, count_tokens(session, LENGTH), policy, edits))


def pins_of(session: Session, form: str | tuple[str, str]) -> list[list[str]]:
    return [fix.changes["pins"] for fix in fixes_of(session, form) if fix.means == "pin"]


def test_a_fact_that_a_recorded_compaction_lost_is_kept_by_a_pin_without_a_plan_of_ones_own() -> None:
    traced = trace_recorded(lose(*mentions()))[0][PATH]
    pins = [fix.changes["pins"] for fix in traced.fixes() if fix.means == "pin"]
    assert pins and sorted(pins) == sorted(pins_of(lose(*mentions()), PATH))


# By construction: what holds the value, and what only names the thing.


def mentions(*, failed: bool = False) -> list[Entry]:
    """A file named in a search that finds nothing, in a full read and in an echo of a task list."""
    return [
        *use(1, "Grep", "No matches found", pattern="leak", path=PATH),
        *use(2, "Read", "No such file" if failed else NUMBERED, failed, file_path=PATH),
        *use(3, "TaskUpdate", f"Task updated: look at {PATH}", task=f"look at {PATH}"),
        *use(4, "Bash", "", command=f"git add {PATH}"),
    ]


@pytest.mark.parametrize("again", [False, True])
def test_of_a_file_the_read_is_pinned_and_no_echo(again: bool) -> None:
    after = use(9, "Read", NUMBERED, file_path=PATH) if again else ()
    session = lose(*mentions(), after=after)
    assert pins_of(session, PATH) == [["e3/0"]]
    (pin,) = (fix for fix in fixes_of(session, PATH) if fix.means == "pin")
    kept = "\n".join(p.block.text for p in build_context(pin.plan.session, pin.plan).pieces)
    assert NUMBERED in kept and "No matches found" not in kept
    assert pin.holds == ("8 of 8 lines re-read in turn 2" if again else "the last full read")


def test_a_rule_is_asked_for_first_and_then_kept_by_its_smallest_block() -> None:
    rule = "Never push to main without a passing CI run."
    long = user("\n\n".join(["The tank is old and the pump is loud."] * 40 + [rule]))
    session = lose(long, say("ok"), user(rule), say("ok"))
    ask, pin, *_ = fixes_of(session, ("constraint", rule))
    assert (ask.means, ask.outcome, ask.proved, ask.changes) == ("instruct", "asked for", False, {})
    assert rule in ask.text and ask.price == len(rule)
    assert "nothing proves" in ask.sentence
    assert (pin.means, pin.outcome, pin.proved, pin.changes) == ("pin", "verbatim", True, {"pins": ["e3/0"]})


def test_a_rule_s_number_is_raised_where_that_keeps_the_block() -> None:
    session = build(user("Read it."), *use(1, "Read", NUMBERED, file_path=PATH), say(), user("on"), say())
    plan = make_plan(
        session,
        count_tokens(session, LENGTH),
        "keep-recent-turns",
        {"settings": {"keep-recent-turns.turns": 1}},
        reason="manual",
    )
    traced = plan.trace[PATH]
    (fix,) = (fix for fix in traced.fixes() if fix.means == "knob")
    assert fix.changes == {"settings": {"keep-recent-turns.turns": 2}}
    assert fix.plan.trace[PATH].outcome == "verbatim"


def test_the_lost_path_of_the_demo_is_kept_with_the_lines_that_were_read_again() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue", {"cut": "end"})
    (regret,) = (r for r in find_regret(SESSION, SESSION.facts, LEDGER) if r.fact.form == LOST_PATH)
    needed = {line.split("\t")[-1].split("→")[-1].strip() for line in _answer(regret).splitlines()}
    fixes = RECORDED[LOST_PATH].fixes(plan)
    assert fixes and [fix.price for fix in fixes] == sorted(fix.price for fix in fixes)
    for fix in fixes:
        again = make_plan(BEFORE, LEDGER, "flue", apply(plan.edits, fix.changes))
        assert (again.after - plan.after, again.trace[LOST_PATH].outcome) == (fix.price, "verbatim")
        context = build_context(BEFORE, again)
        kept = "\n".join(piece.block.text.replace("\\n", "\n") for piece in context.pieces)
        lines = [line for line in needed if line and '"' not in line]
        assert sum(line in kept for line in lines) >= 0.9 * len(lines) > 20
        assert check_request(render_request(context).request) == ()
    with pytest.raises(EditError, match="another moment"):
        RECORDED[LOST_PATH].fixes(make_plan(SESSION, LEDGER, "flue"))


def _answer(regret: Regret) -> str:
    return SESSION.block(regret.paid[-1]).text


def test_what_stands_needs_no_fix() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue")
    traced = next(t for t in trace_facts(FACTS, plan) if t.outcome == "verbatim")
    assert find_fixes(plan, traced) == ()


# Laws.


def refusals(context: Context) -> set[str]:
    return {v.rule for v in check_context(context, awaits_user=True, model="claude-opus-4-5")}


EVERY = ["flue", "keep-recent-turns", "claude-code-analysis", "mini-claude-code", "openhands"]


@given(sessions(orderly=True, least=3), st.sampled_from(EVERY))
def test_a_fix_costs_what_it_says_keeps_the_fact_and_breaks_nothing(session: Session, name: str) -> None:
    """Planned again from its edits it has the price and the outcome it claims; words alone prove nothing."""
    edits = {"settings": {"summarise-older.cap": 5}} if name == "flue" else {}
    given_window = {"window": 2_000, "reason": "manual"}
    plan = make_plan(session, count_tokens(session, LENGTH), name, edits, **given_window)  # type: ignore[arg-type]
    had = refusals(live_context(session, plan.ledger)) | refusals(build_context(session, plan))
    for traced in trace_facts(find_facts(session), plan).select("absent", "partial", "quoted")[:4]:
        asked = [fix for fix in find_fixes(plan, traced) if not fix.proved]
        proved = [fix for fix in find_fixes(plan, traced) if fix.proved]
        assert [fix.changes for fix in asked] in ([], [{}])
        assert [fix.price for fix in proved] == sorted(fix.price for fix in proved)
        for fix in proved:
            changed = apply(plan.edits, fix.changes)
            assert changed == fix.edits
            again = make_plan(session, plan.ledger, name, changed, **given_window)  # type: ignore[arg-type]
            assert again.after - plan.after == fix.price
            # A summary that nobody wrote has to prove it without words of its own.
            now = trace_facts(find_facts(session), again, placeholder=False)[
                traced.fact.kind, traced.fact.form
            ]
            assert now.outcome == fix.outcome and now.outcome in ("verbatim", "quoted", "paraphrased")
            assert refusals(build_context(session, again)) <= had
            names = {"make_plan": make_plan, "Edits": Edits, "session": session, "ledger": plan.ledger}
            assert eval(fix.recipe, names).after == again.after


def apply(edits: Edits, changes: Mapping[str, Any]) -> Edits:
    """What a hand would do with a fix's changes."""
    new = dict(changes)
    if "pins" in new:
        new["pins"] = (*edits.pins, *new["pins"])
    if "settings" in new:
        new["settings"] = {**edits.settings, **new["settings"]}
    return edits.model_copy(update=new)
