"""One compaction in a replay: what is told of it, in which order, and what it leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.planning.assemble import live_context
from inspector.policies.builtin.stud import STUD_WIKI
from inspector.policies.harness import BUNDLED, Harness
from inspector.policies.policy import Policy, read_policy
from inspector.policies.registry import POLICIES
from inspector.policies.trigger import Trigger
from inspector.session.blocks import Reasoning, Text
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.replay import draw_run
from tests.replays.test_engine import (
    MANUAL,
    OFF,
    WINDOW,
    WORDS,
    at,
    event,
    kinds,
    live,
    make_policy,
    say,
    talk,
    turn,
    turns,
)


def beside(main: Session, stage: list[Entry], parent: str | None = None) -> Session:
    """The session with a stage's entries s0, s1, …, which are no part of its path."""
    linked = tuple(
        entry.model_copy(
            update={"id": f"s{i}", "parent": f"s{i - 1}" if i else parent, "sidechain": "agent-1"}
        )
        for i, entry in enumerate(stage)
    )
    return main.model_copy(update={"entries": (*main.entries, *linked)})


# -- stages and the session around them ---------------------------------------------------------------


def test_S0_89_a_stage_below_the_trigger_sees_no_event() -> None:
    # Thirty tokens of a hundred in the stage, ninety in the session that it was called from.
    stage = [say("assistant", 15), say("user", 5), say("assistant", 10)]
    session = beside(turns(9), stage)
    inside = live(session.at("s2"))
    assert (inside.events, inside.compactions, inside.context.tolist()[-1]) == ((), (), 30)
    assert [item.entry for item in live(session).adopted] == ["e16"], "the session around it compacts"
    longer = [*stage, *turn(40, 10), *turn(5, 1)]
    assert kinds(live(beside(turns(3), longer).at("s6")), "threshold_hit") == ["threshold_hit"]


@pytest.mark.parametrize(("count", "fires"), [(7, False), (8, False), (9, True)])
def test_S0_91_one_threshold_for_the_orchestrator_and_its_stages(count: int, fires: bool) -> None:
    stage = beside(turns(1), list(turns(count).entries)).at(f"s{2 * count - 1}")
    outer, inner = live(turns(count)), live(stage)
    # Before the ninth answer there are 84 tokens of a hundred; before the eighth 74.
    assert [(item.before, item.after) for item in outer.adopted] == [(84, 9)] * fires
    assert [(item.before, item.after) for item in inner.adopted] == [(84, 9)] * fires
    assert kinds(outer) == kinds(inner)


def test_S0_92_compact_on_the_orchestrator_leaves_stages_to_the_byte() -> None:
    session = beside(turns(4), [say("user", 3), say("assistant", 30)], parent="e1")
    run = live(session, scenario=at("e6", "compact"))
    (item,) = run.adopted
    assert (item.reason, item.before, item.after) == ("manual", 30, 15)
    assert not {"s0", "s1"} & {entry.id for entry in item.plan.session.entries}
    told = {"ledger": count_tokens(session, WORDS), "window": WINDOW}
    done = compact(session, make_policy(), lambda job, session: "so far", reason="manual", **told)
    assert done.done and live_context(done.after, done.ledger).tokens < 40
    for name in ("s0", "s1"):
        assert done.after[name].model_dump_json() == session[name].model_dump_json()
    stages = [live_context(one.at("s1"), count_tokens(one, WORDS)) for one in (session, done.after)]
    assert stages[0].pieces == stages[1].pieces and stages[0].tokens == 43


# -- started, completed, failed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [({}, "auto"), (at("e8", "compact"), "manual"), (at("e9", "token_overflow"), "overflow")],
)
def test_S0_95_started_comes_right_before_the_call_and_says_why(
    scenario: dict[str, Any], reason: str
) -> None:
    count = 9 if reason == "auto" else 5
    run = live(turns(count), scenario=scenario | {"writer": {"fails": 1, "oversize": 1}})
    told = kinds(run)
    # The summariser's first call fails, so the first call is where it is told to be made again.
    assert told[told.index("started") + 1] == "retried" and told.count("started") == 1
    assert event(run, "started").data["reason"] == reason
    assert [item.reason for item in run.adopted] == [reason]


