"""What a plan leaves is what the replay goes on from: in its order, and counted once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import read_policy
from inspector.replays.carry import carry_entries
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.replays.test_engine import WORDS, live, say, talk, turn, turns

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


def test_the_length_of_what_was_written_is_shared_among_the_summaries_of_the_turns() -> None:
    """Three turns of 10, 30 and 2 words, of which the stand-in holds 27, 45 and 19: 91 in all, with the line
    that says that it is one. 120 tokens are written: 27 * 120 // 91, 45 * 120 // 91, and what is left."""
    policy = read_policy(
        {
            "name": "mine",
            "trigger": {"ratio": 0.8},
            "rules": [
                {"kind": "keep-recent-turns", "turns": 1},
                {"kind": "summarise-older", "per": "turn", "split_turns": False, "cap": 40},
            ],
        }
    )
    session = talk(*turn(4, 6), *turn(4, 26), *turn(1, 1), *turn(), *turn(), say("user", 4))
    acts = {"acts": [{"at": "e8", "do": "compact"}, {"at": "e10", "do": "compact"}]}
    run = live(session, policy, acts, window=1_000)
    written = run.adopted[0].written
    assert written == 120
    later = run.adopted[1].plan
    summaries = [i for i in later.session.live.entries.tolist() if later.session.entries[i].kind != "message"]
    assert later.ledger.entry_tokens[summaries].tolist() == [35, 59, 26]
    assert [entry.kind for entry in entries_of(later)] == ["branch_summary"] * 3 + ["message"] * 4


@pytest.mark.parametrize("policy", ["keep-recent-turns", "drop"])
def test_an_output_that_was_cleared_before_is_carried_as_it_stands(policy: str) -> None:
    """The file records that an output was emptied: what is kept of it is the mark in its place."""
    call = ToolCall(id="c", name="r", input={})
    output = ToolOutput(call_id="c", parts=(Text(text="word " * 50),))
    entries = (
        Entry(id="u1", blocks=(Text(text="go"),)),
        Entry(id="a1", parent="u1", role="assistant", blocks=(Text(text="done"),)),
        Entry(id="u2", parent="a1", blocks=(Text(text="look"),)),
        Entry(id="a2", parent="u2", role="assistant", blocks=(call,)),
        Entry(id="t2", parent="a2", role="tool", blocks=(output,)),
        Entry(id="m2", parent="t2", kind="micro", boundary=Boundary(kind="micro", cleared=("c",))),
        Entry(id="a3", parent="m2", role="assistant", blocks=(Text(text="seen"),)),
    )
    session = Session(format="demo", entries=entries, leaf="a3")
    drop = {"name": "drop", "rules": [{"kind": "keep-recent-turns"}, {"kind": "drop-older"}]}
    edits = {"settings": {"keep-recent-turns.turns": 1}}
    plan = make_plan(session, count_tokens(session, WORDS), drop if policy == "drop" else policy, edits)
    pieces = [piece for piece in build_context(session, plan).pieces if not piece.stand_in]
    carried = [item for item in carry_entries(plan, "new") if item.entry.kind == "message"]
    assert plan.place == 2 and len(carried) == 4
    assert [block for item in carried for block in item.entry.blocks] == [piece.block for piece in pieces]
    (emptied,) = [item for item in carried if item.entry.role == "tool"]
    assert "word" not in emptied.entry.blocks[0].text and sum(emptied.tokens) < 50
