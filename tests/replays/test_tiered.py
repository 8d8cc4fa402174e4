"""mini-claude-code lived again: when it acts, how far down it goes, what it tells (S3, TIERED §5)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import compact
from inspector.planning.assemble import build_context
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.conformance.mini import Messages, estimate, parse
from tests.policies.test_mini_claude_code import COMPAT, FIXED, answer, call, reads, say
from tests.reference.event_order import check_fields, check_order

LOOP_EVENTS = ["query.cache_prefix_reset", "compaction"]
BOTH = pytest.mark.parametrize("policy", [FIXED, COMPAT])


def run_of(
    messages: Messages | Session, policy: str, budget: int, scenario: Any = None, **settings: Any
) -> Run:
    session = messages if isinstance(messages, Session) else parse(messages)
    told = {"trigger.budget": budget, **settings}
    run = replay(session, policy, scenario, ledger=count_tokens(session, "tiered"), settings=told)
    assert check_order(run.events, run.policy.harness) == []
    assert check_fields(run.events) == []
    return run


def act(entry: str, *deeds: str) -> dict[str, Any]:
    return {"acts": [{"at": entry, "do": deed} for deed in deeds]}


def records(run: Run) -> list[dict[str, Any]]:
    """What the published system itself would have written."""
    told = [event.record_in("mini-claude-code") for event in run.events]
    return [record for record in told if record is not None]


def one_read(size: int = 8_000) -> Messages:
    """A task, one large file, and what the model says of it."""
    return [say("user", "read it"), call("t", path="big"), answer("t", "x" * size), say("assistant", "done")]


@BOTH
def test_S3_20_S3_38_one_large_read_past_a_tiny_budget_is_compacted_before_the_next_request(
    policy: str,
) -> None:
    run = run_of(one_read(), policy, 1_000)
    (item,) = run.adopted
    assert (item.reason, item.entry) == ("auto", "m3")
    # The call's request is as it was; the one that follows the output is what the compaction left.
    assert (run.sent[-1], item.before > 2_000 > item.after) == (item.after, True)
    completed = [record for record in records(run) if record["type"] == "compaction"]
    assert len(completed) == 1
    quiet = run_of(one_read(), policy, 100_000)
    assert (quiet.adopted, records(quiet)) == ((), [])
    assert quiet.sent[-1] == item.before


@BOTH
def test_S3_21_S3_30_a_run_tells_the_reset_and_the_loop_event_with_its_figures(policy: str) -> None:
    run = run_of(reads(20), policy, 6_000)
    assert len(run.adopted) > 1
    assert [record["type"] for record in records(run)] == LOOP_EVENTS * len(run.adopted)
    for item, told in zip(run.adopted, records(run)[::2], strict=True):
        # The figures are the estimate that is held against the soft limit of 4,500.
        assert told["beforeTokens"] > 4_500 and told["afterTokens"] <= 3_000
        assert told["turn"] == int(item.entry.removeprefix("m")) // 2 - 1
    for item in run.adopted:
        assert item.before == item.plan.before > item.after
        assert item.after == build_context(item.plan.session, item.plan).tokens


@BOTH
def test_S3_1_it_fires_ahead_of_the_limit_in_tiers_and_the_same_way_every_time(policy: str) -> None:
    run, again = (run_of(reads(20), policy, 6_000) for _ in range(2))
    # The last outputs are followed by no request, so nothing is held against the soft limit there.
    assert run.measured[:-1].max() <= 4_500 < max(item.before for item in run.adopted) < 6_000
    for item, other in zip(run.adopted, again.adopted, strict=True):
        assert item.plan.deterministic
        assert [stage.name for stage in item.plan.stages] == ["shrink", "snip everything", "drop the middle"]
        assert (item.before, item.after, item.calls) == (other.before, other.after, 0)
        left = [build_context(each.plan.session, each.plan) for each in (item, other)]
        assert [p.block for p in left[0].pieces] == [p.block for p in left[1].pieces]


@BOTH
@pytest.mark.parametrize(("ratio", "share"), [(0.5, 0.5), (0.4, 0.4)])
def test_S3_19_after_it_fired_no_more_than_the_targets_share_of_the_budget_is_left(
    policy: str, ratio: float, share: float
) -> None:
    told = {} if ratio == 0.5 else {"target.ratio": ratio}
    run = run_of(reads(30), policy, 12_000, **told)
    assert run.adopted
    for item in run.adopted:
        assert item.plan.tiers.limit == int(12_000 * share)
        assert item.plan.left <= item.plan.tiers.limit
    assert run_of(reads(30), policy, 24_000).policy.target is not None


@pytest.mark.parametrize(("size", "adopts"), [(2_001, False), (2_010, False), (2_400, True), (4_000, True)])
def test_S3_T16_a_compaction_is_adopted_only_if_the_loops_estimate_becomes_smaller(
    size: int, adopts: bool
) -> None:
    """The mark of a snip has 27 characters: a text slightly over the limit grows (TIERED §3.2, §5)."""
    run = run_of(one_read(size), COMPAT, 400)
    told = [record for record in records(run) if record["type"] == "compaction"]
    assert [record["afterTokens"] < record["beforeTokens"] for record in told] == [True] * adopts
    assert [event.kind for event in run.events].count("prefix_reset") == adopts
    session = parse(one_read(size))
    ledger, settings = count_tokens(session, "tiered"), {"settings": {"trigger.budget": 400}}
    asked = session.at(session.entries[2].id)
    assert compact(asked, COMPAT, ledger=ledger, edits=settings, reason="auto").done is adopts


def talk() -> Messages:
    """Eleven messages of 1,500 characters, and the last words: 4,200 tokens."""
    return [
        say("user", "first"),
        *(say(("assistant", "user")[i % 2], "w" * 1500) for i in range(10)),
        say("user", "latest"),
        say("assistant", "whole"),
    ]


def test_S3_24_the_request_that_is_made_again_is_that_of_the_vectors() -> None:
    """Vector 077: 12 messages, a budget of 2,000; 8 messages stand in the second request."""
    messages = talk()
    run = run_of(messages, COMPAT, 2_000, act("m13", "max_output"))
    (item,) = run.adopted
    assert item.plan.tiers.limit == 1_400
    assert item.plan.tiers[0].size(None) == estimate(messages[:-1])
    # 375 tokens of words each, and their role: root, notice, five of the talk, the last words.
    assert item.plan.left > 1_400
