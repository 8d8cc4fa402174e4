"""mini-claude-code lived again: when it acts, how far down it goes, what it tells (S3, TIERED §5)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from inspector.planning.assemble import build_context
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests import tiered_oracle as oracle
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


def kinds(run: Run, *wanted: str) -> list[str]:
    return [event.kind for event in run.events if event.kind in wanted]


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


def recount(messages: Messages, budget: int) -> list[dict[str, Any]]:
    """What the published loop tells of these messages, by another writing of it (TIERED §2-5)."""
    told, stands, loop = [], list[dict[str, Any]](), 0
    for message in messages:
        stands.append(message)
        loop = {"user": 0, "assistant": loop + 1}.get(message["role"], loop)
        before = oracle.estimate(stands)
        if message["role"] != "tool" or before <= int(budget * 0.75):
            continue
        left, _ = oracle.tiered(stands, int(budget * 0.5))
        if (after := oracle.estimate(left)) < before:
            stands = left
            sizes = {"beforeTokens": before, "afterTokens": after, "turn": loop - 1}
            told.append({"type": "query.cache_prefix_reset", "reason": "proactive_compaction", **sizes})
            told.append({"type": "compaction", "reason": "proactive", **sizes})
    return told


@pytest.mark.parametrize("counter", ["tiered", "o200k_base"])
def test_S3_21_S3_30_the_figures_are_the_harness_s_own_whatever_the_ledger_counts(counter: str) -> None:
    """Three prompts with unequal loops, arguments that the estimate leaves out, a reply without a call."""
    messages = [
        *reads(9, 2_600, "a"),
        say("assistant", "The first part is done."),
        say("user", "Go on with the second. " * 40),
        *reads(2, 1_100, "b", error="none")[1:],
        call("w", "Write", path="out.py", content="x = 1\n" * 4_000),
        answer("w", "written " * 900),
        say("assistant", "Done."),
        *reads(14, 1_900, "c"),
    ]
    session = parse(messages)
    run = replay(session, COMPAT, ledger=count_tokens(session, counter), settings={"trigger.budget": 6_000})
    assert records(run) == recount(messages, 6_000)
    told = [record for record in records(run) if record["type"] == "compaction"]
    assert len({record["turn"] for record in told}) > 2 and 0 not in {record["turn"] for record in told}
    lines = [line.strip() for line in repr(run).splitlines() if "[compaction]" in line]
    assert lines == [
        f"[compaction] {one['beforeTokens']:,} -> {one['afterTokens']:,} tokens, reason proactive, "
        f"turn {one['turn']}"
        for one in told[:8]
    ]
    for event in run.events:
        if record := event.record_in("mini-claude-code"):
            assert f"{record['beforeTokens']:,} -> {record['afterTokens']:,} by the" in event.sentence
            assert f"loop turn {record['turn']}" in event.sentence
    sizes = zip(run.adopted, told, strict=True)
    assert any(item.before != one["beforeTokens"] for item, one in sizes), "the ledger counts calls too"


@BOTH
@pytest.mark.parametrize(("deed", "published"), [("token_overflow", []), ("compact", ["compact"])])
def test_S3_30_the_mark_is_published_for_the_proactive_compaction_alone(
    policy: str, deed: str, published: list[str]
) -> None:
    run = run_of([*reads(4), say("assistant", "done")], policy, 100_000, act("m10", deed))
    assert [item.reason for item in run.adopted] == ["overflow" if deed == "token_overflow" else "manual"]
    assert [record["type"] for record in records(run)] == published
    # The provider's cache is cut all the same, and that is told by its neutral name.
    assert kinds(run, "prefix_reset", "completed") == ["prefix_reset", "completed"]


@BOTH
def test_S3_25_what_is_printed_of_a_run_has_a_line_for_each_compaction(policy: str) -> None:
    run = run_of(reads(20), policy, 6_000)
    lines = [line.strip() for line in repr(run).splitlines() if "[compaction]" in line]
    assert len(lines) == len(run.adopted) > 1
    for line, item in zip(lines, run.adopted, strict=True):
        assert re.fullmatch(r"\[compaction\] [\d,]+ -> [\d,]+ tokens, reason proactive, turn \d+", line)
        assert line.endswith(f" {int(item.entry.removeprefix('m')) // 2 - 1}")
    assert "[compaction]" not in repr(run_of(reads(2), policy, 100_000))


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


def talk() -> Messages:
    """Eleven messages of 1,500 characters, and the last words: 4,200 tokens."""
    return [
        say("user", "first"),
        *(say(("assistant", "user")[i % 2], "w" * 1500) for i in range(10)),
        say("user", "latest"),
        say("assistant", "whole"),
    ]


@BOTH
@pytest.mark.parametrize("trouble", ["token_overflow", "max_output"])
def test_S3_24_what_the_provider_does_not_answer_is_compacted_to_seventy_percent_and_asked_again(
    policy: str, trouble: str
) -> None:
    run = run_of(talk(), policy, 4_000, act("m13", trouble))
    (item,) = run.adopted
    assert (item.reason, run.status) == ("overflow", "finished")
    assert kinds(run, trouble, "leaf_removed", "started", "completed") == [
        *(trouble, "leaf_removed", "started", "completed"),
    ]
    size = item.plan.tiers[0].size(None)
    # 70 % of the context, which is less than the budget: not half of the budget, as it does by itself.
    assert item.plan.tiers.limit == int(0.7 * size) < 2_800
    assert item.plan.tiers.limit > 2_000
    assert run.sent[-1] == item.after < item.before
    assert len(item.plan.session.live) == 12
    assert len(build_context(item.plan.session, item.plan).pieces) == 8


def test_S3_24_the_request_that_is_made_again_is_that_of_the_vectors() -> None:
    """Vector 077: 12 messages, a budget of 2,000; 8 messages stand in the second request."""
    messages = talk()
    run = run_of(messages, COMPAT, 2_000, act("m13", "max_output"))
    (item,) = run.adopted
    assert item.plan.tiers.limit == 1_400
    assert item.plan.tiers[0].size(None) == estimate(messages[:-1])
    # 375 tokens of words each, and their role: root, notice, five of the talk, the last words.
    assert item.plan.left > 1_400


@BOTH
def test_S3_24_each_kind_is_tried_once_and_then_surfaces(policy: str) -> None:
    done = say("assistant", "done")
    both = run_of([*reads(20), done], policy, 100_000, act("m42", "token_overflow", "max_output"))
    order = ["token_overflow", "completed", "max_output", "completed"]
    assert (kinds(both, *order), both.status) == (order, "finished")
    twice = run_of([*reads(8), done], policy, 100_000, act("m18", *["max_output"] * 2))
    assert (twice.status, len(twice.adopted)) == ("failed", 1)
    assert kinds(twice, "max_output", "surfaced") == ["max_output", "max_output", "surfaced"]
    assert "ran into its limit of tokens" in twice.why


def test_S3_24_a_harness_that_does_not_ask_again_takes_the_reply_as_it_is() -> None:
    run = run_of(talk(), COMPAT, 4_000, act("m13", "max_output"), **{"harness.recover_output": False})
    assert (run.adopted, run.status, kinds(run, "max_output")) == ((), "finished", [])
    assert any("takes a reply" in note.sentence for note in run.findings)
