"""When a policy compacts, and how little is low enough, in its own words."""

from __future__ import annotations

import pytest

from inspector.policies.policy import Policy
from inspector.policies.trigger import Target


@pytest.mark.parametrize("tokens", [0, 500])
def test_a_target_in_tokens_says_how_many(tokens: int) -> None:
    target = Policy(name="mine", target=Target(tokens=tokens)).target
    assert target.sentence == f"stop at the first stage that leaves at most {tokens} tokens"
    assert target.limit(200_000) == tokens


def test_a_target_by_shares_says_its_shares() -> None:
    assert "tokens" not in Target(ratio=0.5).sentence
    assert "0.5" in Target(ratio=0.5).sentence
