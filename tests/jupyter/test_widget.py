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
from anywidget import AnyWidget
from comm.base_comm import BaseComm
from traitlets import TraitError

from inspector.demo import open_demo, read_demo
from inspector.errors import EditError, PolicyError, ReadError
from inspector.files import open_session
from inspector.jupyter.widget import Workbench
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.replays.engine import replay
from inspector.session.session import Session
from inspector.workbench.payloads.columns import unpack


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


def test_a_question_that_changes_nothing_is_answered_too(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    browser_sets(workbench, settings={}, _seq=4)
    assert workbench._plan["seq"] == 4


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


def test_another_moment_draws_another_scene_and_forgets_the_cut(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    workbench.cut = legal_ids(workbench)[3]
    segments = workbench._scene["segments"]
    browser_sets(workbench, at=segments[-1]["at"], _seq=3)
    assert workbench.cut == ""
    assert [segment["current"] for segment in workbench._scene["segments"]][-1]
    assert workbench.moment.leaf == segments[-1]["at"]


def test_a_moment_set_with_a_cut_and_a_pin_in_place_is_taken_whole(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session)
    workbench.pins = [workbench._scene["entryIds"][0]]
    workbench.cut = legal_ids(workbench)[8]
    last = workbench._scene["segments"][-1]["at"]
    workbench.at = last
    assert (workbench.at, workbench.cut, workbench.pins) == (last, "", [])
    assert len(workbench._scene["entryIds"]) == len(workbench.moment.live)


def test_another_policy_places_its_own_cut(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session, cut="end")
    workbench.policy = "keep-recent-turns"
    assert workbench.cut == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"trigger.reserve_tokens": -1e30},
        {"keep-recent-tokens.tokens": float("nan")},
        {"summarise-older.share": 1e308},
    ],
)
def test_a_setting_beyond_all_bounds_is_refused_and_forgotten(
    sent: list[dict[str, Any]], session: Session, settings: dict[str, Any]
) -> None:
    workbench = Workbench(session, "flue")
    with pytest.raises(PolicyError):
        workbench.settings = settings
    assert workbench.settings == {}
    workbench.settings = {"keep-recent-tokens.tokens": 5000}
    assert workbench._error == ""


def test_the_recipe_makes_the_plan_on_the_screen(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session, window=50_000, settings={"keep-recent-tokens.tokens": 9000})
    assert "window=50000" in workbench.plan.recipe
    names = {"make_plan": make_plan, "Edits": Edits, "session": session, "ledger": workbench.ledger}
    again = eval(workbench.plan.recipe, names)
    assert (again.after, again.fits, again.verdict) == (
        workbench.plan.after,
        workbench.plan.fits,
        workbench.plan.verdict,
    )


def test_columns_have_the_lengths_the_contract_says(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session)
    scene = unpack(workbench._scene["columns"], workbench._scene_data)
    plan = unpack(workbench._plan["columns"], workbench._plan_data)
    blocks, entries = len(scene["block_entry"]), len(scene["entry_step"])
    sections = len(workbench._scene["sections"])
    assert len(workbench._scene["entryIds"]) == entries
    assert {len(plan[name]) for name in plan if name[:4] in ("fate", "toke", "rule")} == {blocks}
    assert len(plan["after_total"]) == len(scene["place_legal"]) == entries + 1
    assert len(plan["after_sections"]) == (entries + 1) * sections
    assert len(scene["overview_reported"]) == workbench._scene["overview"]["steps"]
    place = workbench._plan["cut"]["place"]
    row = plan["after_sections"].reshape(-1, sections)[place]
    assert row.sum() == plan["after_total"][place] == workbench.plan.after


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


@pytest.mark.parametrize(
    "question",
    [{"type": "body", "row": 10**9}, {"type": "rows"}, {"type": "dance"}, {"type": "body", "row": "x"}],
)
def test_a_question_that_makes_no_sense_gets_a_sentence(
    sent: list[dict[str, Any]], session: Session, question: dict[str, Any]
) -> None:
    answer = browser_asks(Workbench(session), sent, id=9, **question)
    assert (answer["type"], answer["id"]) == ("error", 9)
    assert answer["sentence"]


def test_nothing_of_the_transcript_is_in_the_synced_state(
    sent: list[dict[str, Any]], session: Session
) -> None:
    state = json.dumps(
        {k: v for k, v in Workbench(session).get_state().items() if k[:4] not in ("_esm", "_css")},
        default=str,
    )
    words = next(entry.text for entry in session.entries if entry.opens_turn)
    assert words[:40] not in state


