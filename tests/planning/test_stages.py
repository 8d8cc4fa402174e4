"""Policies with stages, models that bind their reasoning, and what a plan says about both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from inspector import (
    build_context,
    check_context,
    count_tokens,
    find_cuts,
    live_context,
    make_plan,
    open_demo,
)
from inspector.errors import EditError, PolicyError
from inspector.planning.plan import Plan
from inspector.policies.policy import Policy, Stage, read_policy
from inspector.policies.registry import POLICIES, find_policy, names_of_policies
from inspector.policies.rules.keep_recent_turns import KeepRecentTurns
from inspector.policies.table import TRUNCATED
from inspector.session.blocks import REASONING
from inspector.session.session import Session
from inspector.tokens.ledger import Ledger
from tests.strategies import sessions
from tests.test_cuts import build, say, user
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


def test_a_stage_whose_rules_are_off_says_so(bundled: tuple[Session, Ledger]) -> None:
    plan = make_plan(*bundled, STAGED, {"settings": {"truncate-outputs.enabled": False}})
    assert plan.stages[0].sentence == "It is switched off."


def test_a_cut_by_hand_reaches_the_first_stage_that_does_anything_there(
    bundled: tuple[Session, Ledger],
) -> None:
    session, ledger = bundled
    legal = [point.entry for point in find_cuts(session) if point.legal]
    plan = make_plan(session, ledger, "claude-code", {"cut": legal[20]})
    assert plan.after < plan.before
    idle = make_plan(session, ledger, "anthropic-context-editing", {"cut": legal[20]})
    assert idle.after == idle.before
    assert any("changes nothing at this cut" in note for note in idle.notes)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({**STAGED, "stages": [{"name": "a", "rules": ["nope"]}]}, "no rule of it"),
        ({**STAGED, "stages": [{"name": "a", "rules": []}] * 2}, "two of one name"),
        ({**STAGED, "stages": [{"name": "a", "rules": [], "reasons": []}]}, "for no reason"),
        ({"name": "x", "rules": [{"kind": "keep-system", "enabled": False}]}, "switched off"),
        ({"name": "x", "rules": [{"kind": "keep-pairs", "enabled": False}]}, "switched off"),
    ],
)
def test_a_policy_that_cannot_work_is_refused(policy: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        read_policy(policy)


def test_a_policy_made_in_python_is_checked_like_json() -> None:
    with pytest.raises(PolicyError, match="two of one kind"):
        Policy(name="x", rules=(KeepRecentTurns(turns=2), KeepRecentTurns(turns=4)))
    with pytest.raises(PolicyError, match="no rule of it"):
        Policy(name="x", stages=(Stage(name="a", rules=("keep-recent-turns",)),))


@pytest.mark.parametrize("given", [{"reason": "Manual"}, {"window": "8k"}, {"window": float("nan")}])
def test_what_is_no_reason_or_window_is_refused(bundled: tuple[Session, Ledger], given: Any) -> None:
    with pytest.raises(PolicyError):
        make_plan(*bundled, "flue", **given)


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
        assert {plan.rule_of(row) for row in np.flatnonzero(plan.fate)} == {"clear-tool-outputs"}
        assert not any("refuses reasoning" in note for note in plan.notes)


def test_a_cut_before_any_edit_costs_no_reasoning(bound: tuple[Session, Ledger]) -> None:
    session, ledger = bound
    rules = [{"kind": "keep-recent-turns"}, {"kind": "point-large-outputs", "characters": 12_000}]
    seen = set()
    for point in find_cuts(session):
        if point.legal:
            plan = make_plan(session, ledger, {"name": "x", "rules": rules}, {"cut": point.entry})
            edited = bool((plan.fate == 2).any())
            lost = bool((plan.outcome.rule == -4).any())
            seen.add((edited, lost))
            assert plan.after == plan.cut_table.total[point.place]
    assert seen == {(False, False), (True, True)}


def test_a_pin_keeps_no_reasoning_that_cannot_be_sent_and_the_plan_says_so(
    bound: tuple[Session, Ledger],
) -> None:
    session, ledger = bound
    rows = np.flatnonzero(make_plan(session, ledger, "stud-wiki-1.1").outcome.rule == -4)
    live = session.live
    name = session.entries[live.entries[live.position[rows[-1]]]].id
    plan = make_plan(session, ledger, "stud-wiki-1.1", {"pins": [f"{name}/{live.block[rows[-1]]}"]})
    assert any("no pin can keep" in note for note in plan.notes)


def test_other_models_keep_their_reasoning(bundled: tuple[Session, Ledger]) -> None:
    session, ledger = bundled
    plan = make_plan(session, ledger, "stud-wiki-1.1")
    assert not (plan.outcome.rule == -4).any()


@settings(max_examples=60)
@given(sessions(orderly=True, least=2))
def test_on_a_bound_model_the_cut_table_agrees_with_every_plan(session: Session) -> None:
    session = read_by(session, BOUND)
    ledger = count_tokens(session, LENGTH)
    for name in ("stud-wiki-deterministic", "mini-claude-code", "claude-code"):
        table = make_plan(session, ledger, name, window=2_000).cut_table
        for point in find_cuts(session):
            if point.legal:
                plan = make_plan(session, ledger, name, {"cut": point.entry}, window=2_000)
                assert table.total[point.place] == plan.after
                assert not unsendable(plan)


def test_a_context_that_could_not_be_sent_is_told(bundled: tuple[Session, Ledger]) -> None:
    session, ledger = bundled
    plan = make_plan(session, ledger, "langchain-trim", {"cut": "end"})
    assert {fault.rule for fault in check_context(build_context(session, plan))} >= {"no_message"}
    assert any("at least one message" in note for note in plan.notes)


def test_a_policy_that_changes_nothing_leaves_the_context_as_it_was(bundled: tuple[Session, Ledger]) -> None:
    session, ledger = bundled
    plan = make_plan(session, ledger, find_policy("claude-code"), window=10**7)
    assert build_context(session, plan).pieces == live_context(session, ledger).pieces


@pytest.mark.parametrize(
    "rules",
    [
        [{"kind": "drop-older"}],
        [{"kind": "keep-root"}, {"kind": "drop-older"}],
        [{"kind": "snip-everything", "characters": 12}],
        [{"kind": "snip-everything", "characters": 12}, {"kind": "keep-recent-turns", "turns": 1}],
        [{"kind": "keep-system"}],
    ],
    ids=lambda rules: "+".join(rule["kind"] for rule in rules),
)
def test_a_stage_acts_at_a_place_where_anything_is_not_what_it_was(rules: list[dict[str, Any]]) -> None:
    long = " ".join("words" for _ in range(40))
    session = build(user(), say(), user(long), say(), user("again"), say(long), user(), say())
    plan = make_plan(session, count_tokens(session), {"name": "mine", "rules": rules})
    acts = [bool(plan.tier.settle(place).changed.any()) for place in range(len(session.entries) + 1)]
    assert plan.tier.acts.tolist() == acts


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


def test_a_block_that_a_later_stage_keeps_is_as_the_stage_before_left_it(
    bundled: tuple[Session, Ledger],
) -> None:
    """The first rule of all shortened it; that it is kept then changes neither its fate nor whose it is."""
    staged = {
        **STAGED,
        "rules": [
            {"kind": "truncate-outputs", "limit": 200},
            {"kind": "keep-recent-messages", "messages": 40},
            {"kind": "summarise-older"},
        ],
        "stages": [
            STAGED["stages"][0],
            {"name": "auto", "rules": ["keep-recent-messages", "summarise-older"]},
        ],
    }
    plan = make_plan(*bundled, staged)
    assert [stage.ran for stage in plan.stages] == [True, True]
    assert plan.place is not None
    behind = plan.session.live.position >= plan.place
    shortened = behind & (plan.fate == TRUNCATED)
    assert shortened.any()
    assert set(plan.outcome.rule[shortened].tolist()) == {0}


def test_where_nothing_is_cut_reasoning_that_is_bound_is_measured_as_it_stands(
    bound: tuple[Session, Ledger],
) -> None:
    """A cut would edit what stands before it, and the reasoning behind it would go; without one all stays."""
    policy = {
        "name": "mine",
        "trigger": {"measure": "assembled"},
        "rules": [{"kind": "keep-recent-turns", "turns": 1_000}, {"kind": "summarise-older"}],
    }
    plan = make_plan(*bound, policy)
    assert plan.place is None and (plan.table.kind == REASONING).any()
    assert plan.left == plan.after == plan.before


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


def test_a_cut_that_is_moved_to_no_legal_place_is_refused(bundled: tuple[Session, Ledger]) -> None:
    plan = make_plan(*bundled, "flue", {"cut": "end"})
    illegal = int(np.flatnonzero(~plan.cuts.legal)[0])
    for wrong in ("nowhere", plan.cuts.ids[illegal]):
        with pytest.raises(EditError, match="cut"):
            plan.with_edits(plan.edits.model_copy(update={"cut": wrong}))
