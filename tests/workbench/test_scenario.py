"""The scenario of a replay as the screen is sent it: what is offered, chosen and taken back."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import Session, open_demo, replay
from inspector.errors import EditError
from inspector.policies.registry import names_of_policies
from inspector.policies.table import VERBATIM
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
    model = WorkbenchModel(open_demo(), policy)
    shown = show(model)
    for offer in shown["offers"]:
        told = show(model, acts=[{"at": "step 120", **offer["act"]}])
        assert told["chosen"][0]["label"].endswith(offer["label"])
    for control in shown["controls"]:
        for option in control["options"]:
            told = show(model, **option["part"])
            assert len(told["chosen"]) == (option is not control["options"][0])


def test_what_has_no_effect_under_a_policy_is_not_offered_but_said() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    names = [control["name"] for control in show(model)["controls"]]
    assert "tool" not in names and "user" not in names and "asks nobody" in show(model, turn_cap=5)["hint"]
    # What Python has set is shown all the same, to be taken back.
    assert "tool" in [control["name"] for control in show(model, tool=False)["controls"]]


def test_a_scenario_that_cannot_be_replayed_leaves_the_one_before() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    show(model, turn_cap=9)
    with pytest.raises(EditError, match="turn 22"):
        model.choose_scenario({"acts": [{"at": "turn 22", "do": "compact"}]})
    assert model.scenario.turn_cap == 9


def find_stage(session: Session) -> list[str]:
    """The entries of the session's first sub-agent."""
    chain = next(entry.sidechain for entry in session.entries if entry.sidechain)
    return [entry.id for entry in session.entries if entry.sidechain == chain]


def test_in_a_sub_agent_its_own_path_is_replayed_and_what_happens_elsewhere_is_forgotten() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    main = show(model, acts=[{"at": "turn 9", "do": "compact"}], turn_cap=100)
    stage = find_stage(model.session)
    model.answer({"at": stage[-1]})
    drawn = model.run_replay()["_run"]
    assert model.run is not None
    alone = replay(model.session.at(stage[-1]), "flue", {"turn_cap": 100, "provider": "refuses"})
    assert model.run.events == alone.events and len(model.run) == len(alone) < 10
    assert (drawn["stage"], drawn["scenario"]["values"]["acts"]) == ("sub-agent 1", [])
    assert drawn["scenario"]["values"]["turn_cap"] == 100
    told = show(model, turn_cap=2)
    drawn = model.adopt_run(model.run)["_run"]
    assert int((model.run.sent[: drawn["lived"]] > 0).sum()) == 2 and drawn["lived"] < len(model.run)
    assert model.run.status == "capped" and stage[-1] in told["code"]
    with pytest.raises(EditError):
        model.choose_scenario({"acts": [{"at": "turn 9", "do": "compact"}]})
    model.answer({"at": model.session.leaf})
    assert model.run_replay()["_run"]["stage"] == "" and len(model.replayed[0].path) > 100
    assert main["values"]["acts"] != []


def test_a_completed_compaction_tells_what_the_harness_prints_and_what_an_archive_has_to_hold() -> None:
    for policy, prints in (("mini-claude-code", True), ("keep-recent-turns", False)):
        model = WorkbenchModel(open_demo(), policy, window=180_000)
        events = [event for event in model.run_replay()["_run"]["events"] if event["kind"] == "completed"]
        assert model.run is not None and events
        told = [dict(event["details"]) for event in events]
        printed = [details["printed"] for details in told if "printed" in details]
        assert printed == list(model.run.log) and bool(printed) is prints
        plan = model.run.adopted[0].plan
        live = plan.table.live
        gone = {int(live.entries[i]) for i in live.position[plan.fate != VERBATIM]}
        assert told[0]["for an archive"].startswith(f"{len(gone):,} entr")
