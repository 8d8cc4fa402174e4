"""Where the tokens go: at every place of the cut the parts add up to the totals that stand beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from inspector.demo import open_demo
from inspector.planning.left_outside import leave_outside, weigh_more
from inspector.planning.plan import Plan, make_plan
from inspector.policies.registry import names_of_policies
from inspector.policies.table import FATES
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.flow import trace_flow
from inspector.workbench.payloads.scene import draw_plan
from tests.test_laws import plans


def sums_of(plan: Plan) -> dict[str, tuple[int, int]]:
    """By hand: what the blocks of each fate held, and what stands of them."""
    out = {}
    withheld, rest = plan.outside.spread, leave_outside(plan.table, plan.outcome)
    for code, fate in enumerate(FATES):
        mine = plan.fate == code
        if mine.any():
            held, left = plan.table.tokens + withheld, plan.outcome.tokens + rest
            out[fate] = (int(held[mine].sum()), int(left[mine].sum()))
    # What goes with any compaction goes with the first block that is taken.
    passing = plan.outside.earlier.tokens + plan.outside.attached.tokens
    stays = plan.parts_after["earlier"] + plan.parts_after["attached"]
    gone = "verbatim" if stays == passing else next(f for f in ("summarised", "dropped") if f in out)
    before, after = out.get(gone, (0, 0))
    out[gone] = (before + passing, after + stays)
    return out


def told_at(plan: Plan, place: int) -> dict[str, tuple[int, int]]:
    """The same as the flow tells it; fates of which there is nothing are left out."""
    flow = trace_flow(plan)
    pairs = zip(flow.fates.tolist(), flow.before[place].tolist(), flow.after[place].tolist(), strict=True)
    return {FATES[code]: (before, after) for code, before, after in pairs if before or after}


def without_nothing(sums: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    return {fate: pair for fate, pair in sums.items() if any(pair)}


@settings(max_examples=60)
@given(plans())
def test_the_parts_add_up_to_before_and_after_at_every_legal_cut(plan: Plan) -> None:
    flow, total = trace_flow(plan), plan.cut_table.total
    legal = np.flatnonzero(plan.cuts.legal)
    fixed = flow.head + flow.hidden
    assert (fixed + flow.before[legal].sum(axis=1) == plan.before).all()
    after = fixed + flow.after[legal].sum(axis=1) + flow.added[legal]
    assert after.tolist() == total[legal].tolist()
    assert (flow.added[legal] >= plan.cut_table.summary[legal]).all()


@settings(max_examples=40)
@given(plans())
def test_at_every_cut_the_parts_are_those_of_the_plan_with_that_cut(plan: Plan) -> None:
    for point in plan.cuts:
        if point.legal:
            edits = plan.edits.model_copy(update={"cut": point.entry})
            there = make_plan(plan.session, plan.ledger, plan.policy, edits, window=10_000)
            assert told_at(plan, point.place) == without_nothing(sums_of(there))


@given(plans())
def test_at_the_plans_own_place_the_parts_are_its_fates(plan: Plan) -> None:
    place = plan.place or 0
    if plan.place is not None and not plan.cuts.legal[place]:
        return
    flow = trace_flow(plan)
    if plan.place is None or not plan.policy.stages or plan.edits.cut is not None:
        assert told_at(plan, place) == without_nothing(sums_of(plan))
        more = weigh_more(plan.outside, plan.summary_tokens)
        assert flow.added[place] >= plan.summary_tokens + plan.notice_tokens + more


@pytest.mark.parametrize("policy", names_of_policies())
def test_every_published_policy_accounts_for_each_token_of_the_demo(policy: str) -> None:
    session = open_demo()
    ledger = count_tokens(session, "calibrated")
    wire, data = draw_plan(make_plan(session, ledger, policy))
    columns, told = unpack(wire.columns, data), wire.flow
    places, fates = len(columns["after_total"]), len(told.fates)
    before = columns["flow_before"].reshape(places, fates).sum(axis=1)
    after = columns["flow_after"].reshape(places, fates).sum(axis=1) + columns["flow_added"]
    fixed = told.head + told.hidden
    for place in np.flatnonzero(columns["after_total"] >= 0).tolist():
        assert before[place] + fixed == wire.before.total
        assert after[place] + fixed == columns["after_total"][place]
    own = wire.cut.place
    assert after[own] + fixed == wire.after.total == sum(wire.after.sections)


def test_a_plan_that_edits_without_a_cut_tells_what_it_leaves() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "langchain-clear")
    assert plan.place is None and plan.after < plan.before
    wire, _ = draw_plan(plan)
    assert told_at(plan, 0) == without_nothing(sums_of(plan))
    assert wire.after.total == plan.after
