"""Several policies over one session, side by side."""

from __future__ import annotations

import pytest

from inspector import open_demo
from inspector.policies.registry import POLICIES
from inspector.replays.comparison import compare_policies
from inspector.tokens.prices import Price


def test_every_policy_lives_half_of_the_bundled_session_to_its_end() -> None:
    demo = open_demo()
    compared = compare_policies(demo.at(demo.entries[160].id), POLICIES, window=30_000)
    assert [run.policy.name for run in compared] == [policy.name for policy in POLICIES]
    rows = compared.table()
    assert all(row["sent"] > 0 and 0 <= row["cached"] <= 1 for row in rows)
    assert sum(row["compactions"] > 0 for row in rows) >= 10


def test_a_comparison_tells_its_prices_and_each_run() -> None:
    price = Price(model="mine", input=1, output=2, source="a test")
    compared = compare_policies(open_demo(), ["flue", "keep-recent-turns"], window=60_000, price=price)
    assert "a test" in repr(compared)
    assert compared["flue"].policy.name == "flue"
    assert all(row["cost"] > 0 for row in compared.table())
    with pytest.raises(KeyError, match="'pi' was not compared; known: flue, keep-recent-turns"):
        compared["pi"]


def test_a_smaller_window_compacts_no_less_often() -> None:
    session = open_demo()
    counts = [
        compare_policies(session, ["keep-recent-turns"], window=window).table()[0]["compactions"]
        for window in (40_000, 80_000, 10**6)
    ]
    assert counts == sorted(counts, reverse=True) and counts[-1] == 0
