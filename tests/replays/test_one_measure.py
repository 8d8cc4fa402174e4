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
