"""Plan, gauge and replay hold the same size against the same threshold."""

from __future__ import annotations

import pytest

from inspector import count_tokens, make_plan, read_session, replay
from inspector.policies.registry import list_policies
from inspector.session.session import Session
from inspector.workbench.payloads.gauge import word_gauge
from tests.claude_rows import Claude, dump

ASKED_BEFORE_A_REQUEST = (
    "claude-code",
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


FULL_BY_COUNT = ("openai-agents-compaction",)
"""Policies that fire after a few items, however few tokens they have."""


@pytest.mark.parametrize(
    "policy", [one.name for one in list_policies() if one.name not in ("recorded", *FULL_BY_COUNT)]
)
def test_the_verdict_of_a_plan_has_the_size_that_the_replay_measured(policy: str) -> None:
    """Before anything is compacted: at every reply, in a window that is never full."""
    claude = Claude()
    for turn in range(1, 12):
        claude.say(f"Turn {turn}: {WORDS * turn}").reply("Yes. " * turn, 2_000 * turn)
    session = read_session(dump(claude.rows))
    ledger = count_tokens(session)
    run = replay(session, policy, ledger=ledger, window=900_000)
    assert not run.compactions
    replies = [at for at, row in enumerate(run.entry.tolist()) if session.entries[row].role == "assistant"]
    assert len(replies) > 9
    for at in replies[1:]:
        moment = session.at(session.entries[int(run.entry[at])].id)
        verdict = make_plan(moment, ledger, policy, window=900_000).verdict
        assert verdict.tokens == pytest.approx(int(run.measured[at]), abs=2), (at, verdict.sentence)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("mini-claude-code-compat", "18k by its own estimate"),
        ("langchain-clear", "100k by its own estimate"),
        ("openhands", "240 messages"),
        ("claude-code", "190k"),
    ],
)
def test_the_gauge_names_the_scale_of_the_threshold(policy: str, words: str) -> None:
    session = filled(1_000)
    plan = make_plan(session, count_tokens(session), policy, window=200_000)
    assert word_gauge(plan).words.endswith(f"above {words}")


@pytest.mark.parametrize("usage", [True, False])
def test_S2_43_auto_asks_for_a_summary_in_a_session_of_unequal_turns(usage: bool) -> None:
    claude = Claude()
    size = 1_000
    for turn in range(1, 25):
        words = WORDS * (40 if turn % 5 else 2_000)
        claude.say(f"Turn {turn}: {words}")
        size += 9 * (words.count("tide")) + 60
        claude.reply(f"Answer {turn}.", size)
    rows = claude.rows
    if not usage:
        rows = [
            {**row, "message": {key: value for key, value in row["message"].items() if key != "usage"}}
            for row in rows
        ]
    session = read_session(dump(rows))
    run = replay(session, "claude-code", ledger=count_tokens(session), window=70_000)
    assert run.compactions
    for compaction in run.compactions:
        assert compaction.calls >= 1, compaction


@pytest.mark.parametrize(
    ("policy", "provider"),
    [("langchain-trim", "rules"), ("inspect-trim", "rules"), ("flue", "anthropic")],
)
def test_S0_100_an_event_names_a_provider_only_where_a_summariser_is_called(
    policy: str, provider: str
) -> None:
    claude = Claude()
    for turn in range(1, 40):
        claude.say(f"Turn {turn}: {WORDS * 700}").reply("Yes.", 7_000 * turn)
    session = read_session(dump(claude.rows))
    run = replay(session, policy, ledger=count_tokens(session), window=200_000)
    done = [event for event in run.events if event.kind in ("started", "completed")]
    assert done
    assert {event.provider for event in done} == {provider}
