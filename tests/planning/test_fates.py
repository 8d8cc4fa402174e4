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
from inspector.planning.assemble import build_context
from inspector.planning.fates import BY_BOUND, BY_END, BY_NONE, BY_PAIR, BY_PIN, BY_WITHHELD
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies import rules as room
from inspector.policies.base_rule import Rule
from inspector.policies.custom_rule import rule
from inspector.policies.policy import Policy, read_policy
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
from inspector.replays.engine import replay
from inspector.session.blocks import Block, Reasoning, Text, ToolOutput, Unknown
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.tokens.ledger import count_tokens
from tests.test_checklist_s0 import count, fates_of, plan_of, talk
from tests.test_cuts import build, say, user
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


def test_S0_39_a_rule_that_makes_nothing_up_is_no_error() -> None:
    """The control: the same rule, handing each block back, plans like any other."""
    add_forging(lambda block, row: block)
    plan = plan_of(talk(6), find_policy("stud-wiki-1.1").add("forges"))
    kept = [piece.block for piece in build_context(plan.session, plan).pieces]
    assert [block for block in kept if block.kind == "reasoning"] == [
        Reasoning(text=f"thought {n}", signature=f"seal {n}") for n in range(2, 6)
    ]


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


def test_S0_41_it_is_one_through_every_door_and_no_setting_of_the_rule_switches_that_off() -> None:
    add_forging(MAKERS["of a text"])
    session, named = talk(12), find_policy("stud-wiki-1.1").add("forges")
    written = named.model_dump(mode="json")
    doors: dict[str, Callable[[], object]] = {
        "by its JSON": lambda: plan_of(session, read_policy(written)),
        "by a setting": lambda: plan_of(session, "stud-wiki-1.1", settings={"forges.enabled": True}),
        "compact": lambda: compact(session, named, ledger=count(session)),
        "compact with a summary": lambda: compact(
            session, named, Checkpoint(text="x"), ledger=count(session)
        ),
        "replay": lambda: replay(session, named, ledger=count(session), window=100),
        "pinned": lambda: plan_of(session, named, pins=("e0",)),
        "at another cut": lambda: plan_of(session, named, cut="e4"),
    }
    for door, knock in doors.items():
        with pytest.raises(PolicyError, match="no model thought"):
            knock()
            pytest.fail(f"{door} let it through")


def test_S0_41_a_rule_of_a_notebook_cell_can_give_reasoning_no_words() -> None:
    @rule(name="rewords-reasoning")
    def rewords(block: Any) -> Any:
        return ("truncated", "so I thought") if block.is_reasoning else None

    with pytest.raises(PolicyError, match="kept or dropped whole"):
        plan_of(talk(6), "rewords-reasoning")


@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking", "reasoning", "text"])
def test_S0_39_S0_32_what_a_provider_sealed_is_a_compaction_and_no_thinking(kind: str) -> None:
    with pytest.raises(ValidationError, match="seals a compaction"):
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


def all_fates(session: Session, policy: Any, **settings: Any) -> list[str]:
    return fates_of(plan_of(session, policy, settings=settings), "reasoning")


def test_S0_20_every_reasoning_block_has_one_of_four_fates_and_all_four_occur() -> None:
    session = talk(8)
    seen = [
        all_fates(session, "stud-wiki-1.1"),
        all_fates(session, "stud-wiki-1.1", **{"drop-reasoning.enabled": True}),
        all_fates(session, "stud-wiki-1.1", **{"clear-thinking.enabled": True, "clear-thinking.keep": 2}),
    ]
    assert seen == [
        ["summarised"] * 4 + ["verbatim"] * 4,
        ["dropped"] * 4 + ["verbatim"] * 4,
        ["summarised"] * 4 + ["cleared"] * 2 + ["verbatim"] * 2,
    ]


@given(plans())
def test_S0_20_no_policy_at_any_cut_gives_reasoning_another(plan: Plan) -> None:
    assert set(fates_of(plan, "reasoning")) <= {"verbatim", "summarised", "dropped", "cleared"}


def test_S0_20_long_sessions_are_drawn_too_under_every_policy() -> None:
    session = talk(40)
    fates = {
        policy.name: set(
            fates_of(make_plan(session, count(session), policy, window=300, reason="manual"), "reasoning")
        )
        for policy in POLICIES
    }
    four = {"verbatim", "summarised", "dropped", "cleared"}
    assert {name for name, mine in fates.items() if not mine <= four} == set()
    assert set().union(*fates.values()) >= four - {"cleared"}


@pytest.mark.parametrize(("measure", "before", "left"), [("chars4_utf16", 8, 3), ("messages", 4, 2)])
def test_what_was_dropped_weighs_nothing_by_any_measure(measure: str, before: int, left: int) -> None:
    """Of 15, 4, 7 and 4 characters, a quarter each rounded up, the last two messages stay."""
    session = build(user("a b c d e f g h"), say(), user("i j k l"), say())
    rules = [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "drop-older"}]
    policy = {"name": "mine", "trigger": {"measure": measure, "tokens": 1}, "rules": rules}
    plan = make_plan(session, count_tokens(session), policy)
    assert (plan.tier.size(None), plan.left) == (before, left)


def test_whoever_decides_of_a_block_but_no_rule_has_a_number_of_his_own() -> None:
    assert sorted([BY_NONE, BY_PIN, BY_PAIR, BY_BOUND, BY_WITHHELD, BY_END]) == [-6, -5, -4, -3, -2, -1]
