"""A workbench without a screen: what is asked for in, what is shown out, plan B beside plan A."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.demo import open_demo, read_demo
from inspector.errors import EditError, InspectorError, Stopped
from inspector.formats.readers import read_session
from inspector.planning.plan import Plan, make_plan
from inspector.policies import registry as policies
from inspector.policies.registry import add_policy, find_policy, names_of_policies
from inspector.session.session import Session
from inspector.tokens.counters import ESTIMATE
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.queries import answer_query
from tests.strategies import sessions


@pytest.fixture(scope="module")
def session() -> Session:
    return open_demo()


@pytest.fixture(scope="module")
def ledger(session: Session) -> Any:
    return count_tokens(session, "calibrated")


@pytest.fixture
def desk(session: Session, ledger: Any) -> WorkbenchModel:
    desk = WorkbenchModel(session, ledger=ledger)
    desk.answer({})
    return desk


def lengths(answer: dict[str, Any], name: str) -> dict[str, int]:
    """How long a picture's columns are, but for the flow, which has as many rows as it needs."""
    columns = unpack(answer[name]["columns"], answer[f"{name}_data"])
    return {name: len(column) for name, column in columns.items() if not name.startswith("flow")}


def compaction_moment(desk: WorkbenchModel) -> str:
    """The end of the stretch before the recorded compaction."""
    return desk.history.segments[0].at


def test_the_first_answer_draws_the_scene_of_the_fullest_moment(session: Session, ledger: Any) -> None:
    desk = WorkbenchModel(session, ledger=ledger)
    answer = desk.answer({}, seq=3)
    assert set(answer) == {"_error", "_scene", "_scene_data", "_plan", "_plan_data"}
    assert (
        desk.history.fullest is not None and desk.wanted["at"] == desk.history.fullest.at == desk.moment.leaf
    )
    assert answer["_plan"]["seq"] == 3 and answer["_plan"]["policy"] == "flue"


def test_what_was_not_said_stays_as_it_was(desk: WorkbenchModel) -> None:
    desk.answer({"settings": {"keep-recent-tokens.tokens": 9000}})
    answer = desk.answer({"pins": [desk.plan.cuts.ids[0]]})
    assert desk.wanted["settings"] == {"keep-recent-tokens.tokens": 9000} and "_scene" not in answer


def test_what_cannot_be_planned_leaves_everything_as_it_was(desk: WorkbenchModel) -> None:
    desk.answer({"versus": {"policy": "claude-code"}})
    plan, other, wanted = desk.plan, desk.other, desk.wanted
    for wrong in ({"cut": "nowhere"}, {"policy": "flu"}, {"settings": {"x.y": 1}}, {"at": "nowhere"}):
        with pytest.raises(InspectorError):
            desk.answer(wrong)
        assert (desk.plan, desk.other, desk.wanted) == (plan, other, wanted)


