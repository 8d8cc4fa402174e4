"""Parts that leave older messages: which ids stay, which reasoning goes along; and inputs that shorten."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy
from inspector.policies.rules.prune_parts import PrunedCalls, PruneParts
from inspector.policies.rules.shorten_inputs import ShortenInputs
from inspector.session.blocks import KINDS, Reasoning, Text, ToolCall
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.policies.test_rules import use
from tests.strategies import TOOLS, sessions
from tests.test_checklist_s0 import chain, model, user
from tests.test_laws import LENGTH

NEWEST = st.integers(0, 6)
CALLS = st.lists(
    st.builds(PrunedCalls, newest=NEWEST, tools=st.lists(st.sampled_from(TOOLS), max_size=2).map(tuple)),
    max_size=2,
).map(tuple)


def plan_of(session: Session, *rules: Any) -> Plan:
    return make_plan(session, count_tokens(session, LENGTH), Policy(name="mine", rules=rules))


def left(session: Session, **knobs: Any) -> list[str]:
    plan = plan_of(session, PruneParts(**knobs))
    return [f"{piece.origin[0].entry}:{piece.block.kind}" for piece in build_context(session, plan).pieces]


def ask() -> Session:
    return chain(
        user("go"),
        model(Reasoning(text="hm", signature="s"), ToolCall(id="a", name="read", input={})),
        *use("a")[1:],
        model(Text(text="Now the other."), ToolCall(id="b", name="bash", input={})),
        *use("b")[1:],
        model(Reasoning(text="well", signature="s"), Text(text="done")),
    )


def test_calls_go_with_their_results_and_the_words_beside_them_stay() -> None:
    kinds = [name.partition(":")[2] for name in left(ask(), calls=(PrunedCalls(),))]
    assert kinds == ["text", "text", "reasoning", "text"]


@given(sessions(orderly=True), CALLS, st.none() | NEWEST)
def test_nothing_is_rewritten_and_newest_calls_and_words_stay(
    session: Session, calls: tuple[PrunedCalls, ...], reasoning: int | None
) -> None:
    plan = plan_of(session, PruneParts(reasoning=reasoning, calls=calls))
    table, outcome = plan.table, plan.outcome
    assert not outcome.blocks
    gone = outcome.changed
    for row in range(len(gone)):
        kind = table.block(row).kind
        if gone[row]:
            assert kind in ("tool_call", "tool_output", "reasoning", "unknown"), kind
    least = min((item.newest for item in calls), default=len(table.live))
    newest = table.live.position >= len(table.live) - least
    a_call = np.isin(table.kind, [KINDS.index("tool_call"), KINDS.index("tool_output")])
    assert not (gone & newest & a_call).any()


@given(sessions(), st.integers(0, 40), st.integers(0, 9), st.integers(0, 6))
def test_shortened_inputs_get_shorter_and_those_of_the_newest_messages_stay(
    session: Session, limit: int, preview: int, newest: int
) -> None:
    rule = ShortenInputs(limit=limit, preview=preview, newest=newest, tools=(), trigger_messages=0)
    plan = plan_of(session, rule)
    first = len(plan.table.live) - newest
    for row, block in plan.outcome.blocks.items():
        was = plan.table.block(row)
        assert plan.table.live.position[row] < first
        assert isinstance(block, ToolCall) and isinstance(was, ToolCall)
        for name, value in block.input.items():
            before = was.input[name]
            assert value == before or (len(value) < len(before) and len(before) > limit)
            assert value == before or value.startswith(before[:preview])
