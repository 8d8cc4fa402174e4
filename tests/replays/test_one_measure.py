"""Plan, gauge and replay hold the same size against the same threshold."""

from __future__ import annotations

import pytest

from inspector import count_tokens, make_plan, read_session, replay
from inspector.session.session import Session
from tests.claude_rows import Claude, dump

ASKED_BEFORE_A_REQUEST = (
    "claude-code-analysis",
    "langchain-summarization",
    "inspect-edit",
    "inspect-trim",
    "anthropic-context-editing",
)
WORDS = "the tide at noon is three metres and falling "


def filled(since: int) -> Session:
    """A reply that reports half of a window of 200,000 tokens, and a message of about so many tokens."""
    claude = Claude().say("Begin.").reply("Good.", 1_000).say("Go on.").reply("Done.", 100_000)
    claude.say(WORDS * (since // 9)).reply("Read it.", 100_000 + since)
    return read_session(dump(claude.rows))


@pytest.mark.parametrize("policy", ASKED_BEFORE_A_REQUEST)
@pytest.mark.parametrize(("since", "fires"), [(95_000, True), (20_000, False)])
def test_S2_what_came_since_the_last_reply_counts_before_a_request(
    policy: str, since: int, fires: bool
) -> None:
    session = filled(since)
    ledger = count_tokens(session)
    asking = session.entries[-1].parent
    assert asking is not None
    plan = make_plan(session.at(asking), ledger, policy, window=200_000)
    assert plan.verdict.fires is fires, plan.verdict.sentence
    run = replay(session, policy, ledger=ledger, window=200_000)
    assert ("threshold_hit" in [event.kind for event in run.events]) is fires
    # The size in the verdict is the one that the replay held against the threshold, up to rounding.
    if not fires:
        assert plan.verdict.tokens == pytest.approx(int(run.measured[-2]), rel=0.01)


@pytest.mark.parametrize("policy", ["opencode", "pi", "claude-code"])
def test_the_room_that_is_left_is_that_of_the_run_and_not_of_the_recorded_context(policy: str) -> None:
    """The file compacts to a tenth; the run, whose window is larger, goes on with all of it."""
    talk = Claude()
    for number in range(1, 9):
        talk.say(f"Step {number}. " + "word " * 2_000).reply("Done.", 4_000 * number)
    talk.compact("We went on.").say("Go on.").reply("Yes.", 3_500)
    run = replay(talk.open(), policy, window=1_000_000)
    assert not run.adopted and run.context[-1] > 5 * run.recorded[-1]
    assert run.headroom is not None
    assert run.headroom.tokens == run.threshold - run.measured[-1]
    assert run.measured[-1] == run.context[-1]


OWN = {"name": "mine", "rules": [{"kind": "keep-recent-turns", "turns": 2}, {"kind": "summarise-older"}]}


def talk_without_usage(replies: int) -> list[dict[str, str]]:
    """A talk with long numbers in its replies, of which characters / 4 is far below the tokens."""
    digits = "7 1 0 3 9 4 8 2 6 5 " * 100
    pair = [{"role": "user", "content": "Next."}, {"role": "assistant", "content": digits}]
    return pair * replies


def test_a_policy_of_ones_own_counts_until_a_reply_reports_usage() -> None:
    session = read_session(talk_without_usage(12))
    limits = {"tokens": 5_000, "measure": "usage"}
    runs = [
        replay(session, {**OWN, "trigger": {**limits, "measure": measure}})
        for measure in ("usage", "assembled")
    ]
    hits = [[event for event in run.events if event.kind == "threshold_hit"] for run in runs]
    assert [event.turn for event in hits[0]] == [event.turn for event in hits[1]]
    first = hits[0][0]
    # Each reply has 2,000 characters of about 1,000 to 2,000 tokens: one reply above the limit at most.
    assert 5_000 < first.data["size"] == first.before < 7_100
    assert first.data["measure"] == "assembled"
    plan = make_plan(session, {**OWN, "trigger": limits})
    assert plan.verdict.tokens == plan.before
    assert "the request as counted, as no reply reports usage" in plan.verdict.sentence


def test_a_published_policy_estimates_as_its_system_does() -> None:
    session = read_session(talk_without_usage(12))
    for name in ("flue", "pi", "codex"):
        plan = make_plan(session, name, window=200_000)
        characters = sum(len(entry.text) for entry in session.entries)
        assert plan.verdict.tokens == pytest.approx(characters / 4, rel=0.01)
        assert "estimated" in plan.verdict.sentence


def test_reported_usage_decides_for_a_policy_of_ones_own_too() -> None:
    session = filled(20_000)
    asking = session.entries[-1].parent
    plan = make_plan(session.at(asking), {**OWN, "trigger": {"tokens": 90_000}}, window=200_000)
    assert 100_000 <= plan.verdict.tokens < 100_100  # what the reply was asked with, and the reply
    assert "by provider usage" in plan.verdict.sentence
