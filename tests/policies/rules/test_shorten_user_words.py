"""The user's message that does not fit whole: its two ends by bytes, and no character cut in two."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.tokens.ledger import count_tokens
from tests.test_cuts import build, say, user

CHARACTERS = "aé€\N{GRINNING FACE}"
"""Of one, two, three and four bytes."""


def size(text: str) -> int:
    return len(text.encode("utf-8"))


@given(st.text(CHARACTERS, min_size=10, max_size=40), st.integers(1, 12))
@example("é" * 20, 5)
@example("€" * 20, 5)
@example("\N{GRINNING FACE}" * 20, 5)
@example("a" + "\N{GRINNING FACE}" * 20, 5)
@example("a" + "€" * 20, 5)
@example("a" * 40, 5)
def test_of_the_message_that_does_not_fit_whole_characters_stay_at_both_ends(text: str, tokens: int) -> None:
    """PEERS §1: half of the bytes from either end, four bytes to a token; what is cut is told in tokens."""
    session = build(user(text), say("done"))
    edits = {"settings": {"keep-user-words.tokens": tokens}}
    plan = make_plan(session, count_tokens(session), "codex", edits, reason="manual")
    shown = [piece.block.text for piece in build_context(session, plan).pieces if not piece.stand_in]
    budget = 4 * tokens
    if size(text) <= budget:
        assert shown == [text]
        return
    first = max(
        (text[:end] for end in range(len(text) + 1) if size(text[:end]) <= budget // 2), key=len, default=""
    )
    last = max(
        (text[at:] for at in range(len(text) + 1) if size(text[at:]) <= budget - budget // 2),
        key=len,
        default="",
    )
    left_out = (size(text) - budget + 3) // 4
    assert shown == [f"{first}…{left_out} tokens truncated…{last}"]
