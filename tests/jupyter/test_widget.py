"""The workbench without a browser: what crosses the wire when a hand or a line of Python changes a value."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from pathlib import Path
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm
from traitlets import TraitError

from inspector.demo import open_demo, read_demo
from inspector.errors import EditError, PolicyError, ReadError
from inspector.jupyter.widget import Workbench
from inspector.planning.planner import make_plan
from inspector.session.session import Session


class Recorder(BaseComm):  # type: ignore[misc]
    """A comm that keeps what is sent instead of sending it."""

    sent: list[dict[str, Any]]

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any
    ) -> None:
        Recorder.sent.append({**(data or {}), "message": msg_type, "buffers": buffers or []})


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    Recorder.sent = []
    monkeypatch.setattr(comm, "create_comm", lambda *a, **k: Recorder(*a, **k))
    return Recorder.sent


@pytest.fixture(scope="module")
def session() -> Session:
    return open_demo()


def browser_sets(workbench: Workbench, **state: Any) -> None:
    data = {"method": "update", "state": state, "buffer_paths": []}
    workbench._handle_msg({"content": {"data": data}, "buffers": []})


def browser_asks(workbench: Workbench, sent: list[dict[str, Any]], **question: Any) -> dict[str, Any]:
    sent.clear()
    workbench._handle_msg({"content": {"data": {"method": "custom", "content": question}}, "buffers": []})
    (answer,) = [message["content"] for message in sent if message.get("method") == "custom"]
    return answer


def legal_ids(workbench: Workbench) -> list[str]:
    return [point.entry for point in workbench.plan.cuts if point.legal]


def test_a_drag_in_the_browser_is_answered_with_its_seq(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session)
    name = legal_ids(workbench)[10]
    sent.clear()
    browser_sets(workbench, cut=name, _seq=7)
    assert workbench.plan.cut is not None
    assert (workbench.plan.cut.entry, workbench._plan["seq"], workbench._plan["cut"]["by"]) == (
        name,
        7,
        "you",
    )
    updated = {key for message in sent if message.get("method") == "update" for key in message["state"]}
    assert "_plan" in updated
    assert "_scene" not in updated, "the scene does not change with the cut"


def test_python_drives_the_same_traits(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session)
    workbench.cut = legal_ids(workbench)[3]
    assert workbench.context.tokens == workbench.plan.after
    workbench.policy = "keep-recent-turns"
    workbench.settings = {"keep-recent-turns.turns": 2}
    workbench.cut = ""
    assert workbench._plan["cut"]["by"] == "policy"
    assert "'keep-recent-turns.turns': 2" in workbench._plan["recipe"]


def test_a_wrong_value_raises_in_python_and_the_old_one_stays(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    for name, value, error in (
        ("cut", "nowhere", EditError),
        ("policy", "flu", PolicyError),
        ("settings", {"x.y": 1}, PolicyError),
        ("at", "nowhere", EditError),
    ):
        before = getattr(workbench, name)
        with pytest.raises(error):
            setattr(workbench, name, value)
        assert getattr(workbench, name) == before
        assert workbench._error


def test_a_number_as_the_cut_is_answered_with_the_names_of_places(session: Session) -> None:
    wb = Workbench(session, "flue")
    with pytest.raises(TraitError, match=r'"turn 5", "end".*not the int 20'):
        wb.cut = 20
    wb.close()


def test_a_wrong_value_from_the_browser_comes_back_as_a_sentence(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    illegal = next(point.entry for point in workbench.plan.cuts if point.rule == "orphan-output")
    browser_sets(workbench, cut=illegal, _seq=1)
    assert "without the call" in workbench._error
    assert workbench.cut == ""
    browser_sets(workbench, cut=legal_ids(workbench)[2], _seq=2)
    assert workbench._error == ""


def test_bodies_come_on_demand_and_rows_by_range(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session, "flue")
    rows = browser_asks(workbench, sent, type="rows", id=1, **{"from": 0, "to": 5})
    assert (rows["id"], len(rows["rows"]), set(rows["rows"][0])) == (1, 5, {"label", "preview"})
    body = browser_asks(workbench, sent, type="body", id=2, row=0)
    assert body["before"]["total"] >= len(body["before"]["text"]) > 0
    source = workbench.ledger.source
    assert ["counted by", source] in body["facts"]
    place = workbench._plan["cut"]["place"]
    summary = browser_asks(workbench, sent, type="summary", id=3, place=place)
    assert summary["text"].startswith("[A placeholder summary")


def test_the_code_of_tabs_and_of_dialogs_comes_in_a_message_each(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    tabs, dialogs = (
        browser_asks(workbench, sent, type="code", id="1", part=part)["code"] for part in ("later", "dialogs")
    )
    assert "makeRules" in tabs and "makeHelp" in dialogs
    assert "makeHelp" not in tabs and "makeRules" not in dialogs
    assert browser_asks(workbench, sent, type="code", id="2", part=["dialogs"])["code"] == tabs


def test_nothing_of_the_transcript_is_in_the_synced_state(
    sent: list[dict[str, Any]], session: Session
) -> None:
    state = json.dumps(
        {k: v for k, v in Workbench(session).get_state().items() if k[:4] not in ("_esm", "_css")},
        default=str,
    )
    words = next(entry.text for entry in session.entries if entry.opens_turn)
    assert words[:40] not in state


def test_a_plan_b_that_cannot_be_made_raises_in_python_and_is_a_sentence_in_the_browser(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    after = workbench.plan.after
    with pytest.raises(PolicyError):
        workbench.versus = {"policy": "flu"}
    assert workbench.versus == {} and workbench.plan.after == after
    browser_sets(workbench, versus={"policy": "flue", "cut": "nowhere"}, _seq=2)
    assert workbench.versus == {} and "no plan B" in workbench._error and workbench._plan["seq"] == 2
    with pytest.raises(PolicyError):
        Workbench(session, versus={"policy": "flu"})


def test_a_closed_workbench_holds_no_memory(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session)
    held = weakref.ref(workbench), weakref.ref(workbench._controller.model), weakref.ref(workbench.ledger)
    workbench.close()
    del workbench
    gc.collect()
    assert [thing() for thing in held] == [None] * 3


def test_a_widget_that_the_browser_puts_away_works_no_more(
    sent: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "story.jsonl").write_bytes(read_demo())
    others = set(threading.enumerate())
    workbench = Workbench(tmp_path / "story.jsonl", follow=True)
    new = set(threading.enumerate()) - others
    (pulse,) = (thread for thread in new if thread.name == "compaction-inspector-follow")
    workbench.comm.handle_close({"content": {"data": {}}})
    pulse.join(120)
    assert not pulse.is_alive()
    workbench.close()


def test_nothing_is_left_in_the_browser_of_a_file_that_does_not_open(
    sent: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "notes.jsonl").write_text("no session\n")
    with pytest.raises(ReadError):
        Workbench(tmp_path / "notes.jsonl")
    opened = [message["message"] for message in sent]
    assert opened.count("comm_close") == 1 and opened[-1] == "comm_close"


def test_the_entry_of_a_row_of_the_compactions_leads_to_that_compaction(session: Session) -> None:
    row = session.compactions[0]
    workbench = Workbench(session, "recorded", at=row.entry)
    assert workbench.at == session[row.entry].parent
    assert workbench.plan.policy.name == "recorded" and workbench.plan.checkpoint is not None
    workbench.close()


def test_a_moment_after_a_compaction_names_the_moment_before_it(session: Session) -> None:
    row = session.compactions[0]
    before = session[row.entry].parent
    assert before is not None
    with pytest.raises(PolicyError, match=f"is planned at {before[:8]}"):
        make_plan(session.at(row.entry), policy="recorded")


def test_a_recorded_plan_b_prints_in_one_line(session: Session) -> None:
    workbench = Workbench(session, versus={"recorded": True})
    assert repr(workbench.other).startswith("DrawnPlan(") and len(repr(workbench.other)) < 120
    workbench.close()
