"""The scenario of a replay as the screen is sent it: what is offered, chosen and taken back."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import open_demo
from inspector.errors import EditError
from inspector.policies.registry import names_of_policies
from inspector.workbench import WorkbenchModel


def show(model: WorkbenchModel, **scenario: Any) -> dict[str, Any]:
    model.choose_scenario(scenario)
    shown: dict[str, Any] = model.run_replay()["_run"]["scenario"]
    return shown


def test_all_that_was_chosen_is_told_and_each_can_be_taken_back() -> None:
    model = WorkbenchModel(open_demo(), "stud-warning")
    entry = model.session.entries[70].id
    acts = [
        {"at": "turn 9", "do": "compact"},
        {"at": entry, "do": "reset", "confirmed": True},
        {"at": "step 3", "do": "switch", "window": 90_000},
    ]
    whole = {"acts": acts, "writer": {"fails": 7}, "provider": "accepts", "turn_cap": 130, "consents": False}
    shown = show(model, **whole)
    labels = [item["label"] for item in shown["chosen"]]
    assert labels[0].endswith("Compact (/compact)") and labels[1].endswith("Reset (/reset)")
    assert "90000" in labels[2] and "fails 7" in " ".join(labels) and len(labels) == 7
    assert model.run is not None
    assert [item["step"] for item in shown["chosen"][:3]][2] == 2
    values = shown["values"]
    for item in reversed(shown["chosen"]):
        values = {**values, **item["without"]} if "acts" not in item["without"] else values
    assert show(model, **{**values, "acts": []})["chosen"] == []


@pytest.mark.parametrize("policy", ["flue", "stud-merged", "mini-claude-code"])
def test_every_offer_and_option_can_be_replayed(policy: str) -> None:
    assert policy in names_of_policies()
    demo = open_demo()
    model = WorkbenchModel(demo.at(demo.entries[120].id), policy)
    shown = show(model)
    for offer in shown["offers"]:
        told = show(model, acts=[{"at": "step 30", **offer["act"]}])
        assert told["chosen"][0]["label"].endswith(offer["label"])
    for control in shown["controls"]:
        for option in control["options"]:
            told = show(model, **option["part"])
            assert len(told["chosen"]) == (option is not control["options"][0])


def test_what_has_no_effect_under_a_policy_is_not_offered_but_said() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    names = [control["name"] for control in show(model)["controls"]]
    assert "tool" not in names and "user" not in names and show(model, turn_cap=5)["hint"]
    # What Python has set is shown all the same, to be taken back.
    assert "tool" in [control["name"] for control in show(model, tool=False)["controls"]]


def test_a_scenario_that_cannot_be_replayed_leaves_the_one_before() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    show(model, turn_cap=9)
    with pytest.raises(EditError, match="turn 22"):
        model.choose_scenario({"acts": [{"at": "turn 22", "do": "compact"}]})
    assert model.scenario.turn_cap == 9
