"""Where the events of a scenario happen, and what a summariser's failures and lengths come to."""

from __future__ import annotations

import itertools

import pytest

from inspector import Session, open_demo, read_session, replay
from inspector.errors import EditError
from inspector.replays.run import Run

RECENT = {"name": "recent", "rules": [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "summarise-older"}]}


def make_session(*turns: int) -> Session:
    """Turns of so many replies each, of unequal length and without usage."""
    messages = []
    for turn, replies in enumerate(turns):
        messages.append({"role": "user", "content": f"Question {turn}. " + "word " * (90 * turn)})
        for reply in range(replies):
            call = {"id": f"c{turn}-{reply}", "type": "function"}
            call["function"] = {"name": "read", "arguments": "{}"}  # type: ignore[assignment]
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "line " * 300})
        messages.append({"role": "assistant", "content": f"Answer {turn}."})
    return read_session(messages)


def kinds(run: Run) -> list[str]:
    return [event.kind for event in run.events]


@pytest.mark.parametrize("do", ["token_overflow", "compact"])
def test_a_turn_and_a_step_are_their_first_entries(do: str) -> None:
    session = make_session(3, 1, 4, 2)
    plain = replay(session, "keep-recent-turns", window=60_000)
    for step, turn in enumerate(plain.turn.tolist()):
        first = plain.turn.tolist().index(turn) == step
        before = plain.entry[step - 1] + 1 if step else 0
        entry = session.entries[int(before)].id
        named, counted = (
            replay(session, "keep-recent-turns", {"acts": [{"at": at, "do": do}]}, window=60_000)
            for at in (entry, f"turn {turn + 1}" if first else f"step {step + 1}")
        )
        assert named.events == counted.events and named.context.tolist() == counted.context.tolist()


@pytest.mark.parametrize("at", ["turn 5", "step 99", "turn 0", "step", "turn -1", "nobody"])
def test_what_the_session_does_not_have_is_named(at: str) -> None:
    with pytest.raises(EditError, match=at):
        replay(make_session(1, 2, 1, 1), "flue", {"acts": [{"at": at, "do": "compact"}]})


def test_a_summariser_fails_from_a_turn_on_and_not_before() -> None:
    session = make_session(6, 5, 7, 6, 5)
    acts = [{"at": f"turn {turn}", "do": "compact"} for turn in (3, 4, 5)]
    once, always = (
        replay(session, RECENT, {"acts": [*acts[:1], {"at": "turn 4", "do": do}, *acts[1:]]}, window=30_000)
        for do in ("fail_once", "fail_always")
    )
    assert kinds(once).count("retried") == 1 and "failed" not in kinds(once)
    failed = [event.turn for event in always.events if event.kind == "failed"]
    assert failed and min(failed) == 3 and not [item for item in always.adopted if item.turn > 2]
    from_start = replay(session, RECENT, {"acts": acts, "writer": {"fails": "always"}}, window=30_000)
    assert not from_start.adopted and kinds(from_start).count("failed") == len(from_start.compactions) > 0


def test_each_summary_is_longer_than_the_one_before_up_to_its_budget() -> None:
    session = make_session(6, 5, 7, 6, 5, 4)
    acts = [{"at": f"turn {turn}", "do": "compact"} for turn in (2, 3, 4, 5, 6)]
    run = replay(session, RECENT, {"acts": acts, "writer": {"grows": 3}}, window=60_000)
    written = [item.written for item in run.adopted]
    assert len(written) > 1
    for before, after in itertools.pairwise(written):
        assert after >= min(3 * before, max(written))


@pytest.mark.parametrize("cap", [1, 4, 9])
def test_a_stage_ends_before_the_request_after_its_cap(cap: int) -> None:
    session = make_session(2, 5, 1)
    whole = replay(session, "flue")
    run = replay(session, "flue", {"turn_cap": cap})
    requests = int((whole.sent > 0).sum())
    assert requests > 9 and (run.status, int((run.sent > 0).sum())) == ("capped", cap)
    assert str(cap) in run.why and "capHit" in run.why
    assert replay(session, "flue", {"turn_cap": requests}).status == "finished"


def test_the_recipe_makes_the_same_run_again() -> None:
    session = open_demo()
    scenario = {"acts": [{"at": "step 40", "do": "byte_overflow"}], "user": "waits"}
    for policy, settings, window in (
        ("stud-warning", {"harness.warn": 0.5}, 90_000),
        ("flue", {}, None),
        ({"name": "mine", "rules": [{"kind": "keep-recent-turns", "turns": 2}]}, {}, None),
    ):
        run = replay(session, policy, scenario, settings=settings, window=window)
        again = eval(run.recipe, {"replay": replay, "session": session})
        assert again.events == run.events and again.policy == run.policy
    assert replay(session).recipe == "replay(session, 'flue')"
