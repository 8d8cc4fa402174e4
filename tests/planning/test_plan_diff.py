"""`Plan.diff`: what a plan makes of the context, as two sides."""

from __future__ import annotations

import pytest

from inspector import make_plan, open_demo


@pytest.mark.parametrize(
    "policy", ["flue", "claude-code-analysis", "anthropic-context-editing", "keep-recent-turns"]
)
def test_the_two_sides_of_a_plan_add_up_to_its_sizes(policy: str) -> None:
    plan = make_plan(open_demo(), policy=policy, cut="turn 17")
    diff = plan.diff()
    assert (diff.tokens_before, diff.tokens_after) == (plan.before, plan.after)
    removed = sum(row.before.tokens for row in diff.rows if row.kind in ("remove", "change"))
    added = sum(row.after.tokens for row in diff.rows if row.kind in ("insert", "change"))
    assert plan.counted_before - removed + added == plan.counted_after
