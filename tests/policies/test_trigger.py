"""When a policy compacts, and how little is low enough, in its own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.policies.registry import find_policy
from inspector.policies.trigger import TailWeight, Target, Trigger
from inspector.session.entries import Entry
from inspector.tokens.ledger import count_tokens
from tests.test_cuts import build, user

USER = {"role": "user", "content": "Name a prime."}


def test_a_share_of_a_window_with_nothing_in_it_is_no_limit() -> None:
    """A reserve may be larger than the window, and then less than nothing is left of it."""
    assert [Target(ratio=0.5).limit(base) for base in (-3_000, 0, 3_000)] == [None, None, 1_500]


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=40),
    st.lists(st.tuples(st.booleans(), st.integers(0, 300)), max_size=12),
)
def test_the_last_entries_weigh_their_sum_in_whatever_order_they_are_asked_for(
    weights: list[int], asked: list[tuple[bool, int]]
) -> None:
    session = build(*(user("w" * weight) for weight in weights))
    weighed: list[str] = []

    def weigh_text(entry: Entry) -> int:
        weighed.append(entry.id)
        return len(entry.text)

    tail = TailWeight(session, weigh_text)
    for by_count, number in asked:
        if by_count:
            count = number % (len(weights) + 1)
            assert tail.weigh(count) == sum(weights[len(weights) - count :])
        else:
            enough = [n for n in range(1, len(weights) + 1) if sum(weights[-n:]) >= number]
            assert tail.reach(number) == (enough[0] if enough else None)
    assert len(weighed) == len(set(weighed)), "no entry is weighed twice"


@pytest.mark.parametrize("policy", ["claude-code-analysis", "inspect-trim", "inspect-edit"])
def test_a_published_share_fires_only_where_more_than_it_is_filled(policy: str) -> None:
    """Claude Code 0.95 of the window; Inspect's strategies compare `total > threshold * window`, 0.9."""
    trigger = find_policy(policy).trigger
    assert trigger.ratio is not None
    threshold = trigger.threshold(200_000)
    assert threshold == (190_000 if policy == "claude-code-analysis" else 180_000)
    assert [trigger.fires(threshold + more, 200_000) for more in (-1, 0, 1)] == [False, False, True]


@given(st.integers(0, 500), st.integers(0, 500), st.booleans())
def test_at_least_fires_at_a_fixed_size_and_a_reserve_and_leaves_shares_alone(
    size: int, threshold: int, at_least: bool
) -> None:
    fixed = Trigger(tokens=threshold, at_least=at_least)
    reserve = Trigger(reserve_tokens=1_000 - threshold, at_least=at_least)
    expected = size >= threshold if at_least else size > threshold
    assert fixed.fires(size, 0) == reserve.fires(size, 1_000) == expected
    assert fixed.above == reserve.above == (not at_least)
    for strict in (False, True):
        share = Trigger(ratio=0.5, strict=strict)
        assert share.model_copy(update={"at_least": at_least}).above == share.above == strict


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=4), st.integers(0, 9))
def test_joined_conditions_fire_as_any_or_all_of_them_do(given: list[tuple[int, bool]], size: int) -> None:
    session = read_session([{"role": "user", "content": f"word {n}"} for n in range(size)] or [USER])
    size = len(session.live)
    first, *rest = [
        {"tokens": tokens, "at_least": at_least, "measure": "messages"} for tokens, at_least in given
    ]
    fires = [size >= tokens if at_least else size > tokens for tokens, at_least in given]
    for join, expected in (("any", any(fires)), ("all", all(fires))):
        policy = {"name": "mine", "trigger": {**first, "join": join, "also": rest}}
        verdict = make_plan(session, count_tokens(session), policy).verdict
        # Those that decided are told: the ones that are met, or the ones that are missing.
        decided = fires.count(expected)
        assert (verdict.fires, verdict.sentence.count("messages (counted)")) == (expected, decided)


def test_candidates_and_invocations_are_counted_by_items_and_by_turns() -> None:
    call = {"type": "tool_use", "id": "t", "name": "ls", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": "a.py"}
    rows = [
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, call]},
        {"role": "user", "content": [answer]},
        {"role": "assistant", "content": "a.py"},
        USER,
    ]
    session = read_session(rows)
    for measure, count in (("candidates", 4), ("invocations", 2), ("messages", 5)):
        for tokens, fires in ((count, True), (count + 1, False)):
            trigger = {"measure": measure, "tokens": tokens, "at_least": True}
            plan = make_plan(session, count_tokens(session), {"name": "mine", "trigger": trigger})
            assert plan.verdict.fires is fires, (measure, plan.verdict.sentence)
            assert plan.verdict.tokens == count
