"""The pieces of a shortened block: together they are both texts again, and what both have is found."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.diff.pieces import MOST_CHARS, find_pieces
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


@given(texts, texts)
def test_no_piece_is_empty_and_neighbours_differ(before: str, after: str) -> None:
    pieces = find_pieces(before, after) or []
    assert all(text for _, text in pieces)
    kinds = [kind for kind, _ in pieces]
    assert all(one != other for one, other in pairwise(kinds))


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


def test_long_texts_are_compared_fast_or_not_at_all() -> None:
    assert find_pieces("x" * (MOST_CHARS + 1), "x") is None
    before = " ".join(str(i * 7919 % 1000) for i in range(24_000))
    with limit_work():
        pieces = find_pieces(before[:MOST_CHARS], before[5_000:90_000])
    assert join(pieces, "new") == before[:MOST_CHARS]


# -- a body tells them ---------------------------------------------------------------------------------