def test_the_repr_tells_the_state_in_a_terminal(session: Session) -> None:
    text = repr(Workbench(session, "flue"))
    assert text.startswith("Workbench(Session(claude-code, ")
    assert "Plan(flue: cut at " in text
    assert "0x" not in text


def test_a_replay_asked_for_is_sent_and_follows_policy_and_settings(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session, "flue", window=100_000)
    assert workbench.run is None and not workbench._run
    browser_sets(workbench, replay=True)
    assert workbench.run is not None
    assert workbench._run["policy"] == "flue" and workbench._run["steps"] == len(workbench.run)
    columns = unpack(workbench._run["columns"], workbench._run_data)
    assert {len(column) for column in columns.values()} == {len(workbench.run)}
    before = len(workbench.run.compactions)
    browser_sets(workbench, settings={"trigger.reserve_tokens": 60_000}, _seq=1)
    assert len(workbench.run.compactions) > before
    workbench.policy = "claude-code"
    assert workbench._run["policy"] == "claude-code"
    json.dumps(workbench._run)


def test_the_provider_of_a_replay_refuses_until_it_is_asked_to_accept(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session, "flue", window=40_000, replay=True)
    accepts, refuses = (
        replay(session, "flue", {"provider": provider}, window=40_000) for provider in ("accepts", "refuses")
    )
    assert accepts.events != refuses.events and accepts.context.tolist() != refuses.context.tolist()

    def shown() -> tuple[list[int], tuple[Any, ...], str]:
        assert workbench.run is not None
        return (
            workbench.run.context.tolist(),
            workbench.run.events,
            workbench._run["scenario"]["values"]["provider"],
        )

    assert shown() == (refuses.context.tolist(), refuses.events, "refuses")
    browser_sets(workbench, scenario={"provider": "accepts"}, _seq=1)
    assert shown() == (accepts.context.tolist(), accepts.events, "accepts")
    workbench.provider = "refuses"
    assert shown()[2] == "refuses"
    with pytest.raises(TraitError, match="refuses"):
        workbench.provider = "perhaps"
    with pytest.raises(PolicyError):
        workbench.policy = "none of these"
    assert (workbench.provider, workbench._run["scenario"]["values"]["provider"]) == ("refuses", "refuses")


def test_a_scenario_that_says_what_the_provider_does_is_taken_at_its_word(session: Session) -> None:
    told = [
        Workbench(session, scenario=scenario).provider for scenario in ({"provider": "accepts"}, {}, None)
    ]
    assert told == ["accepts", "refuses", "refuses"]


def test_a_replay_is_not_lived_twice_for_a_drag(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session, replay=True)
    lived = workbench.run
    browser_sets(workbench, cut=legal_ids(workbench)[4], _seq=1)
    assert workbench.run is lived


def test_a_scenario_that_points_at_nothing_is_told_and_put_away(
    sent: list[dict[str, Any]], session: Session
) -> None:
    scenario = {"acts": [{"at": "nowhere", "do": "compact"}]}
    with pytest.raises(EditError, match="nowhere"):
        Workbench(session, replay=True, scenario=scenario)
    workbench = Workbench(session, scenario=scenario)
    browser_sets(workbench, replay=True)
    assert not workbench.replay and "nowhere" in workbench._error
    with pytest.raises(EditError, match="nowhere"):
        workbench.replay = True


def test_a_policy_may_be_given_as_json(session: Session) -> None:
    rules = [{"kind": "keep-system"}, {"kind": "keep-recent-turns"}, {"kind": "summarise-older"}]
    workbench = Workbench(session, {"name": "handed over", "rules": rules})
    assert workbench.policy == "handed over"
    assert "handed over" in {policy["name"] for policy in workbench._scene["policies"]}


def test_plan_b_is_set_like_anything_else(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session, versus={"policy": "claude-code"})
    assert workbench._other["policy"] == "claude-code" and workbench.other is not None
    columns = unpack(workbench._other["columns"], workbench._other_data)
    assert len(columns["fate_older"]) == len(workbench.plan.fate)
    sent.clear()
    browser_sets(workbench, cut=legal_ids(workbench)[5], _seq=1)
    updated = {key for message in sent if message.get("method") == "update" for key in message["state"]}
    assert "_plan" in updated and not updated & {"_other", "_other_data", "_scene_data"}
    workbench.versus = {}
    assert workbench._other == {} and workbench._other_data == b"" and workbench.other is None


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


