"""What the widget is sent of a replay: columns, JSON, and nothing in either that could act."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from inspector.demo import open_demo
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.events import AuditEvent
from inspector.policies.harness import Harness
from inspector.policies.policy import Policy
from inspector.replays.run import Compaction, Run, RunNote
from inspector.replays.scenario import Scenario
from inspector.session.session import Session
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.replay import draw_run


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
    assert (first["adopted"], second["adopted"]) == (True, False)
    assert first["stages"] == [], "flue has no stages"


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