@pytest.mark.parametrize(
    "wrong",
    [
        {"cut": 7},
        {"policy": None},
        {"settings": []},
        {"settings": {1: 2}},
        {"pins": "e1"},
        {"pins": [1]},
        {"at": 1},
        {"versus": "flue"},
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_it(
    desk: WorkbenchModel, wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    with pytest.raises(EditError, match=name):
        desk.answer(wrong)


def test_plan_b_is_the_plan_of_the_same_moment_under_its_own_edit(desk: WorkbenchModel) -> None:
    edit = {"policy": "claude-code", "cut": "end"}
    answer = desk.answer({"versus": edit})
    alone = make_plan(desk.moment, desk.ledger, "claude-code", {"cut": "end"})
    assert isinstance(desk.other, Plan) and desk.other.after == alone.after
    assert answer["_other"]["label"] == desk.other.policy.title
    assert lengths(answer, "_plan") == lengths(answer, "_other")


def test_a_drag_of_plan_a_does_not_send_plan_b_again(desk: WorkbenchModel) -> None:
    desk.answer({"versus": {"policy": "claude-code"}})
    assert "_other" not in desk.answer({"cut": "end"})
    assert desk.answer({"versus": {}})["_other"] == {} and desk.other is None


@pytest.mark.parametrize(
    "versus",
    [
        {"policy": "flu"},
        {"policy": "flue", "cut": "nowhere"},
        {"policy": "flue", "pins": ["nowhere"]},
        {"policy": "flue", "settings": {"x.y": 1}},
        {"policy": "flue", "settings": 5},
        {"policy": 5},
        {"settings": {}},
    ],
)
def test_a_plan_b_that_cannot_be_made_never_breaks_plan_a(
    desk: WorkbenchModel, versus: dict[str, Any]
) -> None:
    answer = desk.answer({"versus": versus, "policy": "pi"})
    assert answer["_error"].startswith("There is no plan B.") and desk.refused is not None
    assert desk.plan.policy.name == "pi" and desk.other is None and desk.wanted["versus"] == {}
    assert answer["_other"] == {} and desk.answer({"cut": "end"})["_error"] == ""


def test_another_moment_keeps_plan_b_but_not_its_cut_and_pins(desk: WorkbenchModel) -> None:
    edit = {"policy": "keep-recent-turns", "settings": {"keep-recent-turns.turns": 2}}
    desk.answer({"versus": {**edit, "cut": "end", "pins": [desk.plan.cuts.ids[0]]}})
    answer = desk.answer({"at": desk.history.segments[-1].at})
    assert desk.wanted["versus"] == edit and answer["_other"]["policy"] == "keep-recent-turns"


def test_the_recorded_compaction_is_a_plan_b_where_the_file_has_one(desk: WorkbenchModel) -> None:
    desk.answer({"at": compaction_moment(desk)})
    answer = desk.answer({"versus": {"recorded": True}})
    assert answer["_error"] == "" and answer["_other"]["label"]
    assert unpack(answer["_other"]["columns"], answer["_other_data"])["fate_older"].size == len(
        desk.plan.fate
    )
    body = answer_query(desk, {"type": "body", "id": 1, "row": 0})
    assert body["other"]["fate"] in ("verbatim", "summarised", "cleared", "dropped")
    answer = desk.answer({"at": desk.history.segments[-1].at})
    assert answer["_error"] and desk.wanted["versus"] == {}, "the session ends there without one"


def test_a_replay_belongs_to_policy_and_settings_and_to_no_cut(desk: WorkbenchModel) -> None:
    assert desk.live_again()["_run"]["policy"] == "flue"
    lived = desk.run
    desk.answer({"cut": "end"})
    assert desk.live_again() == {} and desk.run is lived
    desk.answer({"policy": "claude-code"})
    assert desk.run is None and desk.live_again()["_run"]["policy"] == "claude-code"


def test_a_replay_that_is_stopped_leaves_the_one_before(desk: WorkbenchModel) -> None:
    desk.live_again()
    lived = desk.run
    desk.answer({"settings": {"trigger.reserve_tokens": 60_000}})

    def stop(done: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        desk.live_again(tell=stop)
    assert desk.run is None, "what was lived is no answer to other settings"
    desk.answer({"settings": {}})
    assert desk.run is lived


def grown(lines: int) -> Session:
    return read_session(b"".join(read_demo().splitlines(keepends=True)[:lines]), "story", "claude-code")


def test_the_live_end_goes_with_a_session_that_grows(session: Session) -> None:
    desk = WorkbenchModel(grown(200))
    desk.answer({"at": desk.session.leaf})
    desk.follow(grown(280))
    answer = desk.answer({})
    assert desk.wanted["at"] == grown(280).leaf and "_scene" in answer


def test_another_moment_stays_while_the_session_grows_with_its_edits(session: Session) -> None:
    desk = WorkbenchModel(grown(200))
    desk.answer({"at": desk.session.entries[120].id})
    cut = next(point.entry for point in desk.plan.cuts if point.legal)
    desk.answer({"cut": cut, "versus": {"policy": "pi"}})
    at = desk.wanted["at"]
    desk.follow(session)
    answer = desk.answer({})
    assert (desk.wanted["at"], desk.wanted["cut"]) == (at, cut)
    assert (
        answer["_scene"]["overview"]["steps"] == len(desk.history.turn) and answer["_other"]["policy"] == "pi"
    )


def test_edits_that_the_growth_took_away_are_dropped_not_an_error(session: Session) -> None:
    desk = WorkbenchModel(grown(300))
    desk.answer({"at": desk.session.leaf})
    first = desk.plan.cuts.ids[0]
    cut = next(point.entry for point in desk.plan.cuts if point.legal)
    desk.answer({"cut": cut, "pins": [first]})
    desk.follow(session)
    answer = desk.answer({})
    assert first not in desk.plan.cuts.ids, "a compaction lies between"
    assert (desk.wanted["cut"], desk.wanted["pins"]) == ("", [])
    assert answer["_error"] == "The session has grown past the cut and 1 pin that were set."


def test_edits_that_the_growth_left_in_place_stay_beside_those_it_took(session: Session) -> None:
    begun = grown(200)
    desk = WorkbenchModel(begun)
    desk.answer({"at": begun.leaf})
    kept, cut = desk.plan.cuts.ids[0], next(point.entry for point in desk.plan.cuts if point.legal)
    desk.answer({"pins": [kept, begun.leaf], "cut": cut})
    # The file was written anew: its last entry is another one now.
    other = begun.entries[-1].model_copy(update={"id": "other"})
    desk.follow(Session(format="demo", entries=(*begun.entries[:-1], other), leaf="other"))
    answer = desk.answer({})
    assert (desk.wanted["pins"], desk.wanted["cut"]) == ([kept], cut)
    assert answer["_error"] == "The session has grown past 1 pin that was set."


def test_what_was_estimated_is_followed_as_an_estimate() -> None:
    begun = grown(200)
    desk = WorkbenchModel(begun, ledger=count_tokens(begun, ESTIMATE))
    desk.answer({})
    desk.follow(grown(280))
    assert desk.ledger.base is ESTIMATE
    assert desk.ledger.tokens.tolist() == count_tokens(grown(280), ESTIMATE).tokens.tolist()


def test_a_policy_that_was_added_later_is_among_the_scenes(
    session: Session, ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "_own", {})
    desk = WorkbenchModel(session, ledger=ledger)
    first = desk.answer({})
    name = add_policy(find_policy("flue").model_copy(update={"name": "added-later"})).name
    assert name not in [policy["name"] for policy in first["_scene"]["policies"]]
    answer = desk.answer({"policy": name})
    assert name in [policy["name"] for policy in answer["_scene"]["policies"]]
    assert "_scene" not in desk.answer({"policy": "flue"})


def test_counting_better_draws_the_scene_anew_and_keeps_the_edits(session: Session) -> None:
    desk = WorkbenchModel(session, counter="chars4_utf16")
    desk.answer({"cut": "end"})
    rough = desk.plan.before
    desk.follow(session, count_tokens(session, "o200k_base"))
    answer = desk.answer({})
    assert desk.wanted["cut"] == "end" and answer["_scene"]["unit"]["short"] == "o200k_base"
    assert desk.plan.before != rough


def test_a_session_that_was_written_anew_is_shown_at_its_end(session: Session) -> None:
    desk = WorkbenchModel(session)
    desk.answer({"cut": "end"})
    row = {"type": "user", "uuid": "z", "parentUuid": None, "message": {"role": "user", "content": "Hello"}}
    desk.follow(read_session(json.dumps(row).encode(), "new", "claude-code"))
    desk.answer({})
    assert desk.wanted["at"] == "z" and len(desk.plan.table.tokens) == 1


@pytest.mark.parametrize(
    "asked",
    [
        None,
        [],
        {},
        {"type": "body"},
        {"type": "rows", "from": "x", "to": 1},
        {"type": ["body"]},
        "body",
        {"type": "body", "row": 1e999},
    ],
)
def test_a_message_that_makes_no_sense_gets_a_sentence(desk: WorkbenchModel, asked: object) -> None:
    reply = answer_query(desk, asked)
    assert reply["type"] == "error" and reply["sentence"]


def test_search_lesson_and_review_are_answered(desk: WorkbenchModel) -> None:
    found = answer_query(desk, {"type": "search", "id": 1, "query": "tide"})
    assert found["total"] >= len(found["hits"]) > 0
    lesson = answer_query(desk, {"type": "lesson", "id": 2, "place": desk.plan.place})
    assert lesson["place"] == desk.plan.place and lesson["steps"]
    assert answer_query(desk, {"type": "review", "id": 3})["type"] == "review"
    for reply in (found, lesson):
        json.dumps(reply)


@settings(max_examples=25, deadline=None)
@given(sessions(), st.sampled_from(names_of_policies()), st.sampled_from(names_of_policies()))
def test_any_session_has_two_plans_of_any_two_policies(session: Session, one: str, two: str) -> None:
    desk = WorkbenchModel(session, one)
    answer = desk.answer({"versus": {"policy": two}})
    assert desk.refused is None and answer["_other"]["policy"] == two
    assert lengths(answer, "_plan") == lengths(answer, "_other")
