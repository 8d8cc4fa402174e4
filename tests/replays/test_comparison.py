"""Several policies over one session, side by side."""

from __future__ import annotations

import pytest

from inspector import open_demo
from inspector.errors import ArgumentError
from inspector.policies.registry import POLICIES, find_policy
from inspector.replays.comparison import compare_policies
from inspector.tokens.prices import Price


def test_every_policy_lives_the_bundled_session_to_its_end() -> None:
    compared = compare_policies(open_demo(), POLICIES, window=60_000)
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


def test_one_policy_may_be_named_alone() -> None:
    session = open_demo()
    for one in ("flue", find_policy("flue"), find_policy("flue").model_dump(mode="json")):
        assert [run.policy.name for run in compare_policies(session, one)] == ["flue"]


def test_a_smaller_window_compacts_no_less_often() -> None:
    session = open_demo()
    counts = [
        compare_policies(session, ["keep-recent-turns"], window=window).table()[0]["compactions"]
        for window in (40_000, 80_000, 10**6)
    ]
    assert counts == sorted(counts, reverse=True) and counts[-1] == 0


@pytest.mark.parametrize(("window", "compacts"), [(100_000, True), (5_000_000, False)])
def test_the_table_in_words_has_the_turn_of_the_first_compaction(window: int, compacts: bool) -> None:
    runs = compare_policies(open_demo(), ["keep-recent-turns", "flue"], window=window)
    assert {row["first_turn"] is not None for row in runs.table()} == {compacts}
    lines = repr(runs).splitlines()
    for row in runs.table():
        (line,) = (line for line in lines if line.strip().startswith(row["policy"]))
        told = [] if row["first_turn"] is None else [str(row["first_turn"])]
        assert line.split()[1:4][: 2 + len(told)] == [str(row["compactions"]), *told, f"{row['fullest']:,}"]


def test_what_is_no_list_of_policies_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="policies"):
        compare_policies(open_demo(), 3)  # type: ignore[arg-type]
