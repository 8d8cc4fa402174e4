"""What a run tells of a compaction that failed: the move out of it, and the circuit breaker."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import replay
from inspector.replays.run import Run
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session

from .test_engine import at, say, talk


def growing(count: int, usage: bool) -> Session:
    """Turns that are each longer than the one before."""
    entries: list[Entry] = []
    words = 0
    for number in range(count):
        words += 12 + 17 * number
        told = Usage(input=words, output=9) if usage else None
        entries += [say("user", 3 + 9 * number), say("assistant", 9 + 8 * number, usage=told)]
    return talk(*entries)


def left(run: Run) -> list[tuple[Any, Any, Any, str | None]]:
    """Every move out of a compaction: from, to, how it ended, and its name in the source."""
    return [
        (event.data["from"], event.data["to"], event.data.get("outcome"), event.name_in("claude-code"))
        for event in run.events
        if event.data.get("from") in ("auto", "manual", "reactive")
    ]


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize(("fails", "outcome"), [(99, "failed"), (0, None)])
def test_S2_35_S2_39_a_failed_compact_does_not_read_as_the_way_back_of_a_success(
    usage: bool, fails: int, outcome: str | None
) -> None:
    scenario = at("e9", "compact") | {"writer": {"fails": fails}}
    run = replay(growing(9, usage), "claude-code-analysis", scenario, window=90_000)
    name = "MANUAL → NORMAL" + (" (failed)" if outcome else "")
    assert left(run) == [("manual", "normal", outcome, name)]
    assert bool(run.adopted) is (outcome is None)


@pytest.mark.parametrize("usage", [True, False])
def test_S2_36_a_failed_automatic_compaction_is_told_as_one_and_is_no_recovery(usage: bool) -> None:
    scenario = {"writer": {"fails": 99}, "provider": "accepts"}
    run = replay(growing(24, usage), "claude-code-analysis", scenario, window=2_500)
    assert left(run) and {outcome for _, _, outcome, _ in left(run)} == {"failed"}
    assert "recovered" not in [event.kind for event in run.events if event.data.get("from") == "auto"]


TOO_LONG = "prompt is too long: 213462 tokens > 200000 maximum"
KEEP = "keep-recent-tokens.tokens"


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize(
    ("settings", "writer", "cause"),
    [
        ({KEEP: 10}, {}, None),
        ({KEEP: 10**6}, {}, "budget covers the whole context"),
        ({KEEP: 10}, {"fails": "always"}, "summariser failed 2 times"),  # the cut splits a turn
        ({KEEP: 10, "trigger.enabled": False}, {}, "recovery is switched off"),
    ],
)
def test_a_recorded_refusal_that_nothing_recovers_from_ends_the_run_or_is_a_finding(
    settings: dict[str, Any], writer: dict[str, Any], cause: str | None, more: int
) -> None:
    """At the end of the file it ends the run; otherwise the file continues, and the run with it."""
    entries = [say(role, 20) for role in ("user", "assistant") * 4] + [say("user", 5)]
    refused = say("assistant", 0).model_copy(update={"stop_reason": "error", "error": TOO_LONG})
    session = talk(*entries, refused, *[say("user", 5), say("assistant", 5)] * more)
    run = replay(session, "flue", {"writer": writer}, window=100_000, settings=settings)
    sentences = [note.sentence for note in run.findings if note.kind == "not_recovered"]
    surfaced = [event.kind for event in run.events].count("surfaced")
    if cause is None:
        assert (run.status, run.why, sentences, surfaced) == ("finished", "", [], 0) and len(run.adopted) == 1
        return
    assert (surfaced, run.status) == (1, "finished" if more else "failed")
    (told,) = sentences if more else [run.why]
    assert cause in told and "provider refused the request" in told
    assert cause in repr(run)


@pytest.mark.parametrize("usage", [True, False])
def test_S2_6_a_stage_has_a_record_exactly_if_it_ran(usage: bool) -> None:
    run = replay(growing(20, usage), "claude-code-analysis", window=2_500)
    stages = [event for event in run.events if event.kind == "stage"]
    assert {bool(event.data["ran"]) for event in stages} == {True, False}
    for event in stages:
        record = event.record_in("claude-code")
        assert record == ({"type": event.data["stage"]} if event.data["ran"] else None)


@pytest.mark.parametrize("do", ["compact", "token_overflow"])
def test_without_a_window_no_level_is_known_and_none_is_named(do: str) -> None:
    run = replay(growing(9, usage=False), "claude-code-analysis", at("e9", do))
    moves = [event for event in run.events if event.kind == "state_changed"]
    state = {"compact": "manual", "token_overflow": "reactive"}[do]
    assert [(move.data["from"], move.data["to"]) for move in moves] == [
        ("unknown", state),
        (state, "unknown"),
    ]
    assert not any("NORMAL" in (event.name_in("claude-code") or "") for event in run.events)


@pytest.mark.parametrize("usage", [True, False])
def test_a_recovery_is_told_once(usage: bool) -> None:
    run = replay(growing(20, usage), "claude-code-analysis", {"writer": {}}, window=2_500)
    assert run.adopted
    back = [(event.step, event.entry) for event in run.events if event.kind == "recovered"]
    assert len(back) == len({*back}) > 0


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_S2_6_the_breaker_tells_its_count_its_limit_and_each_opening(limit: int) -> None:
    session = growing(30, False)
    settings = {"harness.breaker": limit, "harness.retries": 0}
    acts = at("e52", "compact")["acts"]
    scenario = {"writer": {"fails": "always"}, "provider": "accepts", "acts": acts}
    run = replay(session, "claude-code-analysis", scenario, settings=settings, window=2_500)
    opened = [dict(event.data) for event in run.events if event.kind == "breaker_opened"]
    # The user's /compact closes it; it opens again after as many failures.
    assert opened == [{"failures": limit, "limit": limit}] * 2
    sentences = [item.sentence for item in run.findings if item.kind == "breaker_opened"]
    assert len(sentences) == 2
    assert all(f"{limit} automatic" in text and "/compact" in text for text in sentences)


@pytest.mark.parametrize(("window", "level"), [(None, "unknown"), (10**6, "normal")])
def test_S2_24_a_switch_to_a_known_window_moves_from_the_level_that_was_known(
    window: int | None, level: str
) -> None:
    act = {"at": "turn 12", "do": "switch", "window": 1_000}
    run = replay(
        growing(24, True), "claude-code-analysis", {"acts": [act], "provider": "accepts"}, window=window
    )
    switched = next(i for i, event in enumerate(run.events) if event.kind == "switched")
    moves = [event.data for event in run.events[switched:] if "from" in event.data]
    assert moves[0]["from"] == level
    assert [move["from"] for move in moves[1:]] == [move["to"] for move in moves[:-1]]
    assert "unknown" not in [move["to"] for move in moves]
