"""How many entries a plan looks at, counted. What does not grow with the session shows without a clock."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

import pytest

from inspector.planning.plan import make_plan
from inspector.policies.registry import POLICIES
from inspector.session.blocks import Text, ToolCall, ToolOutput, build
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens


class Visited(tuple[Entry, ...]):
    """Entries; how often one of any such is reached is counted."""

    __slots__ = ()
    visits: ClassVar[int] = 0

    def __getitem__(self, at: Any) -> Any:
        Visited.visits += 1
        return super().__getitem__(at)

    def __iter__(self) -> Iterator[Entry]:
        for entry in super().__iter__():
            Visited.visits += 1
            yield entry


@cache
def long_session(turns: int) -> tuple[Session, Visited]:
    """So many turns of four entries. No reply names its model: a search for one would not end early."""
    entries: list[Entry] = []

    def add(role: str, block: Text | ToolCall | ToolOutput) -> None:
        parent = entries[-1].id if entries else None
        entries.append(Entry(id=f"e{len(entries)}", parent=parent, role=role, blocks=(block,)))

    for turn in range(turns):
        add("user", Text(text=f"Read file {turn} and say what is in it, please."))
        add("assistant", ToolCall(id=f"c{turn}", name="read", input={"path": f"src/{turn % 7}.py"}))
        add("tool", ToolOutput(call_id=f"c{turn}", name="read", parts=(Text(text=f"line {turn}\n" * 200),)))
        add("assistant", Text(text=f"There are 200 lines in file {turn}."))
    visited = Visited(entries)
    return build(Session, format="test", entries=visited, leaf=entries[-1].id), visited


LOOK_AGAIN = {
    "codex": "it measures what every user said, to keep the newest words",
    "inspect-edit": "it asks every cleared output for its tool",
    "mini-claude-code-compat": "its own measure weighs every message that it rewrote",
}
"""Policies whose every plan goes over all they may edit, and why."""


def count_visits(turns: int, policy: str) -> tuple[int, int]:
    """Entries that the first plan looks at, and a second one after an edit."""
    session, visited = long_session(turns)
    ledger = count_tokens(session, "chars4_utf16")
    assert len(session.tree.index) == len(visited)
    Visited.visits = 0
    make_plan(session, ledger, policy, window=20_000)
    first = Visited.visits
    make_plan(session, ledger, policy, {"pins": [f"e{len(visited) - 2}"]}, window=20_000)
    return first, Visited.visits - first


@pytest.mark.parametrize("policy", [p.name for p in POLICIES if p.name not in LOOK_AGAIN])
def test_the_next_plan_of_a_longer_session_looks_at_no_more_entries(policy: str) -> None:
    assert count_visits(1_200, policy)[1] <= count_visits(600, policy)[1]


@pytest.mark.parametrize("policy", ["flue", "pi", "keep-recent-turns"])
def test_a_plan_by_columns_looks_no_further_back_than_what_it_keeps(policy: str) -> None:
    assert count_visits(1_200, policy)[0] <= count_visits(600, policy)[0] < 1_200
