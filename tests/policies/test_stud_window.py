"""stud's summaries against its window: wire edits, earlier summaries, budgets and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inspector import compact, find_policy, make_plan, open_demo, read_session, replay
from inspector.errors import EditError
from inspector.session.session import Session

EDITS: dict[str, dict[str, Any]] = {
    "thinking": {"kind": "clear-thinking", "keep": 1},
    "outputs": {"kind": "clear-tool-outputs", "keep": 1, "trigger_tokens": 1},
}


def thoughtful(turns: int, words: int = 40) -> Session:
    """Each turn: a question, a thought and a call, an output, a thought and an answer."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        thoughts = [
            {"type": "thinking", "thinking": f"thought {turn} {part} " * words, "signature": f"s{turn}{part}"}
            for part in range(2)
        ]
        call = {"type": "tool_use", "id": f"c{turn}", "name": "Read", "input": {"file_path": f"{turn}.py"}}
        output = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"line {turn} " * words}
        messages += [
            {"role": "user", "content": f"question {turn}"},
            {"role": "assistant", "content": [thoughts[0], call]},
            {"role": "user", "content": [output]},
            {"role": "assistant", "content": [thoughts[1], {"type": "text", "text": "answer " * words}]},
        ]
    return read_session(messages)


def with_edits(place: int, *names: str) -> dict[str, Any]:
    policy = find_policy("stud-wiki-1.1").model_dump(mode="json")
    policy["name"] = "mine"
    policy["rules"][place:place] = [EDITS[name] for name in names]
    return policy


@pytest.mark.parametrize("names", [("thinking",), ("outputs",), ("thinking", "outputs")])
def test_S0_51_a_wire_edit_takes_nothing_from_the_summariser_in_any_order_of_the_rules(
    names: tuple[str, ...],
) -> None:
    session = thoughtful(8)
    plans = [make_plan(session, with_edits(place, *names), reason="manual") for place in range(6)]
    for plan in plans:
        assert plan.jobs[0].leave_out == ()
        assert np.array_equal(plan.fate, plans[-1].fate)
        assert plan.after == plans[-1].after
        asked: list[Any] = []

        def write(job: Any, shown: Session, asked: list[Any] = asked) -> str:
            asked.append(job)
            return "So far."

        done = compact(session, plan.policy, write)
        assert [(job.entries, job.leave_out) for job in asked] == [(plan.jobs[0].entries, ())]
        assert done.context.tokens == done.promised.tokens
        run = replay(session, plan.policy, {"acts": [{"at": "turn 8", "do": "compact"}]})
        assert [job.leave_out for item in run.adopted for job in item.plan.jobs] == [()]


def summarised(words: int) -> Session:
    """A session whose context is a summary of so many words and four recent turns."""
    return compact(thoughtful(9), "stud-wiki-1.1", lambda job, session: "word " * words).after


@pytest.mark.parametrize("reason", ["manual", "overflow"])
def test_S0_59_a_large_earlier_summary_is_compacted_again_and_a_small_one_is_not(reason: Any) -> None:
    large = summarised(6_000)
    plan = make_plan(large, "stud-wiki-1.1", reason=reason)
    (job,) = plan.jobs
    assert (job.kind, job.entries, job.previous) == ("update", (), "word " * 6_000)
    done = compact(large, "stud-wiki-1.1", lambda job, session: "Short.", reason=reason)
    assert done.entry is not None
    assert done.after[done.entry].boundary.summary == "Short."  # type: ignore[union-attr]
    assert done.context.tokens == done.promised.tokens < plan.before - 5_000
    assert [p.block for p in done.context.pieces[1:]] == [p.block for p in plan_pieces(large)]
    again = compact(done.after, "stud-wiki-1.1", lambda job, session: "Shorter.", reason=reason)
    assert not again.done
    assert "nothing to compact" in again.why
    # A replay of the same moment agrees.
    run = replay(large, "stud-wiki-1.1", {"acts": [{"at": "turn 9", "do": "compact"}]})
    assert all(item.after < item.before for item in run.adopted)
    for other in ("keep-recent-turns", "flue"):
        assert not any(job.entries == () for job in make_plan(large, other, reason=reason).jobs)
    with pytest.raises(EditError):
        make_plan(large, "flue", cut=plan.cuts.ids[1])


def plan_pieces(session: Session) -> list[Any]:
    return list(compact(session, "stud-wiki-1.1", reason="auto").context.pieces)[1:]


@pytest.mark.parametrize("window", [8_000, 30_000, 81_920, 200_000])
def test_S0_103_a_budget_is_at_most_what_the_threshold_leaves_of_the_window(window: int) -> None:
    (job,) = make_plan(thoughtful(8), "stud-wiki-1.1", reason="manual", window=window).jobs
    assert job.max_tokens is not None
    assert job.max_tokens == int(0.8 * min(window / 5, 16_384))
    run = replay(thoughtful(20), "stud-wiki-1.1", {"writer": {"oversize": 3}}, window=8_000)
    budgets = {event.data["budget"] for event in run.events if event.kind == "summary_oversize"}
    assert budgets == {1_280}


@pytest.mark.parametrize("window", [1_001, 1_003, 1_005, 1_009, 2_000])
def test_S0_12_the_threshold_that_is_shown_is_the_size_from_which_it_fires(window: int) -> None:
    policy = find_policy("stud-wiki-1.1")
    run = replay(thoughtful(2), policy, window=window)
    assert policy.trigger.fires(run.threshold, window)
    assert not policy.trigger.fires(run.threshold - 1, window)
    assert f"at {run.threshold:,}" in make_plan(thoughtful(1, 2), policy, window=window).verdict.sentence


def test_S4_50_a_function_that_raises_is_asked_again_and_then_raises() -> None:
    calls: list[int] = []

    def broken(job: Any, session: Session) -> str:
        calls.append(1)
        raise ConnectionError("no network")

    with pytest.raises(ConnectionError, match="no network"):
        compact(open_demo(), "stud-wiki-1.1", broken)
    assert len(calls) == find_policy("stud-wiki-1.1").harness.retries + 1
