"""A session that grows by a compaction: what is on the screen stays, and what comes is said beforehand."""

from __future__ import annotations

from functools import cache

import pytest

from inspector import Session, count_tokens, read_session
from inspector.demo import read_demo
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.gauge import describe_due
from inspector.workbench.queries import answer_query
from tests.claude_rows import Claude
from tests.workbench.asking import open_model


@cache
def read(lines: int | None = None) -> Session:
    rows = read_demo().splitlines(keepends=True)[:lines]
    return read_session(b"".join(rows), "story", "claude-code")


@cache
def find_boundary() -> int:
    """Return the number of lines before the recorded compaction."""
    whole, last = read(), read().boundaries[0][0]
    before = whole[whole[last].parent or ""].id
    return next(n for n in range(150, 560) if read(n).leaf == before)


def fill(turns: int) -> Session:
    """Turns of 15,000 tokens each, as the usage reports them."""
    rows = Claude()
    for n in range(turns):
        size = 20_000 + 15_000 * n
        rows.say(f"How does part {n} work?")
        rows.use(f"c{n}", " ".join(f"line{i}" for i in range(4_500)), size)
        rows.reply("It works well.", size + 15_000)
    return rows.open()


@pytest.mark.parametrize("policy", ["auto", "keep-recent-turns"])
def test_the_live_end_the_policy_and_the_side_stay_when_a_compaction_comes(policy: str) -> None:
    # Fitted to the provider, every report changes all counts a little.
    model = WorkbenchModel(read(find_boundary()), policy, counter="o200k_base")
    model.answer({"at": model.session.leaf})
    inputs, plan = dict(model.inputs), model.plan
    model.follow(read())
    answer = model.answer({})
    assert model.inputs == inputs
    assert (model.plan.policy, model.plan.after) == (plan.policy, plan.after)
    assert answer["_recorded"] == {}
    # The list of compactions has it all the same, and it is shown when it is asked for.
    assert [mark["look"] for mark in answer["_scene"]["boundaries"]] == ["recorded:1", "cleared:1"]
    model.answer({"pins": [str(model.plan.session.live_refs()[0])]})
    assert model.plan.policy.name == plan.policy.name
    model.answer({"look": "recorded:1"})
    assert model.recorded is not None
    assert model.inputs["look"] == "recorded:1"


def test_an_empty_choice_of_the_end_becomes_a_place_when_a_compaction_comes() -> None:
    start = read(find_boundary())
    model = WorkbenchModel(start, "keep-recent-turns")
    model.answer({"at": ""})
    model.follow(read())
    model.answer({})
    assert model.moment.leaf == start.leaf


def test_a_screen_that_has_seen_growth_opens_on_nothing_else() -> None:
    """The table moves to the worst compaction when it is first asked for, never after the file has grown."""
    model = open_model(read(find_boundary()), "auto")
    model.follow(read())
    model.answer({})
    reply = answer_query(model, {"type": "compactions", "id": 1, "place": model.shown.place or 0})
    assert not reply["go"]


def test_a_compaction_is_told_before_it_comes() -> None:
    said = [describe_due(session, count_tokens(session), 140_000) for session in map(fill, range(2, 11))]
    words = ["" if not one else "next" if "next request" in one else "turn" for one in said]
    # First nothing, then a turn ahead, then with the next request; never back.
    assert words == sorted(words, key=["", "turn", "next"].index)
    assert {"", "turn", "next"} == set(words)
    assert all("Claude Code" in one for one in said if one)


def test_only_a_session_that_has_grown_says_it() -> None:
    model = WorkbenchModel(fill(9), "auto", window=140_000)
    assert "due" not in model.answer({})["_scene"]
    model.follow(fill(10))
    assert "next request" in model.answer({})["_scene"]["due"]
