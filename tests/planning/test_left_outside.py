"""What the provider counts beyond the ledger goes with the blocks it belongs to, in proportion."""

from __future__ import annotations

import pytest

from inspector.planning.planner import make_plan
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.not_in_file import PARTS
from tests.tokens.test_prediction import LENGTH, find_not_in_file, reply, say


@pytest.mark.parametrize(("model", "stays"), [("claude-opus-5-5", False), ("claude-opus-4-5", True)])
def test_reasoning_that_an_edit_unbinds_takes_what_came_before_the_file(model: str, stays: bool) -> None:
    """A shortened output takes nothing away; on a model that binds its reasoning the last reply's goes with
    it, up to the very last place."""
    call, output = (
        ToolCall(id="c", name="r", input={}),
        ToolOutput(call_id="c", parts=(Text(text="o" * 999),)),
    )
    thought = (Reasoning(text="r" * 30, signature="s"), Text(text="yes"))
    entries = (
        say("u0", "gone", "u" * 100),
        reply("a0", "u0", 150_000, output=50, blocks=(Text(text="a" * 50), call)),
        Entry(id="t0", parent="a0", role="tool", blocks=(output,)),
        say("u1", "t0", "on"),
        Entry(id="a1", parent="u1", role="assistant", blocks=thought),
    )
    session = Session(format="claude-code", entries=entries, leaf="a1", model=model)
    ledger = count_tokens(session, LENGTH)
    whole = find_not_in_file(session, ledger).before_file.tokens
    policy = {"name": "mine", "rules": [{"kind": "truncate-outputs", "limit": 300}]}
    for cut in ("a0", "u1", "a1", "end"):
        plan = make_plan(session, ledger, policy, {"cut": cut}, window=10**6)
        told = dict(zip(PARTS, plan.cut_table.outside[plan.place or 0].tolist(), strict=True))
        assert told == plan.parts_after
        assert told["before_file"] == (whole if stays else 0)
    assert whole > 0
