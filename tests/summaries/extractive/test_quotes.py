"""Words cut to what there is room for."""

from __future__ import annotations

import pytest

from inspector.summaries.extractive.quotes import WORDS, clip, cut_words, find_statements
from tests.test_cuts import build, say, user


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


def test_a_clipped_text_is_one_line_with_a_mark_where_it_ends() -> None:
    assert clip("one\n two", 8) == "one two"
    assert clip("one two three", 8) == "one two…" == clip("one two" + " " * 40 + "three", 8)


def test_a_statement_is_what_a_person_typed_with_a_value_in_it() -> None:
    """No question, nothing without a value, nothing too long; each with its entry and its place there."""
    long = f"The port is 8443 {'and so on ' * (WORDS // 30)}."
    session = build(
        user("Please go on with it. The cap is $481."),
        say("The limit is 300."),
        user("Is the cap $500? The office closes at 17:30."),
        user(long),
    )
    assert len(long) > WORDS // 3
    assert find_statements(session) == [
        ((0 << 32) + 22, "The cap is $481."),
        ((2 << 32) + 17, "The office closes at 17:30."),
    ]
