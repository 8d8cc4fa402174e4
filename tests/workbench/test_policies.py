"""The list of policies: in groups, each with what it leaves or a word why it leaves everything."""

from __future__ import annotations

import pytest

from inspector import add_policy, make_plan, open_demo
from inspector.policies import registry
from inspector.policies.registry import find_policy, list_policies
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.queries import answer_query


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WorkbenchModel:
    """The bundled session; policies that a test adds are gone after it."""
    monkeypatch.setattr(registry, "_own", {})
    model = WorkbenchModel(open_demo(), "flue")
    model.answer({})
    return model


def ask(model: WorkbenchModel, first: int = 0, last: int = 100) -> list[dict[str, object]]:
    reply = answer_query(model, {"type": "policy_results", "id": 1, "from": first, "to": last})
    results: list[dict[str, object]] = reply["results"]
    return results


def names(model: WorkbenchModel) -> dict[str, list[list[str]]]:
    groups = answer_query(model, {"type": "policies", "id": 1})["groups"]
    return {
        group["id"]: [[policy["name"] for policy in family["policies"]] for family in group["families"]]
        for group in groups
    }


def test_every_policy_stands_in_the_list_once_and_the_harness_first(model: WorkbenchModel) -> None:
    groups = names(model)
    assert list(groups) == ["harness", "agents", "libraries", "yours"]
    assert groups["harness"] == [["recorded"], ["claude-code"]]
    assert ["langchain-summarization", "langchain-trim", "langchain-clear"] in groups["libraries"]
    listed = [name for families in groups.values() for family in families for name in family]
    assert sorted(listed) == sorted(["recorded", *(policy.name for policy in list_policies())])
    own = find_policy("flue").model_copy(update={"name": "mine", "title": "Mine"})
    add_policy(own)
    assert names(model)["yours"] == [["mine"]]


def test_each_result_is_what_the_policy_would_leave(model: WorkbenchModel) -> None:
    session = open_demo().at(model.inputs["at"])
    ledger = model.ledger
    for result in ask(model):
        name = str(result["name"])
        assert result["after"] == make_plan(session, ledger, name).after, name
        assert result["after"] != model.plan.before or result["word"], name


def test_words_say_what_a_figure_does_not(model: WorkbenchModel) -> None:
    words = {str(result["name"]): result["word"] for result in ask(model)}
    assert words["claude-code"] == "not yet, at 95 %"  # 190,000 of 200,000
    assert words["pi"] == "as Flue here"
    assert words["flue"] == ""


def test_results_in_pieces_are_the_same_as_at_once(model: WorkbenchModel) -> None:
    total = answer_query(model, {"type": "policy_results", "id": 1, "from": 0, "to": 1})["total"]
    pieces = [result for first in range(0, total, 4) for result in ask(model, first, first + 4)]
    assert len(pieces) == total
    assert pieces == ask(model)


def test_pins_are_part_of_every_result(model: WorkbenchModel) -> None:
    before = {str(result["name"]): result["after"] for result in ask(model)}
    model.answer({"pins": [f"{model.moment.entries[0].id}/0"]})
    with_pin = {str(result["name"]): result["after"] for result in ask(model)}
    assert with_pin["flue"] == model.plan.after != before["flue"]
