"""Long texts keep their beginning and end; what an earlier compaction said of the past stays whole."""

from __future__ import annotations

import pytest

from inspector import build_context, count_tokens, make_plan
from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry
from tests.test_cuts import build, say, user

LONG = "It was like this. " * 200


@pytest.mark.parametrize("policy", ["mini-claude-code", "mini-claude-code-compat"])
def test_the_summary_of_an_earlier_compaction_is_not_snipped_and_longer_words_after_it_are(
    policy: str,
) -> None:
    summary = Entry(id="k", kind="compaction", role="user", boundary=Boundary(), blocks=(Text(text=LONG),))
    session = build(user("before"), summary, user(LONG), say(LONG), user("short"), say("end"), user("more"))
    settings = {"snip-long-text.characters": 500}
    plan = make_plan(session, count_tokens(session), policy, {"settings": settings}, reason="manual")
    pieces = build_context(session, plan).pieces
    assert [piece.fate for piece in pieces] == ["verbatim", *["truncated"] * 2, *["verbatim"] * 3]
    assert pieces[0].block.text == LONG
    # Another rule of this policy allows 2,000 characters, whatever this one is told to leave.
    assert all(500 < len(piece.block.text) < 2_100 < len(LONG) for piece in pieces[1:3])
