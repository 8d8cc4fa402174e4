"""The placeholder summary: what it says, what it leaves out to stay short, and that it costs what it says."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.stand_in import MARKER, OMITTED, SPLIT, extract_line
from inspector.session.blocks import ToolCall
from inspector.session.entries import Entry
from inspector.tokens.ledger import Ledger
from tests.planning.test_plan import count
from tests.test_cuts import answer, build, say, user


def reads(number: int) -> tuple[Entry, Entry]:
    made = ToolCall(id=f"c{number}", name="read", input={"path": f"src/{number}.py"})
    return Entry(id="", role="assistant", blocks=(made,)), answer(f"c{number}")


SESSION = build(
    user("one two three"),
    say("four five"),
    user("six"),
    *reads(1),
    say("seven eight nine"),
    *reads(2),
    say("ten"),
    user("eleven twelve"),
    say("thirteen"),
)


@pytest.fixture
def ledger() -> Ledger:
    """Counted anew for each test, for a ledger keeps the lines that were made of it."""
    return count(SESSION)


def plan_at(ledger: Ledger, place: int, cap: int, **knobs: Any) -> Plan:
    """A plan whose summary has `cap` tokens, and half of it more for the beginning of a split turn."""
    rules = [
        {"kind": "keep-recent-turns", "turns": 1},
        {"kind": "carry-file-operations"},
        {"kind": "summarise-older", "share": 1, "prefix_share": 0.5, "cap": 1_000, **knobs},
    ]
    policy = {"name": "mine", "trigger": {"reserve_tokens": cap}, "rules": rules}
    cut = SESSION.entries[place].id if place < len(SESSION.entries) else "end"
    return make_plan(SESSION, ledger, policy, {"cut": cut}, window=100_000)


PLACES = [1, 3, 6, 9, 11]


@pytest.mark.parametrize("knobs", [{}, {"split_turns": False}, {"per": "turn"}], ids=str)
@pytest.mark.parametrize("cap", [4, 8, 200])
def test_it_costs_what_it_says_at_every_place(ledger: Ledger, cap: int, knobs: dict[str, Any]) -> None:
    for place in PLACES:
        plan = plan_at(ledger, place, cap, **knobs)
        assert plan.place == place and plan.summarises
        texts = [text for text, _, _ in plan.stand_in.texts(place)]
        said = sum(int(plan.ledger.count_lines(text.split("\n")).sum()) for text in texts)
        assert plan.summary_tokens == said == int(plan.stand_in.cost[place])


@pytest.mark.parametrize("cap", [3, 4, 8, 12])
@pytest.mark.parametrize("splits", [True, False])
def test_it_keeps_the_newest_lines_that_have_room(ledger: Ledger, cap: int, splits: bool) -> None:
    for place in PLACES:
        plan = plan_at(ledger, place, cap, split_turns=splits)
        room = cap + (cap // 2 if splits and plan.splits >= 0 else 0)
        lines = plan.stand_in.text(place).split("\n")
        assert lines[0] == MARKER and (lines[1:2] == [OMITTED]) == (OMITTED in lines)
        assert (SPLIT in lines) == (plan.splits >= 0)
        every = [extract_line(entry) for entry in SESSION.entries[:place]]
        costs = [int(plan.ledger.count_lines([line]).sum()) if line else 0 for line in every]
        newest = next(i for i in range(place + 1) if sum(costs[i:]) <= room)
        told = [line for line in lines if line in every]
        assert told == [line for line in every[newest:] if line]
        assert (OMITTED in lines) == (newest > 0)
