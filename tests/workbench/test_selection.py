"""A selected range of the timeline: its parts add up to the whole, and agree with the other lists."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import open_demo
from inspector.workbench.model import WorkbenchModel
from tests.workbench.asking import ask, open_model


@pytest.fixture
def model() -> WorkbenchModel:
    return open_model(open_demo(), "auto")


def select(model: WorkbenchModel, first: int, last: int) -> dict[str, Any]:
    return ask(model, "selection", **{"from": first, "to": last, "look": "recorded:1"})


@pytest.mark.parametrize("middle", [1, 100, 241])
def test_two_halves_add_up_to_the_whole(model: WorkbenchModel, middle: int) -> None:
    blocks = len(model.shown.table.tokens)
    starts = model.shown.session.live.position.tolist()
    # No entry is in both halves.
    while starts[middle] == starts[middle - 1]:
        middle += 1
    whole, left, right = (select(model, *rows) for rows in ((0, blocks), (0, middle), (middle, blocks)))
    for name in ("requests", "sent", "cached"):
        assert whole[name] == left[name] + right[name] > 0
    paid = [float(half["cost"].lstrip("$") or 0) for half in (whole, left, right)]
    assert paid[0] == pytest.approx(paid[1] + paid[2], abs=0.02)
    titles = [{file["title"] for file in half["files"]} for half in (whole, left, right)]
    assert titles[0] == titles[1] | titles[2]


def test_all_of_it_is_what_the_other_lists_have(model: WorkbenchModel) -> None:
    blocks = len(model.shown.table.tokens)
    whole = select(model, 0, blocks)
    findings = ask(model, "findings", look="recorded:1")
    missing = [
        row
        for group in findings["groups"]
        if group["id"] in ("changed", "absent", "result")
        for row in group["rows"]
    ]
    assert whole["missing"] == missing != []
    facts = ask(model, "facts", query="", **{"from": 0, "to": 1})
    assert whole["facts"] == sum(kind["total"] for kind in facts["kinds"])


def test_facts_and_findings_of_a_range_are_stated_in_it(model: WorkbenchModel) -> None:
    first, last = 20, 80
    part = select(model, first, last)
    rows = {"rowFrom": first, "rowTo": last}
    facts = ask(model, "facts", query="", **{"from": 0, "to": 500}, **rows)
    assert part["facts"] == sum(kind["total"] for kind in facts["kinds"]) > 0
    findings = ask(model, "findings", look="recorded:1", **rows)
    assert findings["total"] == len(part["missing"])
    session = model.shown.session
    refs = {str(ref) for ref in session.live_refs()[first:last]}
    for row in facts["rows"]:
        fact = model.session.facts[row["kind"], row["form"]]
        assert refs & {str(said.ref) for said in fact.said}
    words = "".join(part_["text"] for part_ in part["parts"])
    assert f"{part['changed']} files changed" in words


def test_an_empty_range_says_nothing(model: WorkbenchModel) -> None:
    nothing = select(model, 5, 5)
    assert (nothing["requests"], nothing["facts"], nothing["missing"]) == (0, 0, [])
    assert nothing["cost"] == ""
