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
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
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
def model(session: Session, ledger: Any) -> WorkbenchModel:
    model = WorkbenchModel(session, ledger=ledger)
    model.answer({})
    return model


def lengths(answer: dict[str, Any], name: str) -> dict[str, int]:
    """How long a picture's columns are, but for the flow, which has as many rows as it needs."""
    columns = unpack(answer[name]["columns"], answer[f"{name}_data"])
    return {name: len(column) for name, column in columns.items() if not name.startswith("flow")}


def compaction_moment(model: WorkbenchModel) -> str:
    """The end of the stretch before the recorded compaction."""
    return model.history.segments[0].at


def test_the_first_answer_draws_the_scene_of_the_fullest_moment(session: Session, ledger: Any) -> None:
    model = WorkbenchModel(session, ledger=ledger)
    answer = model.answer({}, seq=3)
    pictures = {f"_{name}{part}" for name in ("scene", "plan", "recorded") for part in ("", "_data")}
    assert set(answer) == {"_error", *pictures}
    assert (
        model.history.fullest is not None
        and model.inputs["at"] == model.history.fullest.at == model.moment.leaf
    )
    assert answer["_plan"]["seq"] == 3 and answer["_plan"]["policy"] == "flue"


def test_what_was_not_said_stays_as_it_was(model: WorkbenchModel) -> None:
    model.answer({"settings": {"keep-recent-tokens.tokens": 9000}})
    answer = model.answer({"pins": [model.plan.cuts.ids[0]]})
    assert model.inputs["settings"] == {"keep-recent-tokens.tokens": 9000} and "_scene" not in answer


def test_what_cannot_be_planned_leaves_everything_as_it_was(model: WorkbenchModel) -> None:
    model.answer({"versus": {"policy": "claude-code"}})
    plan, other, inputs = model.plan, model.other, model.inputs
    for wrong in ({"cut": "nowhere"}, {"policy": "flu"}, {"settings": {"x.y": 1}}, {"at": "nowhere"}):
        with pytest.raises(InspectorError):
            model.answer(wrong)
        assert (model.plan, model.other, model.inputs) == (plan, other, inputs)


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
    model: WorkbenchModel, wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    with pytest.raises(EditError, match=name):
        model.answer(wrong)


def test_plan_b_is_the_plan_of_the_same_moment_under_its_own_edit(model: WorkbenchModel) -> None:
    edit = {"policy": "claude-code", "cut": "end"}
    answer = model.answer({"versus": edit})
    alone = make_plan(model.moment, model.ledger, "claude-code", {"cut": "end"})
    assert isinstance(model.other, Plan) and model.other.after == alone.after
    assert answer["_other"]["label"] == model.other.policy.title
    assert lengths(answer, "_plan") == lengths(answer, "_other")


def test_a_drag_of_plan_a_does_not_send_plan_b_again(model: WorkbenchModel) -> None:
    model.answer({"versus": {"policy": "claude-code"}})
    assert "_other" not in model.answer({"cut": "end"})
    assert model.answer({"versus": {}})["_other"] == {} and model.other is None


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
    model: WorkbenchModel, versus: dict[str, Any]
) -> None:
    answer = model.answer({"versus": versus, "policy": "pi"})
    assert answer["_error"].startswith("There is no plan B.") and model.refused is not None
    assert model.plan.policy.name == "pi" and model.other is None and model.inputs["versus"] == {}
    assert answer["_other"] == {} and model.answer({"cut": "end"})["_error"] == ""


def test_another_moment_keeps_plan_b_but_not_its_cut_and_pins(model: WorkbenchModel) -> None:
    edit = {"policy": "keep-recent-turns", "settings": {"keep-recent-turns.turns": 2}}
    model.answer({"versus": {**edit, "cut": "end", "pins": [model.plan.cuts.ids[0]]}})
    answer = model.answer({"at": model.history.segments[-1].at})
    assert model.inputs["versus"] == edit and answer["_other"]["policy"] == "keep-recent-turns"


def test_the_recorded_compaction_is_a_plan_b_where_the_file_has_one(model: WorkbenchModel) -> None:
    model.answer({"at": compaction_moment(model)})
    answer = model.answer({"versus": {"recorded": True}})
    assert answer["_error"] == "" and answer["_other"]["label"]
    assert unpack(answer["_other"]["columns"], answer["_other_data"])["fate_older"].size == len(
        model.plan.fate
    )
    body = answer_query(model, {"type": "body", "id": 1, "row": 0})
    assert body["other"]["fate"] in ("verbatim", "summarised", "cleared", "dropped")
    answer = model.answer({"at": model.history.segments[-1].at})
    assert answer["_error"] and model.inputs["versus"] == {}, "the session ends there without one"


def test_a_replay_belongs_to_policy_and_settings_and_to_no_cut(model: WorkbenchModel) -> None:
    assert model.run_replay()["_run"]["policy"] == "flue"
    lived = model.run
    model.answer({"cut": "end"})
    assert model.run_replay() == {} and model.run is lived
    model.answer({"policy": "claude-code"})
    assert model.run is None and model.run_replay()["_run"]["policy"] == "claude-code"


