"""What the provider counts beyond the ledger goes with the blocks it belongs to, in proportion."""

from __future__ import annotations

import pytest

from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.outside import PARTS
from tests.tokens.test_weighed_path import LENGTH, find_outside, reply, say


def heavy_session() -> Session:
    """1,000 tokens are fixed, and the provider counts every text one and a half times as the ledger does."""
    prompt = 1_000 + 1_500
    entries = [say("u0", None, "u" * 1_000), reply("a0", "u0", prompt, "a" * 100, output=150)]
    prompt, parent = prompt + 150, "a0"
    for i in range(1, 6):
        call = ToolCall(id=f"c{i}", name="r", input={})
        output = ToolOutput(call_id=f"c{i}", parts=(Text(text="o" * 1_000),))
        usage = Usage(input=prompt, output=5)
        entries += [
            Entry(id=f"k{i}", parent=parent, role="assistant", blocks=(call,), usage=usage),
            Entry(id=f"t{i}", parent=f"k{i}", role="tool", blocks=(output,)),
            reply(f"b{i}", f"t{i}", prompt + 1_505, "a" * 100, output=150),
            say(f"u{i}", f"b{i}", "u" * 1_000),
        ]
        prompt, parent = prompt + 1_505 + 150 + 1_500, f"u{i}"
    return Session(format="demo", entries=tuple(entries), leaf=parent)


