"""Diffs of contexts and of texts: what aligns with what, and that a diff replays to the second context."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.context import Context, Piece
from inspector.planning.diff.contexts import Change, Insert, Keep, Remove, diff_contexts
from inspector.planning.diff.lines import align_lines
from inspector.session.blocks import BlockRef, Text, ToolCall, ToolOutput
from inspector.session.entries import Provided, Tool
from tests.reference.patched import patch_context

# A context in a line: "a:Hi b:Yes S(a,b):Sum" is a piece of entry a, one of entry b, a summary of both.


def context(line: str = "", **head: Any) -> Context:
    pieces = []
    for at, word in enumerate(line.split()):
        name, _, text = word.partition(":")
        many = name.endswith(")")
        names = name[2:-1].split(",") if many else [name]
        origin = tuple(BlockRef(name, 0) for name in names if name != "-")
        fate = "summarised" if many else "verbatim"
        pieces.append(Piece(Text(text=text or name), "user", at, origin, fate, len(text or name)))
    empty: dict[str, Any] = {"system": (), "tools": (), "provided": ()}
    return Context(**{**empty, **head}, pieces=tuple(pieces))


def shape(before: str, after: str) -> str:
    """A diff in a line: =kept ~changed +inserted -removed, each by its words."""
    signs = {"keep": "=", "change": "~", "insert": "+", "remove": "-"}
    rows = diff_contexts(context(before), context(after)).rows
    pieces = [row.before if isinstance(row, Remove) else row.after for row in rows]
    return " ".join(signs[row.kind] + piece.block.text for row, piece in zip(rows, pieces, strict=True))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("a b c", "a b c", "=a =b =c"),
        ("a b c", "a c", "=a -b =c"),
        ("a c", "a b c", "=a +b =c"),
        ("a b:long c", "a b:cut c", "=a ~cut =c"),
        ("a b c d", "S(a,b,c):sum d", "-a -b -c +sum =d"),
        ("S(a,b):sum c", "S(a,b):sum c", "=sum =c"),
        ("S(a,b):sum c", "S(a,b):again c", "~again =c"),
        ("S(a,b):sum c d", "S(a,b,c):more d", "-sum -c +more =d"),
        ("a b c", "b c a", "-a =b =c +a"),
        ("a b c d", "d a b c", "+d =a =b =c -d"),
        ("a b", "c d", "-a -b +c +d"),
        ("a:1 a:2", "a:1 a:2", "=1 =2"),
        ("a:1 a:2 b", "a:1 b", "=1 -2 =b"),
        ("a b", "a:head a:tail b", "~head +tail =b"),
        ("-:note a", "-:note a", "=note =a"),
        ("-:note a", "-:other a", "-note +other =a"),
    ],
)
def test_pieces_align_by_their_origin(before: str, after: str, expected: str) -> None:
    assert shape(before, after) == expected


@pytest.mark.parametrize(
    "change",
    [{"role": "tool"}, {"fate": "cut"}, {"tokens": 99}, {"stand_in": True}, {"block": Text(text="x")}],
)
def test_anything_else_is(change: dict[str, Any]) -> None:
    before = context("a")
    after = replace(before, pieces=(replace(before.pieces[0], **change),))
    assert diff_contexts(before, after).rows == (Change(before.pieces[0], after.pieces[0]),)


def test_heads_are_compared_and_replayed() -> None:
    before = context("a", system=(Text(text="Be good."),), head_tokens=3, model="m")
    after = context("a", tools=(Tool(name="Read"),), provided=(Provided(name="clock", text="Noon"),))
    diff = diff_contexts(before, after)
    assert [change.field for change in diff.head] == ["system", "tools", "provided", "head_tokens", "model"]
    assert (diff.tokens_before, diff.tokens_after, diff.tokens) == (4, 1, -3)
    assert patch_context(before, diff) == after


def test_of_a_long_run_the_first_rows_are_printed() -> None:
    printed = repr(diff_contexts(context("a b c d e f g h i"), context("j")))
    assert "rows more" not in repr(diff_contexts(context("a b c d e f g h"), context("j")))
    assert "\n- … 2 rows more" in printed, printed


# Laws.

refs = st.builds(BlockRef, st.sampled_from("abcd"), st.integers(0, 1))
texts = st.text(max_size=3)
blocks = (
    st.builds(Text, text=texts)
    | st.builds(
        ToolCall, id=texts, name=texts, input=st.none() | st.dictionaries(texts, st.integers() | st.floats())
    )
    | st.builds(ToolOutput, call_id=texts, parts=st.lists(st.builds(Text, text=texts), max_size=2).map(tuple))
)
pieces = st.builds(
    Piece,
    blocks,
    st.sampled_from(["user", "assistant", "tool"]),
    st.integers(0, 9),
    st.just(()) | st.tuples(refs) | st.lists(refs, max_size=3).map(tuple),
    st.sampled_from(["verbatim", "cut", "summarised"]),
    st.integers(0, 9),
    st.booleans(),
)
contexts = st.builds(
    Context,
    st.lists(st.builds(Text, text=texts), max_size=1).map(tuple),
    st.lists(st.builds(Tool, name=texts), max_size=1).map(tuple),
    st.lists(st.builds(Provided, name=texts, text=texts), max_size=1).map(tuple),
    st.lists(pieces, max_size=6).map(tuple),
    st.integers(0, 9),
    st.none() | st.just("m"),
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Context, Context]:
    """A context and what a few edits made of it: dropped, altered, moved, and new pieces."""
    before = draw(contexts)
    after = [piece for piece in before.pieces if draw(st.booleans())]
    after = [replace(piece, tokens=0) if draw(st.booleans()) else piece for piece in after]
    if draw(st.booleans()):
        after = list(draw(st.permutations(after)))
    at = draw(st.integers(0, len(after)))
    after[at:at] = draw(st.lists(pieces, max_size=2))
    return before, replace(before, pieces=tuple(after))


pairs = st.tuples(contexts, contexts) | edited()


@given(pairs)
def test_patch_replays_any_diff(pair: tuple[Context, Context]) -> None:
    before, after = pair
    assert patch_context(before, diff_contexts(before, after)) == after


@given(pairs)
def test_rows_hold_both_contexts_in_order(pair: tuple[Context, Context]) -> None:
    before, after = pair
    rows = diff_contexts(before, after).rows
    assert tuple(row.before for row in rows if not isinstance(row, Insert)) == before.pieces
    assert tuple(row.after for row in rows if not isinstance(row, Remove)) == after.pieces
    for row in rows:
        if isinstance(row, Keep):
            assert replace(row.before, message=row.after.message) == row.after
        if isinstance(row, Change):
            assert row.before.origin == row.after.origin


@given(pairs)
def test_tokens_add_up(pair: tuple[Context, Context]) -> None:
    diff = diff_contexts(*pair)
    gained = sum(row.after.tokens for row in diff.rows if not isinstance(row, Remove))
    lost = sum(row.before.tokens for row in diff.rows if not isinstance(row, Insert))
    assert diff.tokens == gained - lost + pair[1].head_tokens - pair[0].head_tokens


@given(pairs)
def test_what_is_printed_holds_nothing_that_acts(pair: tuple[Context, Context]) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", repr(diff_contexts(*pair)))


# Texts.


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", "="),
        ("a", "a", "=a"),
        ("a\nb\nc", "a\nc", "=a -b =c"),
        ("a\nc", "a\nb\nc", "=a +b =c"),
        ("a\nb\nc", "a\nB\nc", "=a -b +B =c"),
        ("a\n", "a", "=a -"),
        ("a\r\nb", "a\nb", "-a\r +a =b"),
        ("a\u2028b", "a\u2028c", "-a\u2028b +a\u2028c"),
        ("x\na\nx\nb\nx", "x\nb\nx", "=x -a -x =b =x"),
        ("1\n2\n3\n4\n5\n6", "1\n[3 lines cut]\n5\n6", "=1 -2 -3 -4 +[3 lines cut] =5 =6"),
    ],
)
def test_lines_align(before: str, after: str, expected: str) -> None:
    signs = {"same": "=", "new": "+", "gone": "-"}
    assert " ".join(signs[kind] + text for kind, text in align_lines(before, after)) == expected


lines = st.lists(st.sampled_from(["", "a", "b", "c", "a\r", "\u2028"]), max_size=12).map("\n".join)


@given(lines | st.text(), lines | st.text())
def test_the_lines_give_both_texts_back(before: str, after: str) -> None:
    rows = list(align_lines(before, after))
    assert "\n".join(text for kind, text in rows if kind != "new") == before
    assert "\n".join(text for kind, text in rows if kind != "gone") == after
