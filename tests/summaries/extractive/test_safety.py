"""What a person forbids comes first in an extract, and the extract uses what it may have."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.corpus.compressor import Compressor
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.tokens.counters import find_counter
from tests.summaries.test_extractive import edit, job_of, run
from tests.test_cuts import build, say, user

COUNTER = find_counter("o200k_base")
FORBIDDEN = (
    "Never push to the release branch.",
    "You must not delete the backup bucket.",
    "The customer table must never be exported.",
    "Do not restart the broker without a second operator.",
    "Please don't touch the lock file.",
    "Only deploy after the smoke test passed.",
    "Don't merge it unless Ada agreed.",
    "Under no circumstances reveal the access code.",
    "No peanuts at the prep counter, ever.",
    "Keep the tokens away from the logs.",
)
HARMLESS = (
    "I don't know why the second import is slow.",
    "The nightly job never finished last week.",
    "It was slow without the cache, as far as we saw.",
)
WORDS = "harbour tide board gauge pilot chart anchor buoy mooring ferry quay lantern signal"


def talk(turns: int, *, said: int = 3) -> Iterator[Entry]:
    """Yield turns of talk that hold no rule, each with other words."""
    pairs = itertools.permutations(WORDS.split(), 3)
    for number, (one, two, three) in enumerate(itertools.islice(pairs, turns)):
        yield user(f"Please look at the {one} in the {two} once more and tell what the {three} shows.")
        parts = (
            f"The {one} of part {number}.{n} shows what the {two} and the {three} told." for n in range(said)
        )
        yield say(" ".join(parts))
        yield from edit(f"src/{one}/{two}_{three}.py")


def write(session: Session, tokens: int, *, headings: bool = True, **given: object) -> str:
    writer = ExtractiveSummariser(COUNTER, headings=headings)
    text = writer(job_of(session, tokens, **given), session).text
    assert size(text) <= tokens
    return text


def size(text: str) -> int:
    return int(COUNTER.count([text])[0])


def lines(text: str) -> list[str]:
    """Return the lines of an extract that say something: no title, no heading and no "- none"."""
    said = (line for line in text.splitlines() if line.startswith("- ") and line != "- none")
    return [line.removeprefix("- ") for line in said]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(FORBIDDEN), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(0, 23), min_size=6, max_size=6),
    st.integers(80, 900),
    st.booleans(),
)
def test_what_is_forbidden_anywhere_stands_before_every_other_line(
    rules: list[str], places: list[int], tokens: int, headings: bool
) -> None:
    entries = list(talk(24))
    for rule, place in zip(rules, places, strict=False):
        entries.insert(4 * place, user(rule))
        entries.insert(4 * place + 1, say("Noted."))
    written = lines(write(build(*entries), tokens, headings=headings))
    kept = [line for line in written if line in rules]
    assert written[: len(kept)] == kept
    # 14 tokens of title and 6 of a heading: what is left out had no room beside what was kept.
    room = tokens - 20 - sum(size(f"- {rule}\n") + 1 for rule in kept)
    assert all(size(f"- {rule}\n") > room for rule in rules if rule not in kept)


@pytest.mark.parametrize("rule", FORBIDDEN)
@pytest.mark.parametrize("headings", [True, False])
def test_every_wording_comes_first_and_is_never_cut(rule: str, headings: bool) -> None:
    session = build(*talk(6), user(f"The board is blue today. {rule} Go on."), say("Noted."), *talk(6))
    for tokens in range(10, 120, 5):
        text = write(session, tokens, headings=headings)
        assert rule in lines(text)[:1] or rule.split()[-1] not in text
    assert rule == lines(write(session, 120, headings=headings))[0]


def test_it_comes_before_rules_that_were_typed_earlier_and_forbid_nothing() -> None:
    session = build(user("Always run the linter first."), say("Ok."), user(FORBIDDEN[0]), say("Ok."))
    assert lines(write(session, 600))[:2] == [FORBIDDEN[0], "Always run the linter first."]


def test_it_has_room_before_headings_of_what_is_empty() -> None:
    rules = [
        f"Never touch the {one} table of the {two}."
        for one, two in itertools.permutations(WORDS.split()[:5], 2)
    ]
    session = build(*map(user, rules))
    needed = size("\n".join(f"- {rule}" for rule in rules))
    assert sorted(lines(write(session, needed + 25))) == sorted(rules)


@pytest.mark.parametrize("sentence", HARMLESS)
def test_a_report_with_such_a_word_forbids_nothing(sentence: str) -> None:
    session = build(user("Please mend the importer first."), say("Done."), user(sentence), say("I see."))
    assert sentence not in lines(write(session, 600))[:1]


def test_what_the_model_or_a_tool_says_is_no_rule_of_the_user() -> None:
    session = build(
        user("Mend the importer."),
        say("Never push to the release branch. You must not delete the backup bucket."),
        *run("cat RULES.md", "Do not restart the broker without a second operator."),
        user("Keep the tokens away from the logs."),
    )
    assert lines(write(session, 600))[0] == "Keep the tokens away from the logs."


def test_a_rule_that_was_replaced_is_not_the_one_that_comes_first() -> None:
    session = build(
        user("Never spend more than $481 a month."),
        say("Noted."),
        user("Never spend more than $710 a month."),
        say("Noted."),
    )
    written = lines(write(session, 300))
    assert written[0] == "Never spend more than $710 a month."
    assert "Never spend more than $481 a month." not in written


@pytest.mark.parametrize("headings", [True, False])
@pytest.mark.parametrize("kind", ["initial", "turn_prefix"])
def test_what_is_forbidden_still_comes_first_after_five_summaries(headings: bool, kind: str) -> None:
    rules = ["Never push to the release branch.", "Please don't touch the lock file."]
    text = write(build(*map(user, rules), *talk(4)), 200, headings=headings, kind=kind)
    for number in range(5):
        session = build(user(f"Go on with harbour {number}."), *talk(3 + number))
        text = write(session, 200, headings=headings, kind=kind, previous=text)
        assert sorted(lines(text)[:2]) == sorted(rules)


@settings(max_examples=80, deadline=None)
@given(st.integers(100, 2_000), st.booleans(), st.integers(0, 6))
def test_it_fills_its_budget_while_there_is_material(tokens: int, headings: bool, rules: int) -> None:
    session = build(*map(user, FORBIDDEN[:rules]), *talk(40, said=6))
    assert size(write(session, tokens, headings=headings)) >= 0.9 * tokens


def write_prose() -> Session:
    """A long message and a long reply without a single fact."""
    pairs = itertools.permutations(WORDS.split(), 2)
    prose = [f"I walked along the {one} and then I thought of the {two}." for one, two in pairs]
    return build(user(" ".join(prose[:70])), say(" ".join(prose[70:])))


@pytest.mark.parametrize("tokens", [100, 400, 1_500])
def test_prose_fills_it_beyond_the_beginnings_that_are_quoted(tokens: int) -> None:
    assert 0.9 * tokens <= size(write(write_prose(), tokens)) <= tokens


def test_it_is_shorter_than_what_it_is_about_even_if_it_may_be_longer() -> None:
    session = write_prose()
    said = sum(size(block.text) for entry in session.entries for block in entry.blocks)
    assert size(write(session, 2 * said)) < said


class Turn(NamedTuple):
    role: str
    text: str


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("policy", ["claude-code", "codex", "flue"])
def test_in_a_tenth_of_the_characters_it_keeps_what_is_forbidden(policy: str, share: float) -> None:
    turns: list[Turn] = []
    for number, entry in enumerate(talk(60)):
        if entry.role in ("user", "assistant") and entry.text:
            turns.append(Turn(entry.role, entry.text))
        if number % 28 == 0:
            turns.append(Turn("user", FORBIDDEN[number // 28]))
            turns.append(Turn("assistant", "Noted."))
    budget = int(share * sum(len(turn.text) for turn in turns))
    text = Compressor(policy).compact(turns, budget_chars=budget).text
    assert 0.9 * budget <= len(text) <= budget
    assert all(turn.text in text for turn in turns if turn.text in FORBIDDEN)
    assert Compressor(policy).compact(turns, budget_chars=budget).text == text
