"""Claude Code's pipeline lived again, in a window of 1,000 words: states, stages and calls (S2)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.formats.manifest import dump_manifest
from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.policies.harness import STATES
from inspector.replays.run import Run
from inspector.session.session import Session

from .test_engine import at, event, failed, kinds, live, say, talk, turn

MANUAL = {"harness.mode": "manual"}
WHOLE = {"drop-oldest-turns.turns": 50, "collapse.enabled": False}


def turns(count: int, last: int = 40) -> Session:
    """Turns of 100 words each, and a question of `last` words that is answered in two."""
    asked = [entry for _ in range(count) for entry in turn(40, 60)]
    return talk(*asked, say("user", last), say("assistant", 2))


def run_of(session: Session, scenario: Any = None, **settings: Any) -> Run:
    """A replay whose summaries are as long as their placeholders, without the views of Snip and Collapse."""
    told = {"writer": {}} | (scenario or {})
    return live(session, "claude-code-analysis", told, window=1_000, settings={**WHOLE, **settings})


def moves(run: Run) -> list[tuple[str, str]]:
    return [(e.data["from"], e.data["to"]) for e in run.events if "to" in e.data]


@pytest.mark.parametrize(("last", "fires"), [(50, False), (51, True)])
def test_S2_42_it_compacts_above_95_percent_and_not_at_it(last: int, fires: bool) -> None:
    run = run_of(turns(9, last))
    assert [item.before for item in run.adopted] == ([951] if fires else [])
    assert run.sent[-1] == (run.adopted[0].after if fires else 950)


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


def test_S2_10_a_refusal_in_a_file_runs_the_reactive_stage_and_no_other_that_shrinks() -> None:
    session = failed(turns(4), 9)
    stored = read_session(dump_manifest(session).encode(), "stored")
    run = run_of(stored)
    (item,) = run.adopted
    assert [stage.name for stage in item.plan.stages if stage.before != stage.after] == ["reactive"]
    assert "auto" not in [stage.name for stage in item.plan.stages if stage.ran]
    assert event(run, "token_overflow").name_in("claude-code") == "prompt_too_long"
    assert ("normal", "reactive") in moves(run)
    assert run.sent[-1] == item.after < item.before
    assert run_of(turns(4)).adopted == ()


@pytest.mark.parametrize("off", [MANUAL, {"trigger.enabled": False}])
def test_S2_34_S2_38_either_switch_of_auto_leads_from_critical_to_blocking_and_compact_out_of_it(
    off: dict[str, Any],
) -> None:
    waits = run_of(turns(10), {"user": "waits"}, **off)
    assert moves(waits)[-1] == ("critical", "blocking")
    assert (waits.status, waits.adopted, "/compact" in waits.actions) == ("paused", (), True)
    assert waits.sent.max() <= 980
    asks = run_of(turns(10), {"user": "compacts"}, **off)
    assert [item.reason for item in asks.adopted] == ["manual"]
    assert ("blocking", "manual") in moves(asks)
    # A refusal leaves it to the user as well.
    refused = run_of(turns(4), at("e5", "token_overflow") | {"user": "waits"}, **off)
    assert (refused.status, refused.compactions) == ("paused", ())


def test_S2_2_a_compaction_in_a_replay_has_the_stages_of_a_plan_and_so_have_its_events() -> None:
    session = turns(10)
    for reason, scenario in (
        ("auto", {}),
        ("manual", at("e11", "compact")),
        ("overflow", at("e11", "token_overflow")),
    ):
        run = run_of(session, scenario, **{"collapse.enabled": True})
        item = run.adopted[0]
        plan = make_plan(session, "claude-code-analysis", window=1_000, reason=item.reason)
        assert item.reason == reason
        assert [stage.name for stage in item.plan.stages] == [stage.name for stage in plan.stages]
        behind = [(stage.name, stage.ran) for stage in item.plan.stages[3:]]
        told = [
            (event.data["stage"], event.data["ran"])
            for event in run.events
            if event.kind == "stage" and event.step == item.step
        ]
        assert [pair for pair in told if pair in behind] == behind


def test_S2_24_without_a_window_the_level_is_unknown() -> None:
    run = live(turns(3), "claude-code-analysis", window=0)
    assert {row["state"] for row in run.to_dicts()} == {"unknown"}
    assert run.actions == ()
    # A model whose window is known makes it known; a harness without thresholds has nothing to know.
    known = live(
        turns(3),
        "claude-code-analysis",
        {"acts": [{"at": "e4", "do": "switch", "model": "m", "window": 900}]},
        window=0,
    )
    assert known.to_dicts()[-1]["state"] == "normal"
    assert {row["state"] for row in live(turns(3), "flue", window=0).to_dicts()} == {"normal"}


@pytest.mark.parametrize("reason", ["auto", "manual", "overflow"])
def test_S2_5_S2_14_the_turns_that_snip_does_not_send_are_in_the_summary_of_a_replay(reason: str) -> None:
    last = [*turn(700 if reason == "auto" else 40, 60), *turn(40, 60)]
    session = talk(*(entry for _ in range(12) for entry in turn(40, 60)), *last)
    acts = {"auto": {}, "manual": at("e25", "compact"), "overflow": at("e25", "token_overflow")}
    run = run_of(session, acts[reason], **{"drop-oldest-turns.turns": 4})
    (item,) = run.adopted
    assert item.reason == reason and not item.plan.jobs[0].leave_out
    assert item.plan.jobs[0].entries == tuple(entry.id for entry in item.plan.session.entries)
    assert len(item.plan.jobs[0].entries) >= 24
    rows = item.plan.to_columns()
    assert (rows["ref"][0], set(rows["retention"])) == (f"{session.entries[0].id}/0", {"summarised"})
    # No request held them all; the history had them until now.
    assert item.before <= 1_000 < item.plan.before and item.after == item.plan.after
    assert run.sent[: item.step].max() <= 340
