"""The assistant's last messages go, where somebody else has said something."""

from __future__ import annotations

import pytest

from inspector.planning.planner import make_plan
from inspector.policies.table import FATES
from inspector.session.blocks import Block, Document, Image, Text
from inspector.session.entries import Entry
from tests.planning.test_plan import count
from tests.test_cuts import build, say


@pytest.mark.parametrize(
    ("asked", "goes"),
    [
        (Text(text="please"), True),
        (Text(text=""), False),
        (Document(text="a plan"), True),
        (Document(text=""), False),
        (Image(), True),
    ],
)
def test_the_last_reply_goes_where_the_user_said_something(asked: Block, goes: bool) -> None:
    session = build(Entry(id="", role="user", blocks=(asked,)), say("fine"))
    policy = {"name": "mine", "rules": [{"kind": "drop-last-replies"}]}
    plan = make_plan(session, count(session), policy, window=1_000, reason="manual")
    assert [FATES[code] for code in plan.fate] == ["verbatim", "dropped" if goes else "verbatim"]


@pytest.mark.parametrize(("most", "left"), [(None, 2), (0, 4), (1, 3), (2, 2), (3, 2)])
def test_as_many_go_as_are_asked_for_and_nobody_else_s(most: int | None, left: int) -> None:
    session = build(
        say("hello"), Entry(id="", role="user", blocks=(Text(text="go"),)), say("one"), say("two")
    )
    policy = {"name": "mine", "rules": [{"kind": "drop-last-replies", "most": most}]}
    plan = make_plan(session, count(session), policy, window=1_000, reason="manual")
    assert [FATES[code] for code in plan.fate] == ["verbatim"] * left + ["dropped"] * (4 - left)
