"""How many entries a plan looks at, counted. What does not grow with the session shows without a clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from inspector.planning.planner import make_plan
from inspector.policies.registry import POLICIES
from inspector.session.blocks import Text, ToolCall, ToolOutput, build
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.counter import Counter
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
    "ai-sdk-prune": "it looks at the parts of every message",
    "mastra-tool-call-filter": "it looks at the parts of every message",
    "openai-agents-trimmer": "it asks every old output for its tool and its size",
    "openai-agents-compaction": "it counts every item that is no user's message",
    "deepagents": "it asks every call for the size of its arguments",
    "deepseek-harness-pruner": "it looks at the size of every old output",
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


def test_a_line_of_the_stand_in_is_counted_once_for_all_plans_and_leaves() -> None:
    counted: list[str] = []

    def count(texts: Sequence[str]) -> NDArray[np.int32]:
        counted.extend(texts)
        return np.array([len(text.split()) for text in texts], np.int32)

    visited, _ = long_session(600)
    session = visited.at(visited.leaf)
    ledger = count_tokens(session, Counter("words", "Words", count))
    tables, lines = [], []
    earlier = session.at(session.entries[-9].id)
    for at, edits in ((session, {}), (session, {"pins": ["e4"]}), (earlier, {})):
        plan = make_plan(at, ledger, "keep-recent-turns", edits, window=20_000)
        counted.clear()
        tables.append(plan.cut_table)
        lines.append(len(counted))
    # Three entries of each turn speak, the outputs do not. The marker and its two fellows are lines too.
    assert lines == [3 * 600 + 3, 0, 0]
    n = len(tables[2].summary)
    assert n == len(session.entries) - 7
    assert tables[2].summary[: n - 1].tolist() == tables[0].summary[: n - 1].tolist()


def test_the_next_table_of_all_cuts_looks_at_no_entry() -> None:
    session, visited = long_session(600)
    ledger = count_tokens(session, "chars4_utf16")
    looks = []
    for pins in ([], ["e4"]):
        plan = make_plan(session, ledger, "keep-recent-turns", {"pins": pins}, window=20_000)
        Visited.visits = 0
        assert plan.cut_table.total[-1] > 0
        looks.append(Visited.visits)
    assert looks == [3 * 600, 0]
    assert len(visited) == 4 * 600


def test_sides_that_no_rule_touches_share_their_columns() -> None:
    session, _ = long_session(600)
    ledger = count_tokens(session, "chars4_utf16")
    first, second = (
        make_plan(session, ledger, "flue", {"settings": {"keep-recent-tokens.tokens": tokens}})
        for tokens in (2_000, 3_000)
    )
    assert first.place != second.place
    for name in ("fate", "tokens", "rule"):
        column = getattr(first.kept, name)
        assert column is getattr(second.kept, name)
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    assert first.table.split_start is second.table.split_start
