"""Fates of reasoning: whatever rule is added, through whatever door, none is invented and none rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from pydantic import ValidationError

from inspector.errors import PolicyError
from inspector.formats.sealed import Sealed
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies import rules as room
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy
from inspector.policies.registry import POLICIES, find_policy
from inspector.policies.rules import add_rule
from inspector.policies.rules.keep_recent_turns import KeepRecentTurns
from inspector.policies.rules.keep_system import KeepSystem
from inspector.policies.table import (
    CLEARED,
    FATES,
    POINTER,
    TRUNCATED,
    VERBATIM,
    Claim,
    Decision,
    Rewrite,
    Table,
)
from inspector.session.blocks import Block, Reasoning, Text, ToolOutput, Unknown
from tests.test_checklist_s0 import count, fates_of, plan_of, talk
from tests.test_laws import plans

FORGED = Reasoning(text="forged", signature="fake")
MAKERS: dict[str, Callable[[Block, int], Block | None]] = {
    "of a text": lambda block, row: FORGED if block.kind == "text" else block,
    "of a call": lambda block, row: FORGED if block.kind == "tool_call" else block,
    "of reasoning": lambda block, row: FORGED if block.kind == "reasoning" else block,
    "without its seal": lambda block, row: (
        block.model_copy(update={"signature": None}) if isinstance(block, Reasoning) else block
    ),
    "inside an output": lambda block, row: (
        block.model_copy(update={"parts": (FORGED,)}) if isinstance(block, ToolOutput) else block
    ),
    "as an unknown block": lambda block, row: (
        Unknown(type="thinking", raw={"type": "thinking", "thinking": "forged", "signature": "fake"})
        if block.kind == "text"
        else block
    ),
    "words in its place": lambda block, row: (
        Text(text="so I thought") if block.kind == "reasoning" else block
    ),
}


@pytest.fixture(autouse=True)
def _only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds is known to that test alone."""
    monkeypatch.setattr(room, "_own", {})


def add_forging(make: Callable[[Block, int], Block | None], fate: int = VERBATIM) -> None:
    """A rule "forges" that rewrites every block, on both sides of the cut, known by `add_rule`."""

    class Forges(Rule):
        kind: Literal["forges"] = "forges"

        def decide(self, table: Table) -> Decision:
            claim = Claim(np.ones(len(table.tokens), bool), fate, rewrite=Rewrite(make))
            return Decision(older=claim, kept=claim)

    add_rule(Forges)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("fate", [VERBATIM, TRUNCATED, POINTER, CLEARED])
def test_S0_39_S0_108_reasoning_that_a_rule_makes_up_is_an_error_of_the_plan(make: str, fate: int) -> None:
    add_forging(MAKERS[make], fate)
    with pytest.raises(PolicyError, match=r"forges.*reasoning"):
        plan_of(talk(6), find_policy("stud-wiki-1.1").add("forges"))


@pytest.mark.parametrize("name", [policy.name for policy in POLICIES])
@pytest.mark.parametrize("reason", ["auto", "manual", "overflow"])
def test_S0_41_it_is_one_under_every_profile_whatever_asked_for_the_plan(name: str, reason: Any) -> None:
    add_forging(MAKERS["of a text"])
    session = talk(12)
    with pytest.raises(PolicyError, match="no model thought"):
        make_plan(
            session, count(session), name, {"settings": {"forges.enabled": True}}, window=100, reason=reason
        )


@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking", "reasoning", "text"])
def test_S0_39_S0_32_what_a_provider_sealed_is_a_compaction_and_no_thinking(kind: str) -> None:
    with pytest.raises(ValidationError, match="must be a compaction"):
        Sealed(block={"type": kind, kind: "forged", "signature": "fake"})


# -- the four fates of reasoning --------------------------------------------------------------------------


@pytest.mark.parametrize("fate", [TRUNCATED, POINTER])
def test_S0_20_a_rule_cannot_give_reasoning_another_fate(fate: int) -> None:
    class Shortens(Rule):
        kind: Literal["shortens"] = "shortens"

        def decide(self, table: Table) -> Decision:
            return Decision(older=Claim(np.ones(len(table.tokens), bool), fate, np.ones_like(table.tokens)))

    add_rule(Shortens)
    with pytest.raises(PolicyError, match=f"shortens.*reasoning.*{FATES[fate]}"):
        plan_of(talk(6), Policy(name="mine", rules=(KeepSystem(), KeepRecentTurns(turns=2), Shortens())))


@given(plans())
def test_S0_20_no_policy_at_any_cut_gives_reasoning_another(plan: Plan) -> None:
    assert set(fates_of(plan, "reasoning")) <= {"verbatim", "summarised", "dropped", "cleared"}