def test_S0_96_completed_is_told_when_the_summary_stands_in_the_context() -> None:
    run = live(turns(9))
    told, (item,) = event(run, "completed"), run.adopted
    assert kinds(run, "started", "prefix_reset", "completed", "recovered") == [
        *("started", "prefix_reset", "completed", "recovered")
    ]
    # Nine tokens of a hundred: one summary of five, and the question. That is what is sent next.
    assert (told.before, told.after, told.data["ratio"]) == (84, 9, 0.09)
    assert run.sent[item.step] == told.after
    # Called, and nothing came to stand: nothing is told to be complete.
    bigger = talk(*turn(1, 1), *turn(1, 1), *turn())
    looks = make_policy(conduct=Harness(adopt="smaller"), budget=50)
    discarded = live(bigger, looks, at("e4", "compact"))
    assert discarded.compactions[0].calls == 1
    assert kinds(discarded, "started", "completed", "discarded") == ["started", "discarded"]


def test_S0_98_a_strategy_that_fails_tells_its_error_and_no_completion() -> None:
    run = live(turns(9), make_policy(conduct=Harness(retries=1)), {"writer": {"fails": 99}})
    tries = [item.calls for item in run.compactions]
    assert kinds(run, "started", "retried", "completed", "failed") == ["started", "retried", "failed"] * len(
        tries
    )
    told = event(run, "failed")
    assert told.data["error"] == "SummarizeFailed" and told.data["cause"] == "SummarizeFailed"
    assert (told.before, told.after, tries[0]) == (84, 84, 2)
    assert run.adopted == () and run.context[-1] == 90, "the history is as it was"


def test_S1_46_applied_is_told_when_the_tool_completed_and_not_when_it_failed() -> None:
    policy = make_policy(OFF, MANUAL)
    good = live(turns(5), policy, at("e8", "compact"))
    assert kinds(good, "started", "completed", "failed", "applied") == ["started", "completed", "applied"]
    told = event(good, "applied")
    assert (told.before, told.after, told.name_in("stud-warning")) == (40, 15, "CompactionApplied")
    bad = live(turns(5), policy, at("e8", "compact") | {"writer": {"fails": 99}})
    assert kinds(bad, "started", "completed", "failed", "applied") == ["started", "failed"]
    # Where core compacts there is no tool that could have been applied.
    assert kinds(live(turns(5), scenario=at("e8", "compact")), "applied") == []


# -- reasoning ----------------------------------------------------------------------------------------


def thinks(answered: int, *thoughts: str, **extra: Any) -> list[Entry]:
    """A question, and an answer after so many thoughts."""
    blocks = (*(Reasoning(text=text, signature=text) for text in thoughts), Text(text="word " * answered))
    return [say("user", 4), Entry(id="", role="assistant", blocks=blocks, extra=extra)]


def thoughtful(*rules: dict[str, Any]) -> Policy:
    given = [
        {"kind": "keep-system"},
        {"kind": "keep-recent-turns", "turns": 2},
        *rules,
        {"kind": "summarise-older", "split_turns": False, "cap": 5},
    ]
    read = read_policy({"name": "mine", "rules": given})
    return read.model_copy(update={"trigger": Trigger(tokens=999, measure="assembled", check="request")})


