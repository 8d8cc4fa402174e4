"""Rules and policies of one's own: a function in a cell, a policy as JSON, both known by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given

from inspector import build_context, count_tokens, make_plan, open_demo
from inspector.errors import PolicyError
from inspector.planning.assemble import live_context
from inspector.planning.diff.contexts import diff_contexts
from inspector.policies import rules as rule_registry
from inspector.policies.base_rule import Rule
from inspector.policies.custom_rule import rule
from inspector.policies.registry import add_policy, names_of_policies
from inspector.policies.rules import add_rule, find_rule
from inspector.policies.table import Decision, Table
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from tests.reference.patched import patch_context
from tests.refusals import check_adds_none
from tests.strategies import sessions

CAREFUL = {
    "name": "careful",
    "trigger": {"ratio": 0.7},
    "rules": [
        {"kind": "keep-system"},
        {"kind": "shorten-outputs"},
        {"kind": "keep-recent-turns", "turns": 2},
        {"kind": "summarise-older"},
    ],
}
LENGTH = Counter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))


def shorten_outputs(block):  # type: ignore[no-untyped-def]
    """Outputs of {any} tool are cut to their beginning."""
    if block.is_tool_output and len(block.text) > 40:
        return "truncated", block.text[:40]
    return "dropped" if block.is_reasoning else None


def test_a_rule_and_a_policy_as_json_stand_in_the_picker_and_are_planned() -> None:
    rule(shorten_outputs)
    add_policy(CAREFUL)
    assert {"shorten-outputs", "careful"} <= set(names_of_policies())
    session = open_demo()
    ledger = count_tokens(session)
    plan = make_plan(session, ledger, "careful")
    scene, _ = draw_scene(plan, trace_history(session, ledger))
    assert {"shorten-outputs", "careful"} <= set(scene.policies)
    picture, _ = draw_plan(plan)
    mine = next(item for item in picture.rules if item.kind == "shorten-outputs")
    assert mine.sentence == "Outputs of {{any}} tool are cut to their beginning"
    assert {"truncated", "summarised"} & {piece.fate for piece in build_context(session, plan).pieces}


@given(sessions(orderly=True))
def test_a_rule_of_ones_own_obeys_the_laws(session: Session) -> None:
    rule(shorten_outputs)
    ledger = count_tokens(session, LENGTH)
    plan = make_plan(session, ledger, add_policy(CAREFUL), window=10_000)
    before, after = live_context(session, ledger), build_context(session, plan)
    assert after.tokens == plan.after
    assert patch_context(before, diff_contexts(before, after)) == after
    blocks = [block for entry in session.entries for block in entry.blocks]
    for piece in after.pieces:
        assert piece.block.kind != "reasoning" or any(piece.block is block for block in blocks)
    check_adds_none(before, after, plan, "loop_without_thinking")


def test_what_a_function_may_not_do_is_told_by_name() -> None:
    session = open_demo()
    ledger = count_tokens(session)

    def broken(block):  # type: ignore[no-untyped-def]
        return 1 / 0

    def odd(block):  # type: ignore[no-untyped-def]
        return "vanished"

    def rewriting(block):  # type: ignore[no-untyped-def]
        return ("truncated", "I thought so.") if block.is_reasoning or block.is_tool_call else None

    for function, said in (
        (broken, "ZeroDivisionError"),
        (odd, "'vanished'"),
        (rewriting, "kept or dropped"),
    ):
        rule(function)
        with pytest.raises(PolicyError, match=said):
            make_plan(session, ledger, function.__name__)


class Bare(Rule):
    """A rule that does not say what it decides."""

    kind: Literal["bare"] = "bare"


class CutsAtTheEnd(Bare):
    """A rule as a package brings it: a class with a kind and a decision."""

    title: ClassVar[str] = "Cut at the end"
    phrase: ClassVar[str] = "the cut is at the end"
    cuts: ClassVar[bool] = True

    kind: Literal["cut-at-the-end"] = "cut-at-the-end"  # type: ignore[assignment]

    def decide(self, table: Table) -> Decision:
        return Decision(cut=len(table.live))


def test_a_class_of_rules_is_known_by_its_kind() -> None:
    add_rule(CutsAtTheEnd)
    assert find_rule("cut-at-the-end") is CutsAtTheEnd
    session = open_demo()
    plan = make_plan(session, count_tokens(session), {"name": "mine", "rules": [{"kind": "cut-at-the-end"}]})
    assert plan.place == len(plan.table.live)


def test_a_package_names_a_class_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    here = [f"{__name__}:{name}" for name in ("CutsAtTheEnd", "Bare", "CAREFUL", "nothing_of_that_name")]
    points = [EntryPoint("any", value, "inspector.rules") for value in here]
    monkeypatch.setattr(rule_registry, "entry_points", lambda group: points)
    rule_registry._from_packages.cache_clear()
    try:
        assert rule_registry._from_packages() == (CutsAtTheEnd,)
    finally:
        rule_registry._from_packages.cache_clear()