def test_a_replay_that_is_stopped_leaves_the_one_before(model: WorkbenchModel) -> None:
    model.run_replay()
    lived = model.run
    model.answer({"settings": {"trigger.reserve_tokens": 60_000}})

    def stop(done: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        model.run_replay(tell=stop)
    assert model.run is None, "what was lived is no answer to other settings"
    model.answer({"settings": {}})
    assert model.run is lived


def grown(lines: int) -> Session:
    return read_session(b"".join(read_demo().splitlines(keepends=True)[:lines]), "story", "claude-code")


def test_the_live_end_goes_with_a_session_that_grows(session: Session) -> None:
    model = WorkbenchModel(grown(200))
    model.answer({"at": model.session.leaf})
    model.follow(grown(280))
    answer = model.answer({})
    assert model.inputs["at"] == grown(280).leaf and "_scene" in answer


def test_another_moment_stays_while_the_session_grows_with_its_edits(session: Session) -> None:
    model = WorkbenchModel(grown(200))
    model.answer({"at": model.session.entries[120].id})
    cut = next(point.entry for point in model.plan.cuts if point.legal)
    model.answer({"cut": cut, "versus": {"policy": "pi"}})
    at = model.inputs["at"]
    model.follow(session)
    answer = model.answer({})
    assert (model.inputs["at"], model.inputs["cut"]) == (at, cut)
    assert (
        answer["_scene"]["overview"]["steps"] == len(model.history.turn)
        and answer["_other"]["policy"] == "pi"
    )


def test_edits_that_the_growth_took_away_are_dropped_not_an_error(session: Session) -> None:
    model = WorkbenchModel(grown(300))
    model.answer({"at": model.session.leaf})
    first = model.plan.cuts.ids[0]
    cut = next(point.entry for point in model.plan.cuts if point.legal)
    model.answer({"cut": cut, "pins": [first]})
    model.follow(session)
    answer = model.answer({})
    assert first not in model.plan.cuts.ids, "a compaction lies between"
    assert (model.inputs["cut"], model.inputs["pins"]) == ("", [])
    assert answer["_error"] == "The session has grown past the cut and 1 pin that were set."


def test_edits_that_the_growth_left_in_place_stay_beside_those_it_took(session: Session) -> None:
    begun = grown(200)
    model = WorkbenchModel(begun)
    model.answer({"at": begun.leaf})
    kept, cut = model.plan.cuts.ids[0], next(point.entry for point in model.plan.cuts if point.legal)
    model.answer({"pins": [kept, begun.leaf], "cut": cut})
    # The file was written anew: its last entry is another one now.
    other = begun.entries[-1].model_copy(update={"id": "other"})
    model.follow(Session(format="demo", entries=(*begun.entries[:-1], other), leaf="other"))
    answer = model.answer({})
    assert (model.inputs["pins"], model.inputs["cut"]) == ([kept], cut)
    assert answer["_error"] == "The session has grown past 1 pin that was set."


def test_what_was_estimated_is_followed_as_an_estimate() -> None:
    begun = grown(200)
    model = WorkbenchModel(begun, ledger=count_tokens(begun, ESTIMATE))
    model.answer({})
    model.follow(grown(280))
    assert model.ledger.base is ESTIMATE
    assert model.ledger.tokens.tolist() == count_tokens(grown(280), ESTIMATE).tokens.tolist()


def test_a_policy_that_was_added_later_is_among_the_scenes(
    session: Session, ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "_own", {})
    model = WorkbenchModel(session, ledger=ledger)
    first = model.answer({})
    name = add_policy(find_policy("flue").model_copy(update={"name": "added-later"})).name
    assert name not in [policy["name"] for policy in first["_scene"]["policies"]]
    answer = model.answer({"policy": name})
    assert name in [policy["name"] for policy in answer["_scene"]["policies"]]
    assert "_scene" not in model.answer({"policy": "flue"})


def test_counting_better_draws_the_scene_anew_and_keeps_the_edits(session: Session) -> None:
    model = WorkbenchModel(session, counter="chars4_utf16")
    model.answer({"cut": "end"})
    rough = model.plan.before
    model.follow(session, count_tokens(session, "o200k_base"))
    answer = model.answer({})
    assert model.inputs["cut"] == "end" and answer["_scene"]["unit"]["short"] == "o200k_base"
    assert model.plan.before != rough


def test_a_session_that_was_written_anew_is_shown_at_its_end(session: Session) -> None:
    model = WorkbenchModel(session)
    model.answer({"cut": "end"})
    row = {"type": "user", "uuid": "z", "parentUuid": None, "message": {"role": "user", "content": "Hello"}}
    model.follow(read_session(json.dumps(row).encode(), "new", "claude-code"))
    model.answer({})
    assert model.inputs["at"] == "z" and len(model.plan.table.tokens) == 1


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
def test_a_message_that_makes_no_sense_gets_a_sentence(model: WorkbenchModel, asked: object) -> None:
    reply = answer_query(model, asked)
    assert reply["type"] == "error" and reply["sentence"]


def test_search_lesson_and_review_are_answered(model: WorkbenchModel) -> None:
    found = answer_query(model, {"type": "search", "id": 1, "query": "tide"})
    assert found["total"] >= len(found["hits"]) > 0
    lesson = answer_query(model, {"type": "lesson", "id": 2, "place": model.plan.place})
    assert lesson["place"] == model.plan.place and lesson["steps"]
    assert answer_query(model, {"type": "review", "id": 3})["type"] == "review"
    for reply in (found, lesson):
        json.dumps(reply)


@settings(max_examples=25, deadline=None)
@given(sessions(), st.sampled_from(names_of_policies()), st.sampled_from(names_of_policies()))
def test_any_session_has_two_plans_of_any_two_policies(session: Session, one: str, two: str) -> None:
    model = WorkbenchModel(session, one)
    answer = model.answer({"versus": {"policy": two}})
    assert model.refused is None and answer["_other"]["policy"] == two
    assert lengths(answer, "_plan") == lengths(answer, "_other")
