"""Sub-agents whose replies stand in rows of progress, and what the result of their call tells (D5)."""

from __future__ import annotations

import pytest

from tests.shared import SHARED, needs_shared, open_shared


@needs_shared
@pytest.mark.parametrize(
    ("name", "agents", "replies", "results", "silent"),
    [
        ("claude-code--cipher-box/cc-2.1.49-1compact-993l.jsonl", 1, 16, 1, 0),
        ("claude-code--entireio-cli/cc-micro-only.jsonl", 6, 54, 6, 0),
        ("claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl", 4, 0, 4, 4),
        ("claude-code--git-sync/cc-2.1.183-648l.jsonl", 4, 0, 0, 4),
        ("claude-code-sidechains--claude-code-viewer/cc-sidechain-438l.jsonl", 0, 0, 0, 0),
    ],
)
def test_sub_agents_of_real_sessions(name: str, agents: int, replies: int, results: int, silent: int) -> None:
    """Counted by hand from the rows: messages of progress rows, and results without one."""
    found = open_shared(SHARED / "sessions" / name).subagents
    assert len(found) == agents
    assert sum(len(each.replies) for each in found) == replies
    assert sum(len(each.results) for each in found) == results
    assert sum(each.silent for each in found) == silent
