"""A policy played rule by rule ends where its plan stands, and an invalid cut point tells what it breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import open_demo
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits, Policy
from inspector.policies.registry import names_of_policies
from inspector.policies.table import VERBATIM
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.lesson import LessonReply, play_rules
from inspector.workbench.payloads.played import first_rule
from tests.strategies import sessions
from tests.test_laws import LENGTH, policies


@pytest.fixture(scope="module")
def moment() -> Session:
    session = open_demo()
    fullest = trace_history(session, count_tokens(session)).fullest
    assert fullest is not None
    return session.at(fullest.at)


def plan_of(session: Session, policy: Any = "flue", **edits: Any) -> Plan:
    return make_plan(session, count_tokens(session), policy, Edits(**edits))


@pytest.mark.parametrize("name", names_of_policies())
def test_every_published_policy_plays_to_where_its_plan_stands(moment: Session, name: str) -> None:
    plan = plan_of(moment, name)
    steps = play_rules(plan, plan.place or 0).steps
    assert steps[0].before == plan.before
    assert steps[-1].after == plan.after
    assert steps[-1].summary == plan.summary_tokens


@given(session=sessions(), policy=policies(), data=st.data())
def test_law_the_steps_of_any_policy_add_up(session: Session, policy: Policy, data: Any) -> None:
    plan = make_plan(session, count_tokens(session, LENGTH), policy)
    legal = np.flatnonzero(plan.cuts.legal).tolist()
    place = data.draw(st.sampled_from([plan.place or 0, *legal]))
    if place != (plan.place or 0):
        cut = plan.cuts.ids[place]
        plan = make_plan(session, plan.ledger, policy, Edits(cut=cut))
    told = play_rules(plan, place)
    at = plan.before
    for step in told.steps:
        assert step.before == at
        assert sum(step.sections) == step.after
        at = step.after
    assert at == plan.after
    rules = [step.rule for step in told.steps]
    assert len(rules) == len(set(rules)), "a rule is played once"
    shift = first_rule(plan.policy)
    decided = np.where(plan.outcome.rule >= 0, plan.outcome.rule + shift, plan.outcome.rule)
    assert set(decided[decided != -1].tolist()) <= set(rules), "who decides a block is played"
    blocks = sum(step.blocks for step in told.steps)
    assert blocks == int((decided != -1).sum())
    check_played(plan, told)


def check_played(plan: Plan, told: LessonReply) -> None:
    """Before the first step all stands as it did; each step changes its own blocks to what the plan makes of
    them, and no other; what stands weighs what the step says."""
    outcome, table = plan.outcome, plan.table
    shift = first_rule(plan.policy)
    rules = np.where(outcome.rule >= 0, outcome.rule + shift, outcome.rule)
    assert len(told.played) == len(told.steps)
    for taken, shown in enumerate(told.played):
        done = {step.rule for step in told.steps[:taken]}
        for row, rule in enumerate(rules.tolist()):
            stands = shown.fates[row], shown.tokens[row], shown.rules[row]
            if rule in done:
                assert stands == (outcome.fate[row], outcome.tokens[row], rule)
            else:
                assert stands == (VERBATIM, table.tokens[row], -1)
        before = plan.before if taken == 0 else told.steps[taken - 1].after
        assert (shown.total, sum(shown.sections)) == (before, before)


def test_another_legal_place_is_planned_for(moment: Session) -> None:
    plan = plan_of(moment)
    place = int(np.flatnonzero(plan.cuts.legal)[3])
    wanted = plan_of(moment, cut=plan.cuts.ids[place])
    assert play_rules(plan, place).steps[-1].after == wanted.after


def test_an_illegal_place_shows_the_pair_it_parts_and_the_providers_own_words(moment: Session) -> None:
    plan = plan_of(moment)
    cut = next(cut for cut in plan.cuts if cut.rule == "orphan-output")
    told = play_rules(plan, cut.place)
    assert told.steps == []
    refusal = told.refusal
    call, output = refusal.pairs[0].call, refusal.pairs[0].output
    live = moment.live
    row = next(row for row, answer in live.pairs if live.position[row] < cut.place <= live.position[answer])
    made = plan.table.block(row)
    assert (made.kind, output.label) == ("tool_call", "tool output")
    assert call.label.startswith(f"{made.name}(")
    assert refusal.error == (
        "400 invalid_request_error: messages.0.content.0: unexpected `tool_use_id` found in "
        f"`tool_result` blocks: {made.id}"
    )
