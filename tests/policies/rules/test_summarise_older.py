"""How long a summary of what is older may be asked for."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import count_tokens, make_plan, open_demo
from inspector.errors import PolicyError
from inspector.policies.policy import read_policy

SHARES = ("share", "prefix_share")


def policy_of(**settings: Any) -> dict[str, Any]:
    return {"name": "mine", "rules": [{"kind": "summarise-older", **settings}]}


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("value", [0, 100])
def test_a_share_of_the_reserve_may_be_nothing_and_a_hundred_times_of_it(share: str, value: float) -> None:
    (rule,) = read_policy(policy_of(**{share: value})).rules
    assert getattr(rule, share) == value


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("value", [-0.01, 100.01, float("nan"), float("inf")])
def test_a_share_beyond_that_is_refused_by_its_name(share: str, value: float) -> None:
    with pytest.raises(PolicyError, match=share):
        read_policy(policy_of(**{share: value}))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.8, 3.0])
@pytest.mark.parametrize(("reserve", "cap"), [(1_001, 100_000), (50_000, 9_000)])
def test_a_summary_may_be_as_long_as_its_share_of_the_reserve_and_no_longer_than_the_cap(
    share: float, reserve: int, cap: int
) -> None:
    session = open_demo()
    settings = {
        "summarise-older.share": share,
        "summarise-older.prefix_share": share / 2,
        "summarise-older.cap": cap,
        "trigger.reserve_tokens": reserve,
    }
    plan = make_plan(session, count_tokens(session), "flue", {"settings": settings}, reason="manual")
    limits = {job.kind: job.max_tokens for job in plan.jobs}
    whole, prefix = min(int(share * reserve), cap), min(int(share / 2 * reserve), cap)
    assert limits == {"update": whole, "turn_prefix": prefix}
