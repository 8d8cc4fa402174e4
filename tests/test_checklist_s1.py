"""What the stud-cli wiki says of the compaction warning, row by row, as far as planning goes."""

from __future__ import annotations

from pathlib import Path

from inspector.files import open_session, save_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.planner import make_plan
from inspector.policies.registry import find_policy
from inspector.policies.trigger import Trigger
from inspector.replays.engine import replay
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Tool
from inspector.summaries.record import append_checkpoint
from inspector.wire.checks import check_context
from inspector.workbench.payloads.gauge import fill_payload
from tests.test_checklist_s0 import (
    POLICY,
    WRITTEN,
    asked,
    blocks_of,
    chain,
    count,
    plan_of,
    shown,
    talk,
    user,
)

SLOT = {"smState": {"smExtId": "stage", "stateSlotRef": "slot/1"}}


def test_S1_8_the_fill_is_the_total_over_the_window() -> None:
    session = chain(user("word " * 500), user("word " * 300), system=(Text(text="word " * 20),))
    total = count(session).count_context()
    assert (total, total / 1000) == (820, 0.82)
    fires = [Trigger(ratio=share).fires(total, 1000) for share in (0.80, 0.82, 0.83)]
    assert fires == [True, True, False]
    policy = find_policy("stud-warning")
    plan = make_plan(session, count(session), policy, window=1000)
    assert str(fill_payload(plan).banner).startswith("82 % of the context window is used.")
    asked = chain(user("word " * 500), *session.entries[1:], user("word"), system=session.system)
    answered = chain(*asked.entries, Entry(id="", role="assistant"), system=session.system)
    run = replay(answered, policy, {"user": "waits"}, ledger=count(answered), window=1000)
    assert [(event.kind, event.data["ratio"]) for event in run.events] == [("warned", 0.821)]


def test_S1_12_the_tool_is_given_the_messages_and_neither_system_nor_slots() -> None:
    session = talk(6, system=(Text(text="be brief"),), tools=(Tool(name="shovel"),), extra=SLOT)
    plan = plan_of(session)
    assert [name for job in plan.jobs for name in job.entries] == [f"e{i}" for i in range(8)]
    assert not any(word in asked(plan) for word in ("be brief", "shovel", "slot/1"))


def test_S1_14_what_the_tool_returns_is_a_message_list_that_may_be_sent() -> None:
    plan = plan_of(talk(6))
    context = build_context(plan.session, plan, WRITTEN)
    assert check_context(context, awaits_user=True) == ()
    assert context.pieces[0].role == "user"


def test_S1_33_the_originals_can_be_had_outside_of_the_context(tmp_path: Path) -> None:
    session = talk(6)
    after = append_checkpoint(plan_of(session), WRITTEN, "s1")
    save_session(after, tmp_path / "archive.json")
    archive = open_session(tmp_path / "archive.json")
    assert archive.entries[:-1] == session.entries
    assert blocks_of(archive.at(session.leaf)) == blocks_of(session)


def test_S1_34_only_messages_change() -> None:
    session = talk(6, system=(Text(text="be brief"),), tools=(Tool(name="shovel"),), extra=SLOT)
    after = append_checkpoint(plan_of(session), WRITTEN, "s1")
    kept = ("system", "tools", "provided", "extra", "model", "window", "id")
    assert [getattr(after, name) for name in kept] == [getattr(session, name) for name in kept]
    assert shown(live_context(after, count(after))) != blocks_of(session)


def test_S1_37_two_strategies_decide_differently() -> None:
    session = talk(8)
    assert plan_of(session, POLICY).place != plan_of(session, "flue").place