THOUGHTS = talk(
    *thinks(4, "draft one", "draft two", stage="draft"),
    *thinks(4, "old thought"),
    *turn(),
    *thinks(4, "kept thought"),
    *thinks(4, "newest thought"),
    *turn(),
)
# -- a model's summary is never silent ----------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "ask", "manual"])
@pytest.mark.parametrize("engine", ["core", BUNDLED])
@pytest.mark.parametrize("dialect", ["neutral", "stud-wiki", "claude-code", "flue"])
def test_S0_72_every_summary_of_a_model_is_an_event_whatever_the_harness(
    mode: str, engine: str, dialect: str
) -> None:
    more: dict[str, Any] = {"warn": None, "retries": 0, "recover": False, "breaker": 1, "adopt": "smaller"}
    for settings in ({}, *({key: value} for key, value in more.items())):
        harness = Harness.model_validate({"mode": mode, "engine": engine, "dialect": dialect, **settings})
        run = live(turns(9), make_policy(conduct=harness), at("e12", "compact"))
        written = [item for item in run.adopted if item.calls]
        assert written and not any(item.plan.deterministic for item in written)
        assert [(one.step, one.data["calls"]) for one in run.events if one.kind == "completed"] == [
            (item.step, item.calls) for item in written
        ]
        drawn = to_json(draw_run(run).payload)
        assert len(drawn["events"]) == len(run.events)
        assert "downstream" in [found["kind"] for found in drawn["findings"]]


# -- the rows of contract version 1.0.0 hold in the profile of 1.1 --------------------------------------


AS_PLANNED = {"writer": {"oversize": 0}}
"""Summaries as long as the stand-in, for a policy whose budget is larger than these sessions."""


def bare(count: int, thought: bool) -> Session:
    """So many turns of ten tokens; one of them, where `thought`, is a thought."""
    if not thought:
        return turns(count, system=(Text(text="be kind"),))
    entries = (entry for _ in range(count) for entry in thinks(5, "hm"))
    return talk(*entries, system=(Text(text="be kind"),))


@pytest.mark.parametrize("thought", [False, True], ids=["without reasoning", "with reasoning"])
def test_S0_125_the_rows_of_1_0_0_hold_in_the_profile_of_1_1(thought: bool) -> None:
    assert STUD_WIKI in POLICIES
    session = bare(9, thought)
    # S0-12, S0-7: at 80 % of the window by itself, and not before. 76 of a hundred is below, 86 above it.
    assert [live(bare(count, thought), STUD_WIKI, AS_PLANNED).compactions for count in (7, 8)] == [(), ()]
    (item,) = live(session, STUD_WIKI, AS_PLANNED).adopted
    assert (item.reason, item.before, item.entry) == ("auto", 86, "e16")
    # S0-16 to S0-21: the system prompt and four turns stay to the byte, one call writes up the rest.
    planned = item.plan.session
    kept = [planned.entries[i] for i in planned.live.entries[item.plan.place :].tolist()]
    assert [entry.blocks for entry in kept] == [entry.blocks for entry in session.entries[10:17]]
    assert len(item.plan.jobs) == item.calls == 1
    assert item.plan.jobs[0].entries == tuple(f"e{n}" for n in range(10))
    # S0-13, S0-14: /compact at any fill. S0-15: a refusal at any fill is recovered from.
    (manual,) = live(bare(6, thought), STUD_WIKI, at("e10", "compact") | AS_PLANNED).adopted
    assert (manual.reason, manual.before) == ("manual", 52)
    (overflow,) = live(bare(6, thought), STUD_WIKI, at("e11", "token_overflow") | AS_PLANNED).adopted
    assert (overflow.reason, overflow.before) == ("overflow", 56)
    # S0-101, S0-102: two retries, then the turn errs and the history is as it was.
    for fails, adopted in ((2, 1), (3, 0)):
        run = live(session, STUD_WIKI, {"writer": {"fails": fails, "oversize": 0}})
        assert (len(run.adopted), run.compactions[0].calls) == (adopted, 3)
    assert event(run, "failed").data["error"] == "ContextOverflow" and run.context[-1] == 86
    assert run.status == "failed" and event(run, "surfaced").data["error"] == "ContextOverflow"
    # S0-120: the four kinds of the first version.
    names = {one.name_in("stud-wiki") for one in [*run.events, *live(session, STUD_WIKI, AS_PLANNED).events]}
    assert {f"Compaction{word}" for word in ("ThresholdHit", "Started", "Completed", "Failed")} <= names
