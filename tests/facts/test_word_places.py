"""Words found many at a time stand where each is found by itself."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.facts.extract.commands import find_commands
from inspector.facts.extract.decisions import DECISION_WORDS, find_decisions
from inspector.facts.extract.errors import ERROR_WORDS, EXIT_WORDS, find_errors
from inspector.facts.extract.ids import find_urls
from inspector.facts.extract.paths import PATH_WORDS
from inspector.facts.extract.statements import find_rules
from inspector.facts.extract.symbols import SYMBOL_WORDS, find_symbols
from inspector.facts.extract.todos import TODO_MARKS
from inspector.facts.extract.word_places import WordTable
from inspector.session.toolcalls.call_paths import LONGEST

WORDS = tuple(dict.fromkeys((*SYMBOL_WORDS, *PATH_WORDS, *TODO_MARKS, *ERROR_WORDS, *EXIT_WORDS)))
TABLE, DECISIONS = WordTable(WORDS), WordTable(DECISION_WORDS)
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
    found = list(find_symbols(text * times, TABLE.find(text * times)))
    assert [form for _, _, form in found] == ["one", "three"] * times
    assert all((text * times)[start:end] == form for start, end, form in found)


LINES = st.lists(
    st.sampled_from(
        [
            "Never push to main, please.",
            "请勿 push to main.",
            "Don’t touch it. It must stay.",
            "Let’s use sqlite because it is small.",
            "We chose sqlite instead of files, since it is small",
            "İ must not say so: never write it.",
            "Please run npm test and Run: git push origin, rerun pytest -x",
            "running npm run build",
            "not",
            "",
            "error: it went wrong",
            "x" * 195 + " error: it went wrong",
            "y: fatal error: " + "z" * 390 + " Error: no",
            "a.py: error: one, error: two, error: three " + "w " * 120 + "error: four",
            "no error: it went well",
            "× it went wrong {",
            "see https://a.example/?to=https://b.example/x and git@host.example:a/b.",
        ]
    ),
    min_size=1,
    max_size=40,
)
FINDERS = [
    find_rules,
    lambda text: find_decisions(text, DECISIONS.find(text)),
    find_errors,
    find_commands,
    find_urls,
]


@pytest.mark.parametrize("find", FINDERS)
@settings(max_examples=60, deadline=None)
@given(lines=LINES)
def test_what_stands_in_one_line_is_found_in_a_long_text_too(find: Any, lines: list[str]) -> None:
    # Of many lines those are picked that may hold something; one alone is looked through as it is.
    lines = [*lines, "It is so. " * 500]
    expected, at = [], 0
    for line in lines:
        expected += [(at + start, at + end, form) for start, end, form in find(line)]
        at += len(line) + 1
    assert sorted(find("\n".join(lines))) == sorted(expected)


@pytest.mark.parametrize(
    "line",
    [
        "sh: 1: Permission denied",
        "ssh says permission denied (publickey)",
        "dial tcp 127.0.0.1:80, connection refused",
        "tsc > Cannot find module 'a' or its types",
        "gh api repos/a/b (HTTP 404)",
        "main.c:3: fatal error: no input",
        "x error TS2345: it is no string",
    ],
)
def test_an_error_in_the_middle_of_a_line_is_found(line: str) -> None:
    assert [form for _, _, form in find_errors(line)] == [line]


def test_of_a_long_line_no_more_is_read_than_an_error_may_have() -> None:
    text = "ok\n" + "a " * 450 + "b: permission denied " + "c " * 450
    ((start, end, form),) = find_errors(text)
    assert end - start <= LONGEST and "b: permission denied" in text[start:end] == form


def test_a_command_or_an_address_within_another_is_a_part_of_it() -> None:
    assert [form for _, _, form in find_commands("Now run uv run pytest -q.")] == ["uv run pytest -q"]
    address = "https://a.example/?to=https://b.example/x"
    assert [form for _, _, form in find_urls(f"See {address}.")] == [address]
