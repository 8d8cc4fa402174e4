"""The settings file of the wiki: a session's thresholds stand over those for all sessions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.errors import PolicyError
from inspector.policies.policy import Policy
from inspector.policies.registry import find_policy
from tests.replays.test_engine import MANUAL, OFF, live, make_policy, turns


def write(**thresholds: Any) -> str:
    return json.dumps({"providers": {"main": {}}, "compaction": thresholds, "ui": "tui"})


def read(**texts: str) -> Policy:
    return find_policy(make_policy(OFF, MANUAL).model_dump(mode="json"), settings=texts)


def test_S1_21_a_file_without_thresholds_changes_nothing_and_a_trigger_can_be_set() -> None:
    assert read(**{"global": "{}", "session": '{"ui": {}}'}) == read()
    auto = find_policy("stud-wiki-1.1", settings={"session": write(trigger=0.5)})
    assert len(live(turns(6), auto, {"writer": {"oversize": 0}}).adopted) == 1
    assert live(turns(6), "stud-wiki-1.1", {"writer": {"oversize": 0}}).adopted == ()


def test_S1_21_a_policy_is_found_with_the_thresholds_of_one_text_or_of_several() -> None:
    text = json.dumps({"compaction": {"warn": 0.55}, "env": {"A": "b"}})
    assert find_policy("stud-merged", settings=text) == find_policy("stud-merged").configured(
        {"harness.warn": 0.55}
    )
    over = {"user": text, "project": json.dumps({"compaction": {"warn": 0.6, "require": None}})}
    harness = find_policy("stud-merged", settings=over).harness
    assert (harness.warn, harness.require) == (0.6, None)
    with pytest.raises(PolicyError, match="share of the window"):
        find_policy("stud-merged", settings=json.dumps({"compaction": {"require": 95}}))


def test_S2_44_the_blocking_share_is_a_threshold_of_the_file_too() -> None:
    policy = find_policy("claude-code-analysis", settings=json.dumps({"compaction": {"block": 0.99}}))
    assert policy.harness.block == 0.99
    with pytest.raises(PolicyError, match=r"require .* must not exceed block"):
        find_policy("claude-code-analysis", settings=json.dumps({"compaction": {"block": 0.9}}))