def test_the_tab_and_the_block_looked_at_are_kept_and_plan_nothing(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session, tab="lesson")
    plan = workbench.plan
    browser_sets(workbench, tab="findings", block="e1/0")
    assert (workbench.tab, workbench.block, workbench.plan) == ("findings", "e1/0", plan)
    with pytest.raises(TraitError):
        workbench.tab = "dance"


@pytest.mark.parametrize(("mode", "tab"), [("explore", "blocks"), ("teach", "lesson"), ("debug", "findings")])
def test_a_mode_of_0_1_opens_the_tab_that_stands_for_it_and_warns(
    session: Session, mode: str, tab: str
) -> None:
    with pytest.warns(DeprecationWarning, match=f'mode="{mode}" is now tab="{tab}"') as warned:
        workbench = Workbench(session, mode=mode)
    assert warned[0].filename == __file__
    assert (workbench.tab, workbench.mode) == (tab, mode)
    workbench.tab = "rules"
    with pytest.warns(DeprecationWarning, match=f'tab="{tab}"') as warned:
        workbench.mode = mode
    assert warned[0].filename == __file__
    assert workbench.tab == tab
    with pytest.raises(TraitError, match="no mode 'dance'; the tabs are findings, facts"):
        workbench.mode = "dance"


def test_no_trait_hides_what_every_widget_can_do() -> None:
    hidden = {name for name in vars(Workbench) if not name.startswith("_") and hasattr(AnyWidget, name)}
    assert hidden == {"close", "notify_change", "set_state"}, "these go on to what they stand for"


def test_a_run_of_other_settings_is_no_run_of_what_is_wanted(
    sent: list[dict[str, Any]], session: Session
) -> None:
    workbench = Workbench(session, window=100_000, replay=True, settings={"trigger.reserve_tokens": 20_000})
    lived = workbench.run
    assert lived is not None
    workbench.replay = False
    workbench.cut = legal_ids(workbench)[4]
    assert workbench.run is lived, "a cut is nothing to a run"
    workbench.settings = {"trigger.reserve_tokens": 60_000}
    assert workbench.run is None
    workbench.settings = {"trigger.reserve_tokens": 20_000}
    assert workbench.run is lived


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
    workbench = Workbench(tmp_path / "story.jsonl", follow=True)
    (pulse,) = (thread for thread in threading.enumerate() if thread.name == "compaction-inspector-follow")
    workbench.comm.handle_close({"content": {"data": {}}})
    pulse.join(120)
    assert not pulse.is_alive()
    workbench.close()


def test_the_browser_has_the_code_before_the_file_is_read(
    sent: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "story.jsonl").write_bytes(read_demo())
    before: list[str] = []

    def read(path: Path) -> Session:
        before.extend(message["state"]["_esm"] for message in sent if "_esm" in message.get("state", {}))
        return open_session(path)

    monkeypatch.setattr("inspector.jupyter.widget.open_session", read)
    workbench = Workbench(tmp_path / "story.jsonl")
    assert before == [workbench._esm]
    (picture,) = [message for message in sent if message.get("method") == "update"]
    assert picture["state"].keys() >= {"_scene", "_plan", "tab"}, "and the picture in one piece"
    assert ["_scene_data"] in picture["buffer_paths"] and ["_plan_data"] in picture["buffer_paths"]


def test_nothing_is_left_in_the_browser_of_a_file_that_does_not_open(
    sent: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "notes.jsonl").write_text("no session\n")
    with pytest.raises(ReadError):
        Workbench(tmp_path / "notes.jsonl")
    opened = [message["message"] for message in sent]
    assert opened.count("comm_close") == 1 and opened[-1] == "comm_close"


def test_a_session_cannot_be_followed(session: Session) -> None:
    with pytest.raises(ValueError, match="only a file can be followed"):
        Workbench(session, follow=True)


def test_settings_of_another_kind_raise_and_the_old_ones_stay(session: Session) -> None:
    workbench = Workbench(session)
    with pytest.raises(EditError, match="its keys are texts"):
        workbench.settings = {1: 2}
    assert workbench.settings == {}


def test_a_stop_needs_no_answer(sent: list[dict[str, Any]], session: Session) -> None:
    workbench = Workbench(session)
    sent.clear()
    question = {"type": "stop", "id": 1}
    workbench._handle_msg({"content": {"data": {"method": "custom", "content": question}}, "buffers": []})
    assert not sent
