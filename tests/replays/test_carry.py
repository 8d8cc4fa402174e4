"""What a plan leaves is what the replay goes on from: in its order, and counted once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.session.entries import Entry
from tests.replays.test_engine import live, talk, turns

ASKED = {"acts": [{"at": f"e{number}", "do": "compact"} for number in (6, 10, 14)]}
TIGHT = {"drop-middle.first": 1, "drop-middle.last": 2, "target.tokens": 1}


def entries_of(plan: Plan) -> list[Entry]:
    """The entries of the context that was planned, in the order in which they are sent."""
    return [plan.session.entries[i] for i in plan.session.live.entries.tolist()]


def numbered(count: int) -> list[Entry]:
    """Turns of ten words each, told apart by their first."""
    out = []
    for number, entry in enumerate(turns(count).entries):
        words = entry.text.replace("word", f"n{number}", 1)
        out.append(entry.model_copy(update={"blocks": (entry.blocks[0].model_copy(update={"text": words}),)}))
    return out


@pytest.mark.parametrize(
    ("policy", "settings", "first"),
    [
        ("codex", {}, ["n0", "n2", "n4", "*"]),
        ("mini-claude-code-compat", TIGHT, ["n0", "[context", "n4", "n5"]),
        # "The last 0" names everything, which stands once more after the notice (TIERED §4, vector 030).
        (
            "mini-claude-code-compat",
            TIGHT | {"drop-middle.last": 0, "harness.adopt": "always"},
            ["n0", "[context", "n0", "n1", "n2", "n3", "n4", "n5"],
        ),
        ("stud-wiki-1.1", {"keep-recent-turns.turns": 1}, ["*", "n4", "n5"]),
        ("inspect-trim", {"keep-recent-share.share": 0.5, "keep-recent-share.first_words": False}, None),
    ],
)
def test_the_next_plan_finds_the_context_that_the_one_before_left(
    policy: str, settings: dict[str, Any], first: list[str] | None
) -> None:
    run = live(talk(*numbered(10)), policy, ASKED, window=100_000, settings=settings)
    plans = [item.plan for item in run.adopted]
    assert len(plans) == 3
    for plan, later in pairwise(plans):
        pieces = build_context(plan.session, plan).pieces
        left = ["*" if piece.fate == "summarised" else piece.block.text.split()[0] for piece in pieces]
        found = entries_of(later)
        head = ["*" if entry.kind != "message" else entry.text.split()[0] for entry in found][: len(left)]
        assert head == left and (plan is not plans[0] or first is None or left == first)
        # Two later turns follow as they were, and every part is counted once.
        since = 6 if plan is plans[0] else 10
        assert [entry.text.split()[0] for entry in found[len(left) :]] == [f"n{since + i}" for i in range(4)]
        assert later.counted_before == run.adopted[plans.index(plan)].after + 20
