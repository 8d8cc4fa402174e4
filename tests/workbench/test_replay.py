"""What the widget is sent of a replay: columns, JSON, and nothing in either that could act."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from inspector.demo import open_demo
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.events import KINDS, AuditEvent
from inspector.policies.harness import STATES, Harness
from inspector.policies.policy import Policy
from inspector.policies.trigger import Trigger
from inspector.replays.engine import replay
from inspector.replays.run import Compaction, RecordedBeside, Run, RunNote
from inspector.replays.scenario import Scenario
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.replay import MOST_EVENTS, TONES, draw_run


@pytest.fixture(scope="module")
def session() -> Session:
    return open_demo()


@pytest.fixture(scope="module")
def ledger(session: Session) -> Ledger:
    return count_tokens(session, "calibrated")


@pytest.fixture(scope="module")
def plan(session: Session, ledger: Ledger) -> Plan:
    return make_plan(session, ledger, "flue")


def make_run(plan: Plan, steps: int = 4, **changes: Any) -> Run:
    """Four steps in two turns, with nothing happening; `changes` are fields of the run."""
    column = np.arange(steps, dtype=np.int64)
    values: dict[str, Any] = {
        "session": plan.session,
        "policy": Policy(name="mine", title="Mine", harness=Harness()),
        "scenario": Scenario(),
        "ledger": plan.ledger,
        "window": 200_000,
        "threshold": 150_000,
        "entry": column.astype(np.int32),
        "turn": (column // 2).astype(np.int32),
        "recorded": column * 1000,
        "context": column * 900,
        "measured": column * 900,
        "requests": column,
        "sent": column * 800,
        "cached": column * 200,
        "output": column * 10,
        "state": np.zeros(steps, np.uint8),
        "events": (),
        "compactions": (),
        "findings": (),
        "against": (),
    }
    return Run(**(values | changes))


def draw(run: Run) -> dict[str, Any]:
    picture = to_json(draw_run(run).payload)
    json.dumps(picture, allow_nan=False)
    return picture


def test_the_columns_come_back_as_they_were(plan: Plan) -> None:
    run = make_run(plan, state=np.array([0, 1, 4, 0], np.uint8))
    payload, data = draw_run(run, seq=7)
    picture = to_json(payload)
    columns = unpack(picture["columns"], data)
    assert (picture["seq"], picture["steps"], picture["policy"]) == (7, 4, "mine")
    assert {name: column.tolist() for name, column in columns.items()} == {
        "recorded": [0, 1000, 2000, 3000],
        "replayed": [0, 900, 1800, 2700],
        "turn": [0, 0, 1, 1],
        "cached": [0, 200, 400, 600],
        "sent": [0, 800, 1600, 2400],
        "state": [0, 1, 4, 0],
    }


def test_S2_40_every_state_has_a_colour_and_a_mark_of_its_own(plan: Plan) -> None:
    states = draw(make_run(plan))["states"]
    assert [state["id"] for state in states] == list(STATES)
    assert {state["tone"] for state in states} == {
        *("green", "yellow", "orange", "red", "blue", "darkred", "grey")
    }
    assert len({state["mark"] for state in states}) == len(STATES)


def test_a_state_is_told_by_the_systems_own_word_where_it_has_another(plan: Plan) -> None:
    policy = Policy(name="mine", harness=Harness(dialect="stud-warning"))
    labels = [state["label"] for state in draw(make_run(plan, policy=policy))["states"]]
    assert labels[:4] == ["normal (OK)", "warning (WARNED)", "critical (REQUIRED)", "blocking"]


def test_an_event_is_told_neutrally_and_by_the_systems_own_name(plan: Plan) -> None:
    event = AuditEvent("started", step=2, turn=1, entry="e9", before=150_000, data={"reason": "auto"})
    (neutral,) = draw(make_run(plan, events=(event,)))["events"]
    assert (neutral["label"], neutral["name"], neutral["at"]) == ("started", "", "e9")
    assert (neutral["step"], neutral["turn"], neutral["before"], neutral["after"]) == (2, 1, 150_000, None)
    policy = Policy(name="mine", harness=Harness(dialect="claude-code"))
    (own,) = draw(make_run(plan, policy=policy, events=(event,)))["events"]
    assert (own["label"], own["name"]) == ("started", "PreCompact")


def test_an_event_of_the_sessions_start_stands_at_its_first_step(plan: Plan) -> None:
    (told,) = draw(make_run(plan, events=(AuditEvent("double_configured"),)))["events"]
    assert (told["step"], told["turn"], told["at"]) == (0, 0, "")


def test_a_stage_is_told_by_its_name_and_whether_it_ran(plan: Plan) -> None:
    events = tuple(AuditEvent("stage", data={"stage": "snip", "ran": ran}) for ran in (True, False))
    told = draw(make_run(plan, events=events))["events"]
    assert [event["label"] for event in told] == ["stage snip", "stage snip skipped"]


def test_a_change_of_state_is_told_by_its_states(plan: Plan) -> None:
    event = AuditEvent("state_changed", data={"from": "critical", "to": "auto", "ratio": 0.96})
    assert draw(make_run(plan, events=(event,)))["events"][0]["label"] == "critical → auto"


def test_tones_are_given_to_kinds_that_exist(plan: Plan) -> None:
    assert set(TONES) <= set(KINDS)
    told = draw(make_run(plan, events=tuple(AuditEvent(kind) for kind in ("failed", "asked"))))["events"]
    assert [event["tone"] for event in told] == ["bad", "plain"]


def test_what_is_left_out_is_counted(plan: Plan) -> None:
    events = tuple(AuditEvent("warned", step=1) for _ in range(MOST_EVENTS + 3))
    picture = draw(make_run(plan, events=events))
    assert (len(picture["events"]), picture["counts"]["events"]) == (MOST_EVENTS, MOST_EVENTS + 3)


def test_a_compaction_tells_its_stages_its_price_and_whether_it_was_adopted(plan: Plan) -> None:
    done = Compaction(
        step=2, turn=1, entry="e9", reason="overflow", plan=plan, before=150_000, after=40_000, prefix=9_000
    )
    asked = Compaction(
        step=3, turn=1, entry="e9", reason="manual", plan=plan, before=90, after=99, prefix=0, adopted=False,
        calls=2, asked=80, written=9,
    )  # fmt: skip
    picture = draw(make_run(plan, compactions=(done, asked)))
    first, second = picture["compactions"]
    assert first["sentence"] == (
        "After the provider refused: 150,000 → 40,000 tokens; the first 9,000 stay as they were."
    )
    assert second["sentence"] == "By /compact: 90 → 99 tokens; not adopted; 2 summariser calls."
    assert (first["adopted"], second["adopted"], picture["counts"]["compactions"]) == (True, False, 1)
    assert first["stages"] == [], "flue has no stages"


def test_a_compaction_of_a_policy_with_stages_tells_each(session: Session, ledger: Ledger) -> None:
    staged = make_plan(session, ledger, "mini-claude-code")
    done = Compaction(step=2, turn=1, entry="e9", reason="auto", plan=staged, before=9, after=5, prefix=0)
    (told,) = draw(make_run(staged, compactions=(done,)))["compactions"]
    assert [stage["name"] for stage in told["stages"]] == [stage.name for stage in staged.policy.stages]
    assert all(
        set(stage) == {"name", "before", "after", "ran", "sentence", "look"} for stage in told["stages"]
    )


def test_thresholds_that_fall_together_are_one_line(plan: Plan) -> None:
    conduct = Harness(warn=0.75, require=0.95)
    run = make_run(plan, policy=Policy(name="mine", trigger=Trigger(ratio=0.75), harness=conduct))
    assert draw(run)["thresholds"] == [
        {"label": "compacts at, warns", "tokens": 150_000, "mark": "△"},
        {"label": "requires", "tokens": 190_000, "mark": "▲"},
    ]


def test_without_a_window_there_is_none_and_no_share_of_it(plan: Plan) -> None:
    policy = Policy(name="mine", harness=Harness(warn=0.8))
    picture = draw(make_run(plan, window=0, threshold=0, policy=policy))
    assert (picture["window"], picture["thresholds"]) == (None, [])


def test_a_run_that_ends_early_says_where_and_why(plan: Plan) -> None:
    refused = (AuditEvent("refused", step=2, turn=1),)
    paused = draw(make_run(plan, events=refused, status="paused", why="A request is refused."))
    assert paused["statusSentence"] == "Paused in turn 2. A request is refused."
    assert (paused["lived"], paused["steps"]) == (3, 4)
    finished = draw(make_run(plan, events=refused))
    assert (finished["statusSentence"], finished["lived"]) == ("4 steps replayed, 0 compactions.", 4)


def test_the_cost_is_an_estimate_and_its_prices_have_a_source(plan: Plan) -> None:
    # 10,000 tokens written to the cache at 6.25 and 1,000 of reply at 25 dollars a million.
    one = {"sent": np.array([10_000]), "cached": np.array([0]), "output": np.array([1_000])}
    known = plan.session.model_copy(update={"model": "claude-opus-4-5"})
    picture = draw(make_run(plan, 1, session=known, **one))
    assert ["estimated cost", "USD 0.09"] in picture["summary"]
    assert "per million tokens" in picture["source"]
    unknown = draw(make_run(plan, 1, session=plan.session.model_copy(update={"model": "nobody-1"}), **one))
    assert "estimated cost" not in dict(unknown["summary"])
    assert "No price is known here for nobody-1" in unknown["source"]


def test_findings_and_what_the_file_recorded_are_told(plan: Plan) -> None:
    found = RunNote("no_progress", 3, "Nothing becomes smaller.")
    beside = RecordedBeside("e9", 2, 1, 150_000, 1, "The policy fires in the same turn.")
    picture = draw(make_run(plan, findings=(found,), against=(beside,)))
    assert picture["findings"] == [{"kind": "no progress", "step": 3, "sentence": "Nothing becomes smaller."}]
    assert picture["against"] == [{"step": 2, "sentence": "The policy fires in the same turn."}]


def test_nothing_in_a_run_acts_on_a_screen(plan: Plan) -> None:
    evil = "\x1b[31m\u202e\ud800"
    run = make_run(
        plan,
        policy=Policy(name=evil, title=evil),
        findings=(RunNote("x", 0, evil),),
        why=evil,
        status="failed",
        source=evil,
    )
    text = json.dumps(draw(run), ensure_ascii=False)
    assert not set("\x1b\u202e\ud800") & set(text)


def test_requests_above_the_window_are_counted_with_what_became_of_them(plan: Plan) -> None:
    sent = np.array([100, 201, 200, 300])
    refused = tuple(
        AuditEvent("token_overflow", step=step, before=before) for step, before in ((1, 201), (2, 150))
    )
    sizes = {"sent": sent, "cached": sent * 0}
    accepting = make_run(plan, window=200, **sizes, scenario=Scenario(provider="accepts"))
    refusing = make_run(plan, window=200, events=refused, scenario=Scenario(provider="refuses"))
    told = [
        (draw(run)["scenario"]["values"]["provider"], draw(run)["aboveWindow"])
        for run in (accepting, refusing)
    ]
    # A refusal that the file records of a request within the window is none of these.
    assert told == [
        ("accepts", "2 requests were larger than the window of 200 and were accepted."),
        ("refuses", "1 request was larger than the window of 200 and was refused."),
    ]
    assert draw(make_run(plan))["aboveWindow"] == "No request was larger than the window of 200,000."
    assert draw(make_run(plan, window=0))["aboveWindow"] == ""


def test_events_come_by_step_each_with_its_compaction_and_the_one_to_look_at_first(plan: Plan) -> None:
    one = {"turn": 1, "entry": "e9", "reason": "auto", "plan": plan, "prefix": 0}
    compactions = (
        Compaction(step=2, before=150, after=90, **one),
        Compaction(step=2, before=90, after=40, **one),
    )
    events = (
        AuditEvent("completed", step=2, before=90, after=40),
        AuditEvent("started", step=2, before=150),
        AuditEvent("warned", step=1),
        AuditEvent("no_progress", step=2, before=150, after=90),
    )
    picture = draw(make_run(plan, compactions=compactions, events=events))
    kinds = [(event["kind"], event["compaction"]) for event in picture["events"]]
    assert kinds == [("warned", -1), ("completed", 1), ("started", 0), ("no_progress", 0)]
    # What was done goes before what went wrong.
    assert picture["first"] == 1
    assert draw(make_run(plan, events=events))["first"] == 0
    assert draw(make_run(plan))["first"] == -1


def test_a_run_without_a_step_is_drawn(plan: Plan) -> None:
    picture = draw(make_run(plan, 0))
    assert (picture["steps"], picture["statusSentence"]) == (0, "0 steps replayed, 0 compactions.")


def test_a_replay_has_the_steps_of_the_sessions_overview(session: Session, ledger: Ledger) -> None:
    history = trace_history(session, ledger)
    run = replay(session, "flue", ledger=ledger, history=history)
    payload, data = draw_run(run)
    picture = to_json(payload)
    assert picture["steps"] == len(history.turn)
    assert unpack(picture["columns"], data)["turn"].tolist() == history.turn.tolist()
    steps = [event["step"] for event in picture["events"]]
    assert steps == sorted(steps)
    known = {entry.id for entry in session.entries} | {""}
    assert {event["at"] for event in picture["events"]} <= known, "every moment can be looked at"
