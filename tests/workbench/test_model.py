"""A workbench without a screen: what is asked for in, what is shown out, plan B beside plan A."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import open_demo, read_demo
from inspector.errors import EditError, InspectorError
from inspector.formats.readers import read_session
from inspector.policies.registry import names_of_policies
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.queries import answer_query
from tests.strategies import sessions
from tests.workbench.asking import open_model


@pytest.fixture(scope="module")
def session() -> Session:
    return open_demo()


@pytest.fixture(scope="module")
def ledger(session: Session) -> Any:
    return count_tokens(session, "calibrated")


@pytest.fixture
def model(session: Session, ledger: Any) -> WorkbenchModel:
    return open_model(session, ledger=ledger)


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


def test_what_cannot_be_planned_leaves_everything_as_it_was(model: WorkbenchModel) -> None:
    model.answer({"versus": {"policy": "claude-code-analysis"}})
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


def test_the_recorded_compaction_is_a_plan_b_where_the_file_has_one(model: WorkbenchModel) -> None:
    model.answer({"at": compaction_moment(model)})
    answer = model.answer({"versus": {"recorded": True}})
    assert answer["_error"] == "" and answer["_other"]["label"]
    assert unpack(answer["_other"]["columns"], answer["_other_data"])["fate_older"].size == len(
        model.plan.fate
    )
    body = answer_query(model, {"type": "body", "id": 1, "row": 0})
    # The recorded compaction summarised the block: nothing is in its place.
    assert body["other"] == {"after": None, "diff": None}
    answer = model.answer({"at": model.history.segments[-1].at})
    assert answer["_error"] and model.inputs["versus"] == {}, "the session ends there without one"


def grown(lines: int) -> Session:
    return read_session(b"".join(read_demo().splitlines(keepends=True)[:lines]), "story", "claude-code")


def test_the_live_end_goes_with_a_session_that_grows(session: Session) -> None:
    model = WorkbenchModel(grown(200))
    model.answer({"at": model.session.leaf})
    model.follow(grown(280))
    answer = model.answer({})
    assert model.inputs["at"] == grown(280).leaf and "_scene" in answer


def test_edits_that_the_growth_took_away_are_dropped_not_an_error(session: Session) -> None:
    model = WorkbenchModel(grown(300))
    model.answer({"at": model.session.leaf})
    first = model.plan.cuts.ids[0]
    cut = next(point.entry for point in model.plan.cuts if point.legal)
    model.answer({"cut": cut, "pins": [first]})
    model.follow(session)
    answer = model.answer({})
    assert (model.inputs["cut"], model.inputs["pins"], answer["_error"]) == (cut, [first], "")
    # Another file took its place, which has none of it.
    model.follow(read_session([{"role": "user", "content": "Begin again."}]))
    answer = model.answer({})
    assert first not in model.plan.cuts.ids
    assert (model.inputs["cut"], model.inputs["pins"]) == ("", [])
    assert answer["_error"] == "The session has grown past the cut and 1 pin that were set."


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


@given(sessions(), st.sampled_from(names_of_policies()), st.sampled_from(names_of_policies()))
def test_any_session_has_two_plans_of_any_two_policies(session: Session, one: str, two: str) -> None:
    model = WorkbenchModel(session, one)
    answer = model.answer({"versus": {"policy": two}})
    assert model.refused is None and answer["_other"]["policy"] == two
    assert lengths(answer, "_plan") == lengths(answer, "_other")
