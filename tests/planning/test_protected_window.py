"""What a plan says when a cut by hand or a fallback takes of the messages that the policy protects."""

from __future__ import annotations

import pytest

from inspector import count_tokens, make_plan, read_session
from inspector.session.session import Session


def talk(turns: int, words: int) -> Session:
    return read_session(
        [
            {"role": role, "content": f"{role} {turn}: {'tide ' * words}"}
            for turn in range(turns)
            for role in ("user", "assistant")
        ]
    )


@pytest.mark.parametrize(("turn", "told"), [(3, False), (6, False), (7, True), (9, True)])
def test_S0_a_cut_by_hand_in_the_protected_turns_is_told(turn: int, told: bool) -> None:
    """Of ten turns the last four are kept: a cut before the seventh takes none of them."""
    session = talk(10, 30)
    cut = session.entries[2 * turn].id
    plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": cut})
    notes = [note for note in plan.notes if note.startswith("The cut by hand removes")]
    assert bool(notes) is told, plan.notes
    if told:
        assert f"{2 * (turn - 6)} messages" in notes[0]
    assert not [
        note for note in make_plan(session, plan.ledger, "keep-recent-turns").notes if "by hand" in note
    ]


@pytest.mark.parametrize(("budget", "told"), [(3_000, True), (60_000, False)])
def test_S3_a_fallback_that_reaches_the_recent_window_is_told(budget: int, told: bool) -> None:
    session = talk(30, 700)
    settings = {"trigger.budget": budget}
    plan = make_plan(session, count_tokens(session), "mini-claude-code", {"settings": settings})
    notes = [note for note in plan.notes if note.startswith("The fallback ran")]
    assert bool(notes) is told, plan.notes
    last = plan.policy.rules[[rule.kind for rule in plan.policy.rules].index("keep-recent-messages")]
    recent = plan.fate[-last.messages :]
    assert (recent != 0).any() == told
