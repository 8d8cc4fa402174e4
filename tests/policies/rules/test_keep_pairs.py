"""Calls and their outputs stay together, whatever a user sets."""

from __future__ import annotations

import pytest

from inspector.errors import PolicyError
from inspector.policies.policy import read_policy
from inspector.policies.registry import configure_policy


def test_pairs_are_kept_by_no_choice_of_the_user_s() -> None:
    with pytest.raises(PolicyError, match="switched off"):
        read_policy({"name": "mine", "rules": [{"kind": "keep-pairs", "enabled": False}]})
    policy = read_policy({"name": "mine", "rules": [{"kind": "keep-pairs"}]})
    with pytest.raises(PolicyError, match="switched off"):
        configure_policy(policy, {"keep-pairs.enabled": False})
    assert [rule.enabled for rule in policy.rules if rule.kind == "keep-pairs"] == [True]


def test_what_is_said_of_pairs_is_what_the_form_does() -> None:
    fixed, published = (
        read_policy({"name": "mine", "rules": [{"kind": "keep-pairs", "form": form}]}).rules[0]
        for form in ("fixed", "compat")
    )
    assert "stay together" in fixed.sentence
    assert "stay together" not in published.sentence and "as they fall" in published.sentence
