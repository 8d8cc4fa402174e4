"""How long a summary of what is older may be asked for."""

from __future__ import annotations

from typing import Any

import pytest

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
