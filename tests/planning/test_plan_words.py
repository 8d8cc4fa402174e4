"""What a plan says of itself, word for word, on sessions of one word a token."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.planning.plan import Plan
from inspector.planning.plan_words import write_recipe, write_spec
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.registry import find_policy
from inspector.session.entries import Entry
from tests.planning.test_plan import FIVE_TURNS, count, plan_of
from tests.test_cuts import answer, build, call, say, user

DROPS = {"kind": "drop-older"}
LAST = {"kind": "keep-recent-turns", "turns": 1}
TALK = (user("a b c d e f g h"), say(), user("i j k l"), say())
"""Fourteen tokens, of which the second turn has five."""


def plan_by(*rules: dict[str, Any], on: tuple[Entry, ...] = TALK, edits: Any = None, **parts: Any) -> Plan:
    session = build(*on)
    reason = parts.pop("reason", "auto")
    return make_plan(
        session, count(session), {"name": "mine", "rules": list(rules)} | parts, edits, reason=reason
    )


@pytest.mark.parametrize(
    ("messages", "note"),
    [
        (0, "Nothing is left to send: a request needs at least one message."),
        (1, "The context would not begin with the user's words, as providers ask for."),
        (2, None),
    ],
)
def test_how_the_context_would_begin(messages: int, note: str | None) -> None:
    plan = plan_by({"kind": "keep-recent-messages", "messages": messages}, DROPS)
    assert [one for one in plan.notes if "Lossy" not in one] == ([note] if note else [])


@pytest.mark.parametrize(("policy", "told"), [("mini-claude-code-compat", True), ("mini-claude-code", False)])
def test_a_pair_torn_by_the_cut_is_told_where_it_is_sent_torn(policy: str, told: bool) -> None:
    """The last two of four messages stay; a call stands before them, its output is the first of them."""
    session = build(user(), call("a"), answer("a"), say())
    settings = {"keep-recent-messages.messages": 2, "target.tokens": 1}
    plan = make_plan(session, count(session), policy, {"settings": settings})
    assert any("uses a cut that providers refuse: The model would see" in note for note in plan.notes) is told


def test_the_recipe_names_the_moment_the_edits_and_the_reason() -> None:
    assert (
        write_recipe(plan_of(FIVE_TURNS)) == "make_plan(session, ledger, 'keep-recent-turns', window=200000)"
    )
    moment = FIVE_TURNS.at("e3")
    asked = make_plan(moment, count(moment), "keep-recent-turns", {"cut": "e2"}, reason="manual")
    assert write_recipe(asked) == (
        "make_plan(session.at('e3'), ledger, 'keep-recent-turns', Edits(cut='e2'), reason='manual')"
    )
    assert write_spec(asked) == {"policy": "keep-recent-turns", "edits": {"cut": "e2"}, "reason": "manual"}
    assert write_spec(plan_of(FIVE_TURNS)) == {"policy": "keep-recent-turns", "edits": {}, "window": 200_000}
    written = asked.with_summary(Checkpoint(text="a summary", by="a friend"))
    assert write_recipe(written).endswith("reason='manual').with_summary(checkpoint)")


def test_the_recipe_of_a_policy_of_one_s_own_holds_what_is_not_so_by_default() -> None:
    mine = plan_by(LAST, DROPS)
    assert (
        "{'name': 'mine', 'rules': [{'kind': 'keep-recent-turns', 'turns': 1}, {'kind': 'drop-older'}]}"
        in (write_recipe(mine))
    )
    changed = find_policy("keep-recent-turns").configured({"keep-recent-turns.turns": 2})
    session = FIVE_TURNS
    assert "'turns': 2" in write_recipe(make_plan(session, count(session), changed)), "the name is not enough"
    set_by_edit = plan_of(session, settings={"keep-recent-turns.turns": 2})
    assert write_recipe(set_by_edit).startswith("make_plan(session, ledger, 'keep-recent-turns', Edits(")
