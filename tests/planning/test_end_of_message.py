"""No plan ends a message of the assistant's with reasoning: the provider refuses that."""

from __future__ import annotations

from functools import cache

import pytest

from inspector import build_context, check_context, count_tokens, make_plan, open_demo, render_request
from inspector.planning.plan import Plan
from inspector.policies.registry import POLICIES
from inspector.policies.table import FATES
from inspector.session.blocks import Block, Reasoning, Text, ToolCall
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import Ledger

THOUGHT = Reasoning(text="I shall look.", signature="sealed")
CALL = ToolCall(id="c1", name="read", input={"path": "a.py"})


def make_session(*messages: tuple[str, tuple[Block, ...]]) -> Session:
    entries = [
        Entry(id=f"e{at}", parent=f"e{at - 1}" if at else None, role=role, blocks=blocks)
        for at, (role, blocks) in enumerate(messages)
    ]
    return Session(format="demo", entries=tuple(entries), leaf=entries[-1].id, model="claude-opus-4-6")


def refusals(plan: Plan) -> set[str]:
    context = build_context(plan.session, plan)
    return {found.rule for found in check_context(context, awaits_user=True)}


def test_while_a_call_runs_the_reasoning_that_led_to_it_is_left_out_with_it() -> None:
    session = make_session(("user", (Text(text="Go."),)), ("assistant", (THOUGHT, CALL)))
    plan = make_plan(session, count_tokens(session), "flue")
    assert [FATES[code] for code in plan.fate] == ["verbatim", "dropped", "dropped"]
    assert render_request(build_context(session, plan)).request["messages"][-1]["role"] == "user"
    assert (
        "1 reasoning block is left out: no message of the assistant's may end with reasoning." in plan.notes
    )
    assert not refusals(plan)


def test_what_is_pinned_stays_and_the_plan_says_that_a_provider_refuses_it() -> None:
    session = make_session(("user", (Text(text="Go."),)), ("assistant", (THOUGHT, CALL)))
    plan = make_plan(session, count_tokens(session), "flue", {"pins": ("e1/0",)})
    assert [FATES[code] for code in plan.fate] == ["verbatim", "verbatim", "dropped"]
    assert refusals(plan) == {"final_thinking"}
    assert any(note.startswith("A provider refuses this: a pin keeps reasoning") for note in plan.notes)


@cache
def unanswered_moments() -> tuple[Ledger, list[Session]]:
    """The bundled session's counts, and it as it stood at each call with a thought that no output answers."""
    session = open_demo()
    asked = [
        session.at(entry.id)
        for entry in session.entries
        if entry.sidechain is None and {"reasoning", "tool_call"} <= {block.kind for block in entry.blocks}
    ]
    return count_tokens(session), [moment for moment in asked if len(moment.live.pending)]


@pytest.mark.parametrize(("number", "name"), list(enumerate(policy.name for policy in POLICIES)))
def test_no_policy_ends_a_message_with_reasoning_in_the_middle_of_a_tool_call(number: int, name: str) -> None:
    """Each policy plans an eighth of the moments, and each moment is planned by an eighth of the policies."""
    ledger, moments = unanswered_moments()
    for moment in moments[number % 8 :: 8]:
        plan = make_plan(moment, ledger, name, reason="manual")
        refused = refusals(plan)
        assert "final_thinking" not in refused, moment.leaf
        legal = plan.cut is None or plan.cut.legal
        assert not legal or "loop_without_thinking" not in refused, moment.leaf
    assert len(moments) >= 49
