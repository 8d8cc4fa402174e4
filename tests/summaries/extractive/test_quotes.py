"""Words cut to what there is room for."""

from __future__ import annotations

import pytest

from inspector.summaries.extractive.quotes import cut_words


@pytest.mark.parametrize(
    ("line", "limit", "left"),
    [
        ("aaa bbb ccc", 7, "aaa bbb"),  # the space right behind the last word that has room
        ("aaaa bbb ccc", 8, "aaaa bbb"),
        ("aaa bbbb ccc", 7, "aaa"),
        ("aaa bbb", 7, "aaa bbb"),
        ("a bbbbbbbbb", 8, "a bbbbbb"),  # a word that fills half the room is cut
        ("src/inspector/planning", 16, "src/inspector"),
    ],
)
def test_a_line_is_cut_between_words_or_between_the_parts_of_one(line: str, limit: int, left: str) -> None:
    assert cut_words(line, limit) == left
