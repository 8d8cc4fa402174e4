"""The pieces of a shortened block: together they are both texts again, and what both have is found."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import open_demo
from inspector.planning.diff.pieces import MOST_CHARS, find_pieces
from inspector.planning.fates import STANDS
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.policies.table import FATES
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.text import printable
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.block import describe_body
from inspector.workbench.payloads.recorded import draw_recorded
from inspector.workbench.payloads.rules import describe_rules
from tests.strategies import SAYINGS
from tests.work import limit_work

words = st.lists(st.sampled_from(("a", "bb", " ", "\n", "\n\n", "x y", ".", "é", *SAYINGS[:6])), max_size=14)
texts = words.map("".join)


def join(pieces: list[tuple[str, str]] | None, without: str) -> str:
    assert pieces is not None
    return "".join(text for kind, text in pieces if kind != without)


@given(texts, texts)
def test_the_pieces_give_both_texts_back(before: str, after: str) -> None:
    pieces = find_pieces(before, after)
    assert (join(pieces, "new"), join(pieces, "gone")) == (before, after)


@given(texts)
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert find_pieces(text, text) == ([("same", text)] if text else [])


@given(texts, texts)
def test_no_piece_is_empty_and_neighbours_differ(before: str, after: str) -> None:
    pieces = find_pieces(before, after) or []
    assert all(text for _, text in pieces)
    kinds = [kind for kind, _ in pieces]
    assert all(one != other for one, other in pairwise(kinds))


def test_what_was_cut_out_of_the_middle_is_one_piece() -> None:
    before = "\n".join(f"line {i}" for i in range(200))
    after = before[:40] + "\n[1,700 characters left out]\n" + before[-40:]
    pieces = find_pieces(before, after)
    assert pieces is not None
    assert [kind for kind, _ in pieces][:1] == ["same"] and pieces[-1][0] == "same"
    assert sum(len(text) for kind, text in pieces if kind == "gone") > 1_500
    assert "1,700 characters left out" in "".join(text for kind, text in pieces if kind == "new")


@pytest.mark.parametrize("at", [3, 700, 1_395])
def test_one_word_of_many_is_found_wherever_it_stands(at: int) -> None:
    """More words than are compared with each other: what begins and ends alike is found first."""
    words = [f"w{number}" for number in range(1_400)]
    before, after = " ".join(words), " ".join([*words[:at], "other", *words[at + 1 :]])
    assert find_pieces(before, after) == [
        ("same", " ".join(words[:at]) + " "),
        ("gone", words[at]),
        ("new", "other"),
        ("same", " " + " ".join(words[at + 1 :])),
    ]


def test_a_pointer_has_nothing_in_common_with_what_it_points_at() -> None:
    before, after = "FAIL: one\nFAIL: two\n" * 5, "[go test: 100 chars left out; see 7f3a]"
    assert find_pieces(before, after) == [("gone", before), ("new", after)]


def test_long_texts_are_compared_fast_or_not_at_all() -> None:
    assert find_pieces("x" * (MOST_CHARS + 1), "x") is None
    before = " ".join(str(i * 7919 % 1000) for i in range(24_000))
    with limit_work():
        pieces = find_pieces(before[:MOST_CHARS], before[5_000:90_000])
    assert join(pieces, "new") == before[:MOST_CHARS]


# -- a body tells them ---------------------------------------------------------------------------------


def story(output: str) -> Session:
    """A question, a call with a long output, an answer, and one more turn."""
    call = ToolCall(id="c1", name="read", input={"path": "a.py"})
    blocks = (
        ("user", Text(text="look")),
        ("assistant", call),
        ("tool", ToolOutput(call_id="c1", parts=(Text(text=output),))),
        ("assistant", Text(text="seen")),
        ("user", Text(text="next")),
        ("assistant", Text(text="done")),
    )
    entries = [
        Entry(id=f"e{i}", parent=f"e{i - 1}" if i else None, role=role, blocks=(block,))
        for i, (role, block) in enumerate(blocks)
    ]
    return Session(format="made", entries=tuple(entries), leaf="e5")


def plan_over(output: str, policy: str) -> Plan:
    session = story(output)
    return make_plan(session, count_tokens(session, "chars4_utf16"), policy, {"cut": "e4"}, window=900)


def test_every_rewritten_block_of_the_demo_tells_its_pieces() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "langchain-clear")
    rewritten = [row for row in plan.outcome.blocks if STANDS[plan.fate[row]]]
    assert rewritten
    for row in range(len(plan.fate)):
        body = describe_body(plan, row)
        if row not in rewritten:
            assert body.diff is None and body.after is None
            continue
        text = plan.table.block(row).text
        assert join(body.diff, "new") == printable(text)
        assert join(body.diff, "gone")[: len(body.after.text)] == body.after.text


def test_a_body_too_long_to_compare_has_no_pieces_but_both_texts() -> None:
    body = describe_body(plan_over("word " * 30_000, "mini-claude-code"), 2)
    assert body.before.total == 150_000 and body.after.total > 0
    assert body.diff is None
    short = describe_body(plan_over("word " * 3_000, "mini-claude-code"), 2)
    assert {kind for kind, _ in short.diff} >= {"gone", "new"}
    assert join(short.diff, "gone") == short.after.text


def test_a_body_tells_what_plan_b_does_and_who_decides_it() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    history = trace_history(session, ledger)
    assert history.fullest is not None
    moment = session.at(history.fullest.at)
    plan = make_plan(moment, ledger, "flue")
    pin = f"{moment.entries[moment.live.entries[0]].id}/0"
    other = make_plan(moment, ledger, "keep-recent-turns", Edits(pins=(pin,)))
    recorded = draw_recorded(plan, history)
    for row in range(0, len(plan.fate), 7):
        told = describe_body(plan, row, other).other
        assert (told.fate, told.tokens) == (FATES[other.fate[row]], int(other.outcome.tokens[row]))
        told = describe_body(plan, row, recorded).other
        assert told.fate == "summarised" and told.by == "the compaction that the file records"
    assert describe_body(plan, 0, other).other.by == "a pin"
    assert describe_body(plan, 0).other is None
    row = int(np.flatnonzero(other.outcome.rule >= 0)[0])
    named = {f"rule {i + 1}, {rule.title}" for i, rule in enumerate(describe_rules(other))}
    assert describe_body(plan, row, other).other.by in named


@pytest.mark.parametrize("row", [-1, 99])
def test_a_row_that_does_not_exist_is_an_error(row: int) -> None:
    with pytest.raises(IndexError):
        describe_body(plan_over("x", "flue"), row)


def test_words_between_two_changes_of_a_line_are_the_same() -> None:
    pieces = find_pieces("one two three four five six seven", "one 2 three four five 6 seven")
    assert pieces is not None
    assert [text for kind, text in pieces if kind == "same"] == ["one ", " three four five ", " seven"]
    assert [text for kind, text in pieces if kind == "gone"] == ["two", "six"]
