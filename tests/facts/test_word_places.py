"""Words found many at a time stand where each is found by itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.facts.extract import choices, constraints
from inspector.facts.extract.errors import ERROR_WORDS
from inspector.facts.extract.paths import PATH_WORDS
from inspector.facts.extract.symbols import SYMBOL_WORDS, find_symbols
from inspector.facts.extract.todos import TODO_MARKS
from inspector.facts.extract.word_places import WordTable

WORDS = tuple(dict.fromkeys((*SYMBOL_WORDS, *PATH_WORDS, *TODO_MARKS, *ERROR_WORDS)))
TABLE = WordTable(WORDS)
PIECES = st.sampled_from([*WORDS, *(word[:-1] for word in WORDS), *(word[1:] for word in WORDS)])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text("aeéß→\n \0?😀", max_size=3), max_size=12).map("".join))
def test_every_word_is_found_where_it_stands_and_nowhere_else(text: str) -> None:
    alone = {word: [hit.start() for hit in re.finditer(f"(?={re.escape(word)})", text)] for word in WORDS}
    found = {word: places.tolist() for word, places in TABLE.find(text).items()}
    assert found == {word: places for word, places in alone.items() if places}


@pytest.mark.parametrize("times", [3, 3_000])
def test_few_names_and_many_are_found_alike(times: int) -> None:
    # Nothing is a definition that stands right after a letter, of whatever script, or after what joins words.
    text = "def one(a)\nundef two(b) 😀def three() 𝐀def four() .def five(c) def six\n"
    found = [names for names in find_symbols(text * times, TABLE.find(text * times)) if names.forms]
    (names,) = found
    assert names.forms == ["one", "three"] * times
    assert [
        (text * times)[start:end] for start, end in zip(names.starts, names.ends, strict=True)
    ] == names.forms


GATED = [
    (constraints._SETTING, constraints._SETTING_CUES),
    (constraints._STANDS, constraints._STANDS_CUES),
    *((one, choices._CUES) for one in (choices._LETS, choices._THINKS, choices._PREFERS, choices._TAKES)),
]


@settings(max_examples=600, deadline=None)
@given(st.data(), st.sampled_from(GATED))
def test_nothing_is_said_without_a_word_that_makes_it_worth_looking_for(
    data: st.DataObject, gated: tuple[re.Pattern[str], tuple[str, ...]]
) -> None:
    pattern, cues = gated
    words = data.draw(st.from_regex(pattern))
    assert any(cue in words.lower() for cue in cues)