def test_a_shortened_block_keeps_its_share_of_what_is_withheld() -> None:
    """Outputs of 1,000 tokens are cut to 298: of the 499 that each weighs more, 148 stay."""
    session = heavy_session()
    ledger = count_tokens(session, LENGTH)
    outside = find_outside(session, ledger)
    outputs = [row for row, tokens in enumerate(outside.spread.tolist()) if tokens == 499]
    assert outside.scale == 1.5 and len(outputs) == 5
    plan = make_plan(
        session, ledger, {"name": "mine", "rules": [{"kind": "truncate-outputs", "limit": 300}]}, window=10**6
    )
    assert [int(plan.outcome.tokens[row]) for row in outputs] == [298] * 5
    withheld = outside.withheld.tokens - 5 * 499 + 5 * (499 * 298 // 1_000)
    assert plan.parts_after == {"fixed": 1_000, "withheld": withheld, "earlier": 0, "attached": 0}
    # What the policy measures by the provider's word is the same.
    assert plan.left == plan.after == plan.counted_after + 1_000 + withheld


def test_a_written_summary_is_measured_in_the_place_of_the_stand_in() -> None:
    """By the policy's own measure as by the provider's word: 2,000 tokens, and half of that more."""
    session = heavy_session()
    policy = {
        "name": "mine",
        "trigger": {"measure": "assembled"},
        "rules": [{"kind": "keep-recent-turns", "turns": 2}, {"kind": "summarise-older"}],
    }
    plan = make_plan(session, count_tokens(session, LENGTH), policy, window=10**6)
    short, long = (plan.with_summary(Checkpoint(text="s" * size)) for size in (10, 2_010))
    assert plan.left == plan.after and short.left == short.after
    assert long.left == long.after == short.after + 3_000


def test_what_came_before_the_file_goes_wherever_anything_is_taken() -> None:
    """Reasoning is dropped on both sides of a cut: the table says of every place what a plan there says."""
    entries = [say("u0", "gone", "u" * 100), reply("a0", "u0", 150_000, "a" * 50, output=50)]
    for number in range(1, 4):
        asked, thought = f"u{number}", (Reasoning(text="r" * 30, signature="s"), Text(text="yes"))
        entries.append(say(asked, f"a{number - 1}", "on"))
        entries.append(Entry(id=f"a{number}", parent=asked, role="assistant", blocks=thought))
    session = Session(format="claude-code", entries=(*entries, say("u4", "a3", "end")), leaf="u4")
    ledger = count_tokens(session, LENGTH)
    policy = {"name": "mine", "rules": [{"kind": "keep-newest-reasoning", "replies": 0, "loop": False}]}
    earlier = []
    for entry in session.entries[1:]:
        plan = make_plan(session, ledger, policy, {"cut": entry.id}, window=10**6)
        told = dict(zip(PARTS, plan.cut_table.outside[plan.place or 0].tolist(), strict=True))
        assert told == plan.parts_after
        earlier.append(told["earlier"])
    assert earlier == [0] * 8


def test_what_is_taken_behind_the_cut_alone_takes_what_came_before_the_file() -> None:
    """The last two replies are dropped where they stand: before every place up to the last of them."""
    entries = [
        say("u0", "gone", "u" * 100),
        reply("a0", "u0", 150_000, "a" * 50, output=50),
        say("u1", "a0", "on"),
    ]
    for name, parent in (("a1", "u1"), ("a2", "a1")):
        entries.append(Entry(id=name, parent=parent, role="assistant", blocks=(Text(text="yes"),)))
    session = Session(format="claude-code", entries=tuple(entries), leaf="a2")
    ledger = count_tokens(session, LENGTH)
    policy = {"name": "mine", "rules": [{"kind": "drop-last-replies"}]}
    earlier = find_outside(session, ledger).earlier.tokens
    found = {}
    for cut in ("u1", "a1", "a2", "end"):
        plan = make_plan(session, ledger, policy, {"cut": cut}, window=10**6)
        told = dict(zip(PARTS, plan.cut_table.outside[plan.place or 0].tolist(), strict=True))
        assert told == plan.parts_after
        found[cut] = told["earlier"]
    assert found == {"u1": 0, "a1": 0, "a2": 0, "end": earlier} and earlier > 0


def test_where_nothing_is_taken_what_came_before_the_file_is_still_measured() -> None:
    """150,150 stand in the context; the policy has nothing to do, and leaves as many."""
    session = Session(
        format="claude-code",
        entries=(
            say("u1", "gone", "u" * 100),
            reply("a1", "u1", 150_000, "a" * 50, output=50),
            say("u2", "a1", "u" * 100),
        ),
        leaf="u2",
    )
    idle = {"name": "mine", "rules": [{"kind": "truncate-outputs"}], "trigger": {"measure": "assembled"}}
    plan = make_plan(session, count_tokens(session, LENGTH), idle, window=200_000)
    assert plan.place is None and plan.left == plan.after == plan.before == 150_150


@pytest.mark.parametrize(("model", "stays"), [("claude-opus-5-5", False), ("claude-opus-4-5", True)])
def test_reasoning_that_an_edit_unbinds_takes_what_came_before_the_file(model: str, stays: bool) -> None:
    """A shortened output takes nothing away; on a model that binds its reasoning the last reply's goes with
    it, up to the very last place."""
    call, output = (
        ToolCall(id="c", name="r", input={}),
        ToolOutput(call_id="c", parts=(Text(text="o" * 999),)),
    )
    thought = (Reasoning(text="r" * 30, signature="s"), Text(text="yes"))
    entries = (
        say("u0", "gone", "u" * 100),
        reply("a0", "u0", 150_000, output=50, blocks=(Text(text="a" * 50), call)),
        Entry(id="t0", parent="a0", role="tool", blocks=(output,)),
        say("u1", "t0", "on"),
        Entry(id="a1", parent="u1", role="assistant", blocks=thought),
    )
    session = Session(format="claude-code", entries=entries, leaf="a1", model=model)
    ledger = count_tokens(session, LENGTH)
    whole = find_outside(session, ledger).earlier.tokens
    policy = {"name": "mine", "rules": [{"kind": "truncate-outputs", "limit": 300}]}
    for cut in ("a0", "u1", "a1", "end"):
        plan = make_plan(session, ledger, policy, {"cut": cut}, window=10**6)
        told = dict(zip(PARTS, plan.cut_table.outside[plan.place or 0].tolist(), strict=True))
        assert told == plan.parts_after
        assert told["earlier"] == (whole if stays else 0)
    assert whole > 0
