"""What a person forbids comes first in an extract, and the extract uses what it may have."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    # A rule has its room from some 25 tokens on.
    for tokens in (10, 20, 25, 30, 35, 50, 100):
        text = write(session, tokens, headings=headings)
        assert rule in lines(text)[:1] or rule.split()[-1] not in text
    assert rule == lines(write(session, 120, headings=headings))[0]


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
