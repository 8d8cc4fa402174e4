"""Claude Code's pipeline lived again, in a window of 1,000 words: states, stages and calls (S2)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.formats.manifest import dump_manifest
from inspector.formats.readers import read_session
from inspector.policies.harness import STATES
from inspector.replays.run import Run
from inspector.session.session import Session

from .test_engine import at, event, failed, kinds, live, say, talk, turn

MANUAL = {"harness.mode": "manual"}


def turns(count: int, last: int = 40) -> Session:
    """Turns of 100 words each, and a question of `last` words that is answered in two."""
    asked = [entry for _ in range(count) for entry in turn(40, 60)]
    return talk(*asked, say("user", last), say("assistant", 2))


def run_of(session: Session, scenario: Any = None, **settings: Any) -> Run:
    """A replay whose summaries are as long as their stand-ins."""
    told = {"writer": {}} | (scenario or {})
    return live(session, "claude-code", told, window=1_000, settings=settings)


def moves(run: Run) -> list[tuple[str, str]]:
    return [(e.data["from"], e.data["to"]) for e in run.events if "to" in e.data]


@pytest.mark.parametrize(("last", "fires"), [(50, False), (51, True)])
def test_S2_42_it_compacts_above_95_percent_and_not_at_it(last: int, fires: bool) -> None:
    run = run_of(turns(9, last))
    assert [item.before for item in run.adopted] == ([951] if fires else [])
    assert run.sent[-1] == (run.adopted[0].after if fires else 950)


def test_S2_43_with_auto_on_crossing_95_percent_is_one_summariser_call() -> None:
    run = run_of(turns(10))
    (item,) = run.adopted
    assert (item.reason, item.calls, item.plan.summarises) == ("auto", 1, True)
    assert sum(c.calls for c in run.compactions) == 1
    assert event(run, "completed").data["calls"] == 1
    waiting = run_of(turns(10), {"user": "waits"}, **MANUAL)
    assert sum(c.calls for c in waiting.compactions) == 0
    # Between the warning and 95 % nobody is asked to summarise anything.
    warned = run_of(turns(9))
    assert (kinds(warned), warned.compactions) == (["warned"], ())


def test_S2_28_S2_33_critical_leads_to_auto_by_itself_and_the_log_tells_it() -> None:
    run = run_of(turns(10))
    assert moves(run)[:3] == [("normal", "warning"), ("warning", "critical"), ("critical", "auto")]
    told = next(e for e in run.events if e.data.get("to") == "auto")
    assert (told.kind, told.name_in("claude-code")) == ("state_changed", "CRITICAL → AUTO COMPACT")
    assert [item.reason for item in run.adopted] == ["auto"]
    off = run_of(turns(10), {"user": "waits"}, **MANUAL)
    assert "auto" not in {state for move in moves(off) for state in move}


@pytest.mark.parametrize(("count", "before"), [(4, "normal"), (9, "warning")])
def test_S2_30_compact_leads_to_manual_from_whatever_state_it_is_in(count: int, before: str) -> None:
    run = run_of(turns(count), at(f"e{2 * count + 1}", "compact") | {"user": "compacts"}, **MANUAL)
    entered = [move for move in moves(run) if move[1] == "manual"]
    assert entered == [(before, "manual")]
    assert [item.reason for item in run.adopted] == ["manual"]


def test_S2_30_who_runs_compact_because_calls_are_blocked_goes_from_blocking_to_manual() -> None:
    run = run_of(turns(10), **MANUAL)
    assert moves(run)[2:4] == [("critical", "blocking"), ("blocking", "manual")]


def test_S2_44_while_calls_are_blocked_none_is_sent() -> None:
    run = run_of(turns(10), {"user": "waits"}, **MANUAL)
    assert (run.status, run.adopted) == ("paused", ())
    assert kinds(run, "blocked", "refused") == ["blocked", "refused"]
    assert "/compact" in run.why
    assert run.sent.max() <= 980
    # The eleventh request, of 1,040 words, is that which is not sent; STATES tells why.
    assert ((run.sent > 0).sum(), STATES[run.state[-1]]) == (10, "blocking")
    allowed = run_of(turns(10), {"user": "waits"})
    assert (allowed.status, (allowed.sent > 0).sum()) == ("finished", 11)


def test_S2_5_the_whole_conversation_is_written_up_in_a_call_beside_the_requests() -> None:
    run = run_of(turns(10), {"user": "compacts"}, **MANUAL)
    (item,) = run.adopted
    (job,) = item.plan.jobs
    assert job.entries == tuple(
        entry.id for entry in item.plan.session.entries[: len(item.plan.session.live)]
    )
    assert len(job.entries) == 21
    # It is asked with all of it, and that call is none of the eleven requests of the conversation.
    assert (item.calls, item.asked) == (1, item.before)
    assert (run.sent > 0).sum() == 11
    assert item.asked not in run.sent.tolist()
    assert run.sent[-1] == item.after == item.written


def test_S2_10_a_refusal_in_a_file_runs_the_reactive_stage_and_no_other_that_shrinks() -> None:
    session = failed(turns(4), 9)
    stored = read_session(dump_manifest(session).encode(), "stored")
    run = run_of(stored)
    (item,) = run.adopted
    assert [stage.name for stage in item.plan.stages if stage.ran] == ["budget", "reactive"]
    assert event(run, "token_overflow").name_in("claude-code") == "prompt_too_long"
    assert ("normal", "reactive") in moves(run)
    assert run.sent[-1] == item.after < item.before
    assert run_of(turns(4)).adopted == ()
