"""What a screen is told of a summary that could be written: who is asked, unless somebody else is chosen."""

from __future__ import annotations

from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.summary import list_models
from tests.replays.test_engine import WORDS, make_policy, say, talk


def plan_after(*models: str | None) -> Plan:
    """A plan of a session whose replies were each written by the next of these models."""
    turns = [(say("user", 4), say("assistant", 6).model_copy(update={"model": model})) for model in models]
    session = talk(*(entry for pair in turns for entry in pair), model="claude-haiku-4-5")
    return make_plan(session, count_tokens(session, WORDS), make_policy(), window=100, reason="manual")


def test_S0_64_the_model_that_answers_now_is_the_first_to_be_asked() -> None:
    assert list_models(plan_after("claude-opus-4-5", "claude-opus-4-5"))[0] == "claude-opus-4-5"
    switched = plan_after("claude-opus-4-5", "claude-sonnet-4-5")
    assert list_models(switched)[0] == "claude-sonnet-4-5"
    # Before the switch it is the one before it.
    earlier = switched.session.at("e1")
    plan = make_plan(earlier, switched.ledger, make_policy(), window=100, reason="manual")
    assert list_models(plan)[0] == "claude-opus-4-5"
    # A reply that no model wrote, as one that Claude Code made up, switches nothing.
    assert list_models(plan_after("claude-opus-4-5", "<synthetic>"))[0] == "claude-opus-4-5"
