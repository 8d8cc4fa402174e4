"""What sentences ask for and refuse: opposites are told apart, and any words at all can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.facts.polarity import is_same_rule, read_leaning

# Every kind of word that is read in its own way, among plain ones.
WORDS = (
    "never not don't won’t cannot without unless no nor stop skipping instead of rather than forget fails "
    "failing fail omit neglect hesitate but then ; , . ( ) — must always please edit migrations tests review "
    "push dress"
).split()
sentences = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=60)


def test_a_word_that_turns_nothing_back_is_a_word_like_any_other() -> None:
    assert read_leaning("The tests fail here.").wanted == {"test", "fail", "here"}


def test_a_second_negation_turns_back_what_the_first_has_turned() -> None:
    leaning = read_leaning("Never forget to run the migrations.")
    assert "migration" in leaning.wanted and not leaning.refused


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to the main branch.", "Always push to the main branch."),
        ("Do not edit the migrations folder.", "Edit the migrations folder."),
    ],
)
def test_opposites_are_no_repetition(one: str, other: str) -> None:
    assert not is_same_rule(one, other) and not is_same_rule(other, one)


@given(sentences, sentences)
def test_any_two_sentences_can_be_held_against_each_other(one: str, other: str) -> None:
    leaning = read_leaning(one)
    assert not (leaning.wanted & leaning.refused) and "" not in leaning.words
    assert is_same_rule(one, other) == is_same_rule(other, one)
    assert is_same_rule(one, one)
