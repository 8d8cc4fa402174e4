"""Policies with stages, models that bind their reasoning, and what a plan says about both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from inspector import build_context, count_tokens, find_cuts, make_plan, open_demo
from inspector.errors import PolicyError
from inspector.planning.plan import Plan
from inspector.policies.policy import read_policy
from inspector.policies.registry import POLICIES, names_of_policies
from inspector.session.session import Session
from inspector.tokens.ledger import Ledger
from tests.reference.deciders import rule_of
from tests.strategies import sessions
from tests.test_laws import LENGTH

BOUND = "claude-opus-5-5"
STAGED: dict[str, Any] = {
    "name": "staged",
    "target": {"tokens": 0},
    "rules": [
        {"kind": "keep-system"},
        {"kind": "truncate-outputs", "limit": 200},
        {"kind": "keep-recent-turns", "turns": 1},
        {"kind": "summarise-older"},
    ],
    "stages": [
        {"name": "micro", "rules": ["truncate-outputs"]},
        {"name": "auto", "rules": ["keep-recent-turns", "summarise-older"], "reasons": ["auto", "manual"]},
    ],
}


def read_by(session: Session, model: str) -> Session:
    """The session as if that model had written every reply."""
    fields = {name: getattr(session, name) for name in Session.model_fields}
    entries = tuple(e.model_copy(update={"model": model}) if e.model else e for e in session.entries)
    return Session.model_construct(**(fields | {"entries": entries, "model": model}))


@pytest.fixture(scope="module")
def bundled() -> tuple[Session, Ledger]:
    session = open_demo()
    return session, count_tokens(session)


@pytest.fixture(scope="module")
def bound() -> tuple[Session, Ledger]:
    session = read_by(open_demo(), BOUND)
    return session, count_tokens(session)


def with_target(tokens: int) -> dict[str, Any]:
    return {**STAGED, "target": {"tokens": tokens}}


def test_a_policy_stops_at_the_first_stage_that_meets_its_target(bundled: tuple[Session, Ledger]) -> None:
    everything = make_plan(*bundled, with_target(0))
    micro = everything.stages[0].after
    assert [stage.ran for stage in everything.stages] == [True, True]
    assert [stage.ran for stage in make_plan(*bundled, with_target(micro)).stages] == [True, False]
    untouched = make_plan(*bundled, with_target(10**7))
    assert [stage.ran for stage in untouched.stages] == [False, False]
    assert untouched.after == untouched.before and "No stage is needed" in untouched.why


def test_what_a_stage_leaves_the_next_is_given(bundled: tuple[Session, Ledger]) -> None:
    first, second = make_plan(*bundled, STAGED).stages
    assert first.before > first.after == second.before > second.after


def test_a_stage_runs_only_for_its_reasons(bundled: tuple[Session, Ledger]) -> None:
    plan = make_plan(*bundled, STAGED, reason="overflow")
    assert [stage.ran for stage in plan.stages] == [True, False]
    assert plan.stages[1].sentence == "It runs only when the reason is auto or manual."


def test_a_cut_by_hand_reaches_the_first_stage_that_does_anything_there(
    bundled: tuple[Session, Ledger],
) -> None:
    session, ledger = bundled
    legal = [point.entry for point in find_cuts(session) if point.legal]
    plan = make_plan(session, ledger, "claude-code-analysis", {"cut": legal[20]})
    assert plan.after < plan.before
    idle = make_plan(session, ledger, "anthropic-context-editing", {"cut": legal[20]})
    assert idle.after == idle.before
    assert any("changes nothing at this cut" in note for note in idle.notes)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({**STAGED, "stages": [{"name": "a", "rules": ["nope"]}]}, "not one of its rules"),
        ({**STAGED, "stages": [{"name": "a", "rules": []}] * 2}, "a name is used twice"),
        ({**STAGED, "stages": [{"name": "a", "rules": [], "reasons": []}]}, "for no reason"),
        ({"name": "x", "rules": [{"kind": "keep-system", "enabled": False}]}, "switched off"),
        ({"name": "x", "rules": [{"kind": "keep-pairs", "enabled": False}]}, "switched off"),
    ],
)
def test_a_policy_that_cannot_work_is_refused(policy: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        read_policy(policy)


def unsendable(plan: Plan) -> list[int]:
    """Rows of reasoning that stand after something the client edited."""
    fate, kind = plan.fate, plan.table.kind
    own = {i for i, rule in enumerate(plan.policy.rules) if not rule.by_provider}
    edited = [row for row in np.flatnonzero((fate != 0) & (fate != 5)) if int(plan.outcome.rule[row]) in own]
    reasoning = [block.kind == "reasoning" for block in map(plan.table.block, range(len(fate)))]
    standing = np.flatnonzero(np.array(reasoning, bool) & np.isin(fate, (0, 1, 2)))
    assert len(kind) == len(fate)
    return [row for row in standing.tolist() if edited and row > min(edited)]


@pytest.mark.parametrize("policy", [policy.name for policy in POLICIES])
def test_a_bound_model_is_sent_no_reasoning_after_an_edit(bound: tuple[Session, Ledger], policy: str) -> None:
    session, ledger = bound
    legal = [point.entry for point in find_cuts(session) if point.legal]
    for cut in (None, *legal[::25]):
        plan = make_plan(session, ledger, policy, {"cut": cut}, window=40_000)
        assert not unsendable(plan)
        assert plan.after == build_context(session, plan).tokens
        if plan.place is not None and plan.cuts.legal[plan.place] and cut is not None:
            assert plan.cut_table.total[plan.place] == plan.after


def test_what_the_provider_edits_itself_keeps_the_reasoning(bound: tuple[Session, Ledger]) -> None:
    session, ledger = bound
    cut = next(point.entry for point in find_cuts(session) if point.legal)
    settings = {"clear-tool-outputs.trigger_tokens": 1000}
    for edits in ({"settings": settings}, {"settings": settings, "cut": cut}):
        plan = make_plan(session, ledger, "anthropic-context-editing", edits)
        assert {rule_of(plan, row) for row in np.flatnonzero(plan.fate)} == {"clear-tool-outputs"}
        assert not any("refuses reasoning" in note for note in plan.notes)


@given(sessions(orderly=True, least=2))
def test_on_a_bound_model_the_cut_table_agrees_with_every_plan(session: Session) -> None:
    session = read_by(session, BOUND)
    ledger = count_tokens(session, LENGTH)
    for name in ("stud-wiki-deterministic", "mini-claude-code", "claude-code-analysis"):
        table = make_plan(session, ledger, name, window=2_000).cut_table
        for point in find_cuts(session):
            if point.legal:
                plan = make_plan(session, ledger, name, {"cut": point.entry}, window=2_000)
                assert table.total[point.place] == plan.after
                assert not unsendable(plan)


def test_the_cut_table_has_every_place_at_the_stage_where_a_cut_by_hand_stops(
    bundled: tuple[Session, Ledger],
) -> None:
    """Late cuts clear enough outputs before them; of early ones the second stage has to write some up."""
    staged = {
        "name": "staged",
        "target": {"tokens": 60_000},
        "rules": [{"kind": "drop-old-outputs"}, {"kind": "summarise-older"}],
        "stages": [
            {"name": "clear", "rules": ["drop-old-outputs"]},
            {"name": "auto", "rules": ["summarise-older"]},
        ],
    }
    plan = make_plan(*bundled, staged)
    ran = set()
    for place in np.flatnonzero(plan.cuts.legal).tolist()[::7]:
        moved = make_plan(*bundled, staged, {"cut": plan.cuts.ids[place]})
        assert moved.after == int(plan.cut_table.total[place])
        ran.add(sum(stage.ran for stage in moved.stages))
    assert ran == {1, 2}


@pytest.mark.parametrize("model", ["", BOUND])
@pytest.mark.parametrize("name", [*names_of_policies(), "staged", "small enough"])
def test_a_plan_whose_cut_is_moved_is_the_plan_of_that_cut(
    bundled: tuple[Session, Ledger], name: str, model: str
) -> None:
    """What the stages did is taken along from place to place, and nothing that is told of them may differ."""
    session, ledger = bundled
    if model:
        session = read_by(session, model)
        ledger = count_tokens(session)
    small = STAGED | {"target": {"tokens": 10**6}, "stages": STAGED["stages"][1:]}
    mine = {"staged": STAGED, "small enough": small}
    policy = read_policy(mine[name]) if name in mine else name
    moved = make_plan(session, ledger, policy, {"pins": [str(session.live_refs()[7])]})
    legal = np.flatnonzero(moved.cuts.legal).tolist()
    # A hand that cuts asks for a stage at least, which this plan's own table of cuts does not know.
    assert len(moved.cut_table.total) == len(moved.cuts)
    for place in (legal[-1], legal[0], legal[len(legal) // 2], legal[-1]):
        edits = moved.edits.model_copy(update={"cut": moved.cuts.ids[place]})
        moved, made = moved.with_edits(edits), make_plan(session, ledger, policy, edits)
        assert (moved.depth, moved.place, moved.why) == (made.depth, made.place, made.why)
        assert (moved.stages, moved.notes, repr(moved)) == (made.stages, made.notes, repr(made))
        assert moved.spec_json == made.spec_json
        for column in ("total", "sections", "summary", "outside"):
            assert np.array_equal(getattr(moved.cut_table, column), getattr(made.cut_table, column))
        for side, other in (
            (moved.outcome, made.outcome),
            (moved.older, made.older),
            (moved.kept, made.kept),
        ):
            assert np.array_equal(side.fate, other.fate) and np.array_equal(side.tokens, other.tokens)
            assert np.array_equal(side.rule, other.rule) and side.blocks == other.blocks
